"""The verbs: Algorithm 1 of the paper, its steps, and the judges that answer its questions."""
