from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from annotate.core.models import Item
from annotate.core.models.material import TextFormat
from annotate.disputes.queries.standpoints import Standpoint
from annotate.questions import ItemContent

MOST_COLOURS = 2  # raters with a separate colour for their spans


@dataclass(frozen=True)
class Mark:
    """Characters `start` to before `end` of a source or output, and the name of the rater who marked them.

    colour: the rater of a span, "1" or "2" of two raters, "0" if there are more; empty for evidence.
    """

    name: str
    start: int
    end: int
    colour: str = ""


@dataclass(frozen=True)
class Segment:
    """A piece of a source or output that the same raters marked; no rater did if `by` is empty.

    colour: the colour of the span that contains it; "both" if two raters marked it.
    """

    text: str
    by: tuple[str, ...] = ()
    colour: str = ""


def segments_of(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """Split a source or output into pieces of maximum length, each with its raters in the order of `marks`.

    Marks are clipped to the source.
    """
    inside = [replace(each, start=max(0, each.start), end=min(len(text), each.end)) for each in marks]
    inside = [each for each in inside if each.start < each.end]
    edges = sorted({0, len(text), *(each.start for each in inside), *(each.end for each in inside)})
    pieces = [(text[start:end], *_names_and_colour(inside, start, end)) for start, end in pairwise(edges)]
    return [
        Segment("".join(piece for piece, *_ in group), *names_and_colour)
        for names_and_colour, group in groupby(pieces, key=lambda piece: piece[1:])
    ]


def _names_and_colour(marks: list[Mark], start: int, end: int) -> tuple[tuple[str, ...], str]:
    here = [each for each in marks if each.start <= start and end <= each.end]
    colours = {each.colour for each in here if each.colour}
    colour = "both" if len(colours) > 1 else "".join(colours)
    return tuple(dict.fromkeys(each.name for each in here)), colour


@dataclass(frozen=True)
class MarkedPart:
    """A part of the document, or the output, with its raters' marks."""

    label: str
    text: str
    segments: list[Segment]
    format: str = TextFormat.PLAIN


@dataclass(frozen=True)
class DisputedSide:
    """An output of a comparison: its number for the reader, and the different number for some raters."""

    number: int
    part: int
    marked: MarkedPart
    elsewhere: Sequence[tuple[str, int]]


def mark_texts(item: Item, standpoints: list[Standpoint], content: ItemContent) -> list[MarkedPart]:
    """Return the output, the document's parts and compared outputs, numbered as in passages."""
    plain = TextFormat.PLAIN
    parts = [("", item.text, item.format)]
    parts += [(part["label"], part["text"], part.get("format", plain)) for part in item.document.parts]
    parts += [("", *side) for side in zip(content.sides, content.formats, strict=True)]
    marks: dict[int, list[Mark]] = {}
    for position, each in enumerate(standpoints, start=1):
        colour = str(position) if len(standpoints) <= MOST_COLOURS else "0"
        for passage in each.passages:
            marks.setdefault(passage.part, []).append(Mark(each.holder_mark.name, passage.start, passage.end))
        for span in each.spans:
            mark = Mark(each.holder_mark.name, span["start"], span["end"], colour)
            marks.setdefault(span["part"], []).append(mark)
    return [
        MarkedPart(label, text, segments_of(text.replace("\r\n", "\n"), marks.get(number, [])), format)
        for number, (label, text, format) in enumerate(parts)
    ]


def sides_shown(
    content: ItemContent, marked: Sequence[MarkedPart], standpoints: list[Standpoint], document_parts: int
) -> list[DisputedSide]:
    """Return compared outputs in the reader's order, each with the numbers under which others know it."""
    orders = [
        (each.name, order)
        for each in standpoints
        if not each.is_me and (order := (each.data or {}).get("order"))
    ]
    return [
        DisputedSide(
            number,
            document_parts + 1 + side,
            marked[side],
            [(name, theirs) for name, order in orders if (theirs := order.index(side) + 1) != number],
        )
        for number, side in enumerate(content.order, start=1)
    ]
