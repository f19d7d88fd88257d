"""Metrics of outputs, on any scale: imported or computed here, and compared with judges and people."""
