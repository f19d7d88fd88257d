"""Exports: tables as text, Parquet or worksheets, and all of them as a snapshot in a folder or one file."""
