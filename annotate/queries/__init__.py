"""Reads, named by what they return, each with a fixed number of database queries."""
