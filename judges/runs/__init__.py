"""Runs: planned, leased, asked, stored."""
