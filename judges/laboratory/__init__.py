"""Judges that learn from the experts' discussions: what is proposed, accepted and compared."""
