"""Snapshots, the Hub, and exports read back."""
