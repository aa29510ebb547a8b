"""Prompts of the steps that build data sets: one file for each step and version."""
