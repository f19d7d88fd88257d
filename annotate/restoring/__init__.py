"""Exports that Concord wrote, read back; and what other apps restore of them."""
