"""Papers with an importable public release and reproducible tables."""
