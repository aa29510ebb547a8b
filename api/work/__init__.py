"""Work on a stored process; the application and the runner of jobs both call it."""
