"""What a report of an evaluation says, from the folder of a run: figures, tables, sentences."""
