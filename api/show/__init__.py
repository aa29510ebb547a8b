"""Nouns as documents and views, and the five writers of documents: what a person reads."""
