"""Routing of units to judges or people: policies and certificates."""
