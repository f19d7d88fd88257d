"""Marked spans of text with a category and a severity, such as errors of a translation."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_lazy, ngettext

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.scale import normalize
from annotate.core.scale_text import format_value
from annotate.questions.kind import (
    Cleaned,
    Data,
    Given,
    ItemContent,
    Options,
    QuestionKind,
    named_list,
    refuse_data,
)

MOST_SPANS = 200
LARGEST_WEIGHT = 100
WHERE = ("output", "both")


class SpansKind(QuestionKind):
    """Spans; `data` is {"spans": [{part, start, end, category, severity}]}, `value` the sum of weights.

    part: 0 the text rated, then the parts of the document; offsets count characters, see
    annotate.rating.evidence. where: "output", or "both" if the document can be marked too.
    """

    key = "spans"
    name = gettext_lazy("Marked spans")
    about = gettext_lazy("Errors marked in the text, each with a category and a severity, as in MQM.")
    template = "questions/spans.html"
    reads_item = True
    threshold = 0.5
    number_name = gettext_lazy("sum of weights")

    def read_options(self, options: Options) -> dict[str, Any]:
        """Return categories, severities with their weights, and where spans can be marked."""
        categories = named_list(options, "categories", fewest=1, most=50, what=gettext("categories"))
        severities = named_list(options, "severities", fewest=1, most=9, what=gettext("severities"))
        rows = options["severities"]
        weights = [each.get("weight") for each in rows]
        for made, weight in zip(severities, weights, strict=True):
            is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
            if not is_number or not 0 <= weight <= LARGEST_WEIGHT or normalize(weight) != weight:
                raise InvalidValueError(
                    gettext("Give the severity {name} a weight from 0 to {most}.").format(
                        name=made["name"], most=LARGEST_WEIGHT
                    )
                )
        where = options.get("where") or WHERE[0]
        if where not in WHERE:
            raise InvalidValueError(gettext("Spans are marked in the output, or in both texts."))
        return {
            "categories": categories,
            "severities": [
                {**made, "weight": weight} for made, weight in zip(severities, weights, strict=True)
            ],
            "where": where,
        }

    def bounds(self, options: Options) -> tuple[int, int]:
        """Return no error, and the heaviest sum there can be."""
        return 0, MOST_SPANS * LARGEST_WEIGHT

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        """Return what can be chosen, and the spans as the page reads them."""
        return {
            "categories": dimension.options["categories"],
            "severities": [
                {**each, "digit": str(number)}
                for number, each in enumerate(dimension.options["severities"], start=1)
            ],
            "none": given is not None and not (given.data or {}).get("spans"),
            "where": dimension.options["where"],
        }

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        """Return spans in the order of the texts, each inside its text."""
        rows = data.get("spans") if isinstance(data, dict) else None
        if not isinstance(rows, list) or not all(isinstance(each, Mapping) for each in rows):
            raise refuse_data(dimension)
        if len(rows) > MOST_SPANS:
            sentence = gettext("{count} spans are marked; at most {most} can be kept.").format(
                count=len(rows), most=MOST_SPANS
            )
            raise InvalidValueError(sentence, fields={"data": sentence})
        weights = {each["key"]: each["weight"] for each in dimension.options["severities"]}
        categories = {each["key"] for each in dimension.options["categories"]}
        texts = item.texts if dimension.options["where"] == "both" else item.texts[:1]
        spans = []
        for row in rows:
            part, start, end = (row.get(name) for name in ("part", "start", "end"))
            if not all(type(each) is int for each in (part, start, end)):
                raise refuse_data(dimension)
            if not (0 <= part < len(texts) and 0 <= start < end <= len(texts[part])):
                raise refuse_data(dimension)
            if row.get("category") not in categories or row.get("severity") not in weights:
                raise refuse_data(dimension)
            names = ("part", "start", "end", "category", "severity")
            spans.append({name: row[name] for name in names})
        spans.sort(key=lambda each: tuple(each.values()))
        total = normalize(float(sum(weights[each["severity"]] for each in spans)))
        return Given(total, {"spans": spans})

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        """Return how many spans are marked, and their sum."""
        count = len((given.data or {}).get("spans", []))
        if not count:
            return gettext("none marked")
        words = ngettext("{count} span, {sum}", "{count} spans, {sum}", count)
        return words.format(count=count, sum=given.value)

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        """Return the spans as JSON."""
        return json.dumps((given.data or {}).get("spans", []), ensure_ascii=False)

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return 1 - F1 over characters; characters that only differ in severity count half."""
        own, theirs = (severity_by_character(each) for each in (one, other))
        if not own and not theirs:
            return 0.0
        common = sum(1 if own[place] == theirs[place] else 0.5 for place in own.keys() & theirs.keys())
        return 1 - 2 * common / (len(own) + len(theirs))

    def dispute_distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return 1 where overlapping spans have different severities, else the distance."""
        own, theirs = (severity_by_character(each) for each in (one, other))
        if any(own[place] != theirs[place] for place in own.keys() & theirs.keys()):
            return 1.0
        return self.distance(dimension, one, other)

    def apart_sentence(self, options: Options, apart: float) -> str:
        """Return how far the marked words differ, or that words or severities are different ones."""
        if apart >= 1:
            return gettext("The raters mark different words, or give the same words different severities.")
        return gettext("The marked spans differ by {distance}.").format(distance=format_value(apart))


def severity_by_character(given: Given) -> dict[tuple[int, int], str]:
    """Return the severity of every marked character, by part and position; of overlapping spans the last."""
    return {
        (span["part"], place): span["severity"]
        for span in (given.data or {}).get("spans", [])
        for place in range(span["start"], span["end"])
    }


SPANS = SpansKind()
