"""Additions: outputs of new systems for a finished benchmark, rated in projects of their own."""
