"""Experiments: variants of a judge, to be run on the same documents and compared."""
