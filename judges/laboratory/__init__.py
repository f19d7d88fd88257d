"""Judges that learn from experts' discussions: proposals, decisions and comparisons."""
