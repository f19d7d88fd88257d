"""Results as tables of figures, each with interval, count and how it was computed; without Django."""
