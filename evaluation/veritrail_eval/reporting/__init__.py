"""Report an evaluation from the folder of a run: figures, tables, sentences."""
