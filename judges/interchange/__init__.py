"""Import, export and restoring of judgments."""
