"""Accounts, memberships, invitations, preferences and tokens."""
