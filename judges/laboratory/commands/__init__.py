"""Commands of the laboratory: one function for each action of a person or a worker."""
