"""Judgments imported, exported and restored."""
