"""Concord's version, which every export names."""

VERSION = "0.1.0"
