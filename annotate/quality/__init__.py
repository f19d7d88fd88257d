"""Signs in how someone rated that are worth a look. Pure: no Django. Evidence, never a verdict.

A sign has innocent reasons: a text may deserve the same value on every dimension, and who knows the
documents by heart reads faster. So signs are counted and shown beside those of the others, and nothing
follows from them by itself.
"""

from annotate.quality.signs import FASTEST_READING, RatedItem, Signs, signs_of

__all__ = ["FASTEST_READING", "RatedItem", "Signs", "signs_of"]
