"""Signals in how someone rated that are worth a look. Pure: no Django. Evidence, never a verdict.

A signal has innocent reasons: a text may deserve the same value on every dimension, and who knows the
documents by heart reads faster. So signals are counted and shown beside those of the others, and nothing
follows from them by itself.
"""

from annotate.quality.signals import FASTEST_READING, RatedItem, Signals, signals_of
