"""The score that a reply states on a dimension."""

from annotate.guideline import FrozenDimension
from judges.methods.reading.reader import position, read, read_json
from judges.methods.reading.score_forms import forms_of
from judges.methods.readings import Reading


def read_score(reply: str, dimension: FrozenDimension) -> Reading:
    """Return the score that a reply states, and its reasons."""
    return read(reply, forms_of(dimension))


def read_json_score(reply: str, dimension: FrozenDimension) -> Reading:
    """Return the score of a reply that is to be JSON."""
    return read_json(reply, forms_of(dimension))


def score_position(reply: str, dimension: FrozenDimension) -> int | None:
    """Return where the stated score begins."""
    return position(reply, forms_of(dimension))
