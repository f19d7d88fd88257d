"""Webhooks: their events, and the signing and sending of deliveries."""
