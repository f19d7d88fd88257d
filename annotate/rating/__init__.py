"""Rounds, who rates what, and the answers."""
