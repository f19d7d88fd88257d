"""Several judges as one: panels made, computed and shown."""
