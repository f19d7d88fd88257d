"""Connections to addresses that people type: which are allowed, and which variable may go where."""
