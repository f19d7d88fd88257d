"""Round II: disputed units, their threads, digests and nudges."""
