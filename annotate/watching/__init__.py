"""How a project goes on, for the people who run it."""
