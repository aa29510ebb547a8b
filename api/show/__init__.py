"""Nouns as documents, and the five writers of documents: what a person reads of each noun."""
