"""Judges beside people: comparison, R, estimates, replacement."""
