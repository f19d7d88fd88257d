"""Numbers of the whole installation for Prometheus."""
