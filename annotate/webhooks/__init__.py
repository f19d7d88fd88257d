"""Webhooks: which events there are, how a delivery is signed, and how it is sent."""
