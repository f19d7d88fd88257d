"""Writes: one function per thing that a person or a worker does."""
