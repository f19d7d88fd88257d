"""Concord's version, which every export records."""

VERSION = "0.1.0"
