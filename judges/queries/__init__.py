"""Reads, named by what they return."""
