"""The REST API: the same access, forms, queries and commands as the pages, as JSON."""
