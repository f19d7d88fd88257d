"""Writes: one function per thing that a person does, keyword-only, atomic, safe to run twice."""
