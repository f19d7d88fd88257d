"""A text divided where anyone's marks begin or end, so that marks may overlap; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise


@dataclass(frozen=True)
class Mark:
    """Characters `start` to before `end` of a text, and the name of who marked them."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Segment:
    """A piece of a text that the same people marked, none where `by` is empty."""

    text: str
    by: tuple[str, ...] = ()


def segments_of(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """Return the text in pieces as long as possible, each with those who marked it, in the order given.

    What of a mark does not lie in the text is left out.
    """
    inside = [Mark(each.name, max(0, each.start), min(len(text), each.end)) for each in marks]
    inside = [each for each in inside if each.start < each.end]
    edges = sorted({0, len(text), *(each.start for each in inside), *(each.end for each in inside)})
    pieces = [(text[start:end], _names(inside, start, end)) for start, end in pairwise(edges)]
    return [
        Segment("".join(piece for piece, _ in group), by)
        for by, group in groupby(pieces, key=lambda piece: piece[1])
    ]


def _names(marks: list[Mark], start: int, end: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in marks if each.start <= start and end <= each.end))
