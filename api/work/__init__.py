"""What is done with a stored process; the application and the runner of jobs both call it."""
