"""Scoring of additions by the judges of their benchmark, within its certificates."""
