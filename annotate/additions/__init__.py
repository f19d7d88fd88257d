"""Additions: outputs of new systems for a finished benchmark, rated in separate projects."""
