"""Runs: planning, leasing, calling and storing."""
