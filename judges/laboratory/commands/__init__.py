"""What is done to let judges learn, one function for each thing that a person or a worker does."""
