"""Marked spans with a category and a severity, such as translation errors."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_lazy, ngettext

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import format_value
from annotate.core.scale import normalize
from annotate.questions.kind import (
    Cleaned,
    Data,
    Given,
    ItemContent,
    Options,
    QuestionKind,
    QuoteFinder,
    choice_lines,
    named_list,
    one_of_keys,
    read_key,
    read_list,
    refuse_data,
    strict_object,
)

MOST_SPANS = 200
LARGEST_WEIGHT = 100
WHERE = ("output", "both")


class SpansKind(QuestionKind):
    """Spans; `data` is {"spans": [{part, start, end, category, severity}]}, `value` the sum of weights.

    part: 0 the output, then the parts of the document; offsets count characters, see
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
        categories = named_list(options, "categories", fewest=1, most=50, what=gettext("categories"))
        severities = named_list(options, "severities", fewest=1, most=9, what=gettext("severities"))
        rows = options["severities"]
        weights = [each.get("weight") for each in rows]
        for made, weight in zip(severities, weights, strict=True):
            # Python counts True as an int, and JSON input can hold it.
            is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
            # Weights with more decimals than stored values would make the sum differ from its parts.
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
        return 0, MOST_SPANS * LARGEST_WEIGHT

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        return {
            "categories": dimension.options["categories"],
            "severities": [
                {**each, "digit": str(number)}
                for number, each in enumerate(dimension.options["severities"], start=1)
            ],
            "none": given is not None and not (given.data or {}).get("spans"),
            "where": dimension.options["where"],
        }

    def prompt(self, dimension: FrozenDimension, item: ItemContent) -> str:
        both = dimension.options["where"] == "both"
        where = ' Say where it stands ("in"): "text" or "document".' if both else ""
        return (
            f"Mark every passage {'of the text or the document' if both else 'of the text'} that has one of "
            f"these:\n{choice_lines(dimension.options['categories'])}\n\n"
            f"Give each a severity:\n{choice_lines(dimension.options['severities'])}\n\n"
            'Field "spans": a list with an object for each passage, empty if there is none. Quote the '
            'passage exactly as it stands ("quote"), and no more of it than needed; give the keys of its '
            f'category ("category") and severity ("severity").{where}'
        )

    def reply_fields(self, dimension: FrozenDimension, item: ItemContent) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "quote": {"type": "string"},
            "category": one_of_keys(dimension.options["categories"]),
            "severity": one_of_keys(dimension.options["severities"]),
        }
        if dimension.options["where"] == "both":
            fields["in"] = {"type": "string", "enum": ["text", "document"]}
        return {"spans": {"type": "array", "items": strict_object(fields)}}

    def read(self, dimension: FrozenDimension, reply: Mapping[str, Any], item: ItemContent) -> Cleaned:
        """Return the spans of quotes found in the item; `data` keeps the other quotes as `unmatched`."""
        finder = QuoteFinder(item.texts)
        spans: list[dict[str, Any]] = []
        unmatched: list[dict[str, Any]] = []
        for said in read_list(reply, "spans"):
            if not isinstance(said, Mapping) or not isinstance(said.get("quote"), str):
                raise InvalidValueError(gettext("A span of the reply has no quote."))
            named = {
                "category": read_key(dimension.options["categories"], said.get("category")),
                "severity": read_key(dimension.options["severities"], said.get("severity")),
            }
            is_beside = dimension.options["where"] == "both" and said.get("in") == "document"
            found = finder.find(said["quote"], range(1, len(item.texts)) if is_beside else range(1))
            if found is None:
                unmatched.append({"quote": said["quote"], **named})
            else:
                spans.append({**found._asdict(), **named})
        # `clean` drops unknown fields, so the unmatched quotes are added after it.
        value, data = self.clean(dimension, None, {"spans": spans}, item)
        return value, {**(data or {}), "unmatched": unmatched} if unmatched else data

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
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
            # By exact type: True is an int, too.
            if not all(type(each) is int for each in (part, start, end)):
                raise refuse_data(dimension)
            if not (0 <= part < len(texts) and 0 <= start < end <= len(texts[part])):
                raise refuse_data(dimension)
            named = row.get("category"), row.get("severity")
            # JSON can hold a list here, which a set cannot look up.
            if not all(isinstance(each, str) for each in named):
                raise refuse_data(dimension)
            if named[0] not in categories or named[1] not in weights:
                raise refuse_data(dimension)
            # Other fields from a browser are dropped, so that equal spans are equal answers.
            names = ("part", "start", "end", "category", "severity")
            spans.append({name: row[name] for name in names})
        # In one order, so that the same spans are the same answer.
        spans.sort(key=lambda each: tuple(each.values()))
        total = normalize(float(sum(weights[each["severity"]] for each in spans)))
        return Given(total, {"spans": spans})

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        count = len((given.data or {}).get("spans", []))
        if not count:
            return gettext("none marked")
        words = ngettext("{count} span, {sum}", "{count} spans, {sum}", count)
        return words.format(count=count, sum=given.value)

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        return json.dumps((given.data or {}).get("spans", []), ensure_ascii=False)

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return 1 - F1 over characters; characters that only differ in severity count half."""
        own, theirs = (severity_by_character(each) for each in (one, other))
        if not own and not theirs:
            return 0.0
        common = sum(
            1 if own[positions] == theirs[positions] else 0.5 for positions in own.keys() & theirs.keys()
        )
        return 1 - 2 * common / (len(own) + len(theirs))

    def dispute_distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return 1 if overlapping spans have different severities, else the distance."""
        own, theirs = (severity_by_character(each) for each in (one, other))
        if any(own[positions] != theirs[positions] for positions in own.keys() & theirs.keys()):
            return 1.0
        return self.distance(dimension, one, other)

    def describe_distance(self, options: Options, apart: float) -> str:
        if apart >= 1:
            return gettext("The raters mark different words, or give the same words different severities.")
        return gettext("The marked spans differ by {distance}.").format(distance=format_value(apart))


def severity_by_character(given: Given) -> dict[tuple[int, int], str]:
    """Return the severity of every marked character, by part and position; of overlapping spans the last."""
    return {
        (span["part"], index): span["severity"]
        for span in (given.data or {}).get("spans", [])
        for index in range(span["start"], span["end"])
    }


SPANS = SpansKind()
