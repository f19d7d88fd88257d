"""Fixed lists: a CSV file of items and their raters."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from annotate.core.translation import gettext
from annotate.rating.planning.plan import CannotBeMetError, DealtPlan

Pair = tuple[int, int]
MOST_REASONS = 20


class ListRefusedError(ValueError):
    """An invalid list file, with a reason for each of its first invalid lines."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__(reasons[0])
        self.reasons = list(reasons)


def read_list(text: str, *, items: Mapping[str, int], annotators: Mapping[str, int]) -> list[Pair]:
    """Return the pairs of item and annotator in a CSV file with columns item and annotator.

    `items` and `annotators` map names to keys. A pair listed twice counts once. Raises ListRefusedError.
    """
    rows = csv.DictReader(StringIO(text.removeprefix("\ufeff")))
    named = {(name or "").strip().lower(): name for name in rows.fieldnames or ()}
    if not {"item", "annotator"} <= named.keys():
        raise ListRefusedError([gettext("The first line must name the columns: item,annotator.")])
    pairs: dict[Pair, None] = {}
    reasons: list[str] = []
    for row in rows:
        item, annotator = ((row[named[column]] or "").strip() for column in ("item", "annotator"))
        if item in items and annotator.lower() in annotators:
            pairs[items[item], annotators[annotator.lower()]] = None
        elif item not in items:
            reasons.append(
                gettext("Line {line}: there is no item “{item}”.").format(line=rows.line_num, item=item)
            )
        else:
            reasons.append(
                gettext("Line {line}: there is no annotator “{annotator}”.").format(
                    line=rows.line_num, annotator=annotator
                )
            )
    if reasons or not pairs:
        raise ListRefusedError(
            reasons[:MOST_REASONS] or [gettext("The file lists nothing below its first line.")]
        )
    return list(pairs)


def plan_from_list(pairs: Iterable[Pair], items: Sequence[int], annotators: Sequence[int]) -> DealtPlan:
    """Return the plan of a list, by the keys of the existing items and annotators.

    Raises CannotBeMetError if the list names an item or annotator that no longer exists.
    """
    item_of = {key: number for number, key in enumerate(items)}
    annotator_of = {key: number for number, key in enumerate(annotators)}
    raters: list[set[int]] = [set() for _ in items]
    for item, annotator in pairs:
        if item not in item_of or annotator not in annotator_of:
            raise CannotBeMetError(
                gettext(
                    "The list names an item that was removed or an annotator who is no longer active. "
                    "Upload it again."
                )
            )
        raters[item_of[item]].add(annotator_of[annotator])
    return DealtPlan(len(annotators), tuple(tuple(sorted(each)) for each in raters))
