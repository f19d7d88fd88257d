"""Compares the tables of a database with its recorded migrations."""
