"""Judges compared with people: agreement, R, estimates, replacement."""
