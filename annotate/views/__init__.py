"""Thin function views, a module per screen."""
