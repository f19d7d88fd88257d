"""Tests, by the part and behaviour that they are about."""
