"""One label for each part of an item, such as a clause or a fact."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.scale import normalize
from annotate.questions.kind import (
    Cleaned,
    Data,
    Given,
    ItemContent,
    Options,
    QuestionKind,
    choice_lines,
    named_list,
    one_of_keys,
    read_key,
    read_list,
    refuse_data,
    strict_object,
)


class PartsKind(QuestionKind):
    """Labels of parts; `data` is {"parts": [key or None, ...]}, `value` the share of the label that counts.

    counts: the key of the label whose share is the item's value. A part without an answer yet is None.
    """

    key = "parts"
    name = gettext_lazy("A label for each part")
    about = gettext_lazy("Yes or no (or one of several labels) for each sentence, fact or content unit.")
    template = "questions/parts.html"
    reads_item = True
    # Distances have two decimals, so this is the smallest distance above 0.
    threshold = 0.01
    number_name = gettext_lazy("share")

    def read_options(self, options: Options) -> dict[str, Any]:
        labels = named_list(options, "labels", fewest=2, most=6, what=gettext("labels"))
        keys = [label["key"] for label in labels]
        counts = options.get("counts") or keys[0]
        if counts not in keys:
            raise InvalidValueError(gettext("The label that counts is one of the labels."))
        return {"labels": labels, "counts": counts}

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        chosen = (given.data or {}).get("parts", []) if given else []
        # A stored answer may have fewer parts than the item.
        padded = [*chosen, *[None] * len(item.parts)]
        return {
            "labels": [
                {**label, "digit": str(number)}
                for number, label in enumerate(dimension.options["labels"], start=1)
            ],
            "parts": [
                {"text": text, "position": position, "chosen": padded[position]}
                for position, text in enumerate(item.parts)
            ],
        }

    def prompt(self, dimension: FrozenDimension, item: ItemContent) -> str:
        return (
            f"Give each of the {len(item.parts)} numbered parts one label:\n"
            f"{choice_lines(dimension.options['labels'])}\n\n"
            'Field "parts": a list with an object for every part, with its number ("part") and the key of '
            'its label ("label").'
        )

    def reply_fields(self, dimension: FrozenDimension, item: ItemContent) -> dict[str, Any]:
        labelled = {"part": {"type": "integer"}, "label": one_of_keys(dimension.options["labels"])}
        return {"parts": {"type": "array", "items": strict_object(labelled)}}

    def read(self, dimension: FrozenDimension, reply: Mapping[str, Any], item: ItemContent) -> Cleaned:
        """Return the label of every part, by its number; a plain list is in the order of the parts."""
        said = read_list(reply, "parts")
        labels: dict[int, str] = {}
        for position, each in enumerate(said, start=1):
            number, label = (
                (each.get("part"), each.get("label")) if isinstance(each, Mapping) else (position, each)
            )
            # By exact type: True is an int, too.
            if type(number) is not int or number in labels:
                raise InvalidValueError(gettext("A part has no number of its own."))
            labels[number] = read_key(dimension.options["labels"], label)
        if set(labels) != set(range(1, len(item.parts) + 1)):
            sentence = gettext("The reply labels {count} of {all} parts.")
            count = len(labels.keys() & set(range(1, len(item.parts) + 1)))
            raise InvalidValueError(sentence.format(count=count, all=len(item.parts)))
        return self.clean(dimension, None, {"parts": [labels[number] for number in sorted(labels)]}, item)

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        chosen = data.get("parts") if isinstance(data, dict) else None
        known = [label["key"] for label in dimension.options["labels"]]
        if not isinstance(chosen, list) or len(chosen) != len(item.parts):
            raise refuse_data(dimension)
        given = [each for each in chosen if each is not None]
        if not all(each in known for each in given):
            raise refuse_data(dimension)
        # Without any label there is no answer to store, not even an incomplete one.
        if not given:
            return None, None
        # The answer is incomplete, so it has no number yet.
        if len(given) < len(chosen):
            return None, {"parts": chosen}
        share = given.count(dimension.options["counts"]) / len(given)
        return Given(normalize(share), {"parts": chosen})

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        chosen = [each for each in (given.data or {}).get("parts", []) if each is not None]
        counts = dimension.options["counts"]
        name = next(label["name"] for label in dimension.options["labels"] if label["key"] == counts)
        return gettext("{name}: {count} of {all}").format(
            name=name, count=chosen.count(counts), all=len(chosen)
        )

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        return "|".join(each or "" for each in (given.data or {}).get("parts", ()))

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return the share of parts with different labels, among parts with two labels."""
        own, theirs = ((each.data or {}).get("parts", []) for each in (one, other))
        both = [
            (mine, yours)
            # Two stored answers can differ in length, so only their common parts are compared.
            for mine, yours in zip(own, theirs, strict=False)
            if mine is not None and yours is not None
        ]
        return sum(mine != yours for mine, yours in both) / len(both) if both else 0.0

    def describe_distance(self, options: Options, apart: float) -> str:
        return gettext("{percent} % of the parts have different labels.").format(percent=round(100 * apart))


PARTS = PartsKind()
