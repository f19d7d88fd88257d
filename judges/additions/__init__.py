"""Additions scored by the judges of their benchmark, as far as its certificates allow."""
