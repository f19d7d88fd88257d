"""Signals in an annotator's ratings that need a look. Pure: no Django. Evidence, never a verdict.

A signal has innocent reasons. An output may deserve the same value on every dimension, and a rater who knows
the documents by heart reads faster. Signals are therefore counted and compared with the other raters'
signals, and have no automatic effect.
"""

from annotate.quality.signals import FASTEST_READING, RatedItem, Signals, signals_of
