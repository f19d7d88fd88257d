"""Evidence: passages of the document, or of the rated output, that a rater marks as reasons for an answer.

Pure. Offsets count characters (Unicode code points), and each end of a line as one.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import pairwise

from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError

MOST_PASSAGES = 50


@dataclass(frozen=True, order=True)
class Passage:
    """Characters `start` to before `end`; part 0 is the rated output, the others the document's parts."""

    part: int
    start: int
    end: int


Stored = list[dict[str, int]]


def passages_from_json(stored: Stored | None) -> tuple[Passage, ...]:
    return tuple(Passage(**each) for each in stored or [])


def passages_to_json(passages: Iterable[Passage]) -> Stored | None:
    """Return passages in the stored form, sorted by part; None without any."""
    return [asdict(each) for each in sorted(passages)] or None


def passages_as_sent(passages: Iterable[Passage]) -> str:
    return json.dumps([astuple(each) for each in passages], separators=(",", ":"))


def check_passages(passages: Sequence[Passage], texts: Sequence[str]) -> None:
    """Raise InvalidValueError for passages outside the parts, with overlaps, or beyond the limit."""
    if len(passages) > MOST_PASSAGES:
        raise _evidence_error(
            gettext("{count} passages are marked; at most {most} can be kept.").format(
                count=len(passages), most=MOST_PASSAGES
            )
        )
    for each in passages:
        if not 0 <= each.part < len(texts):
            raise _evidence_error(
                gettext("Evidence is marked in part {part}, but the document has {count}.").format(
                    part=each.part, count=len(texts) - 1
                )
            )
        length = len(texts[each.part])
        if not 0 <= each.start < each.end <= length:
            outside = (
                gettext(
                    "Evidence is marked from character {start} to {end} of part {part}, which has {length}; "
                    "mark it again."
                )
                if each.part
                else gettext(
                    "Evidence is marked from character {start} to {end} of the text, which has {length}; "
                    "mark it again."
                )
            )
            raise _evidence_error(
                outside.format(start=each.start, end=each.end, part=each.part, length=length)
            )
    # If any two passages overlap, two neighbours in this order overlap.
    for one, other in pairwise(sorted(passages)):
        if one.part == other.part and other.start < one.end:
            overlap = (
                gettext("Two passages of evidence overlap in part {part}; mark them as one.")
                if one.part
                else gettext("Two passages of evidence overlap in the text; mark them as one.")
            )
            raise _evidence_error(overlap.format(part=one.part))


def _evidence_error(sentence: str) -> InvalidValueError:
    return InvalidValueError(sentence, fields={"evidence": sentence})
