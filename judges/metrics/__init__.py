"""Metrics of texts, on any scale: imported, computed here, and shown beside judges and people."""
