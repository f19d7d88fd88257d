"""Versions of a benchmark: states that can be cited, each with a content hash, standings and an export."""
