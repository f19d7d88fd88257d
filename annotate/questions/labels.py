"""Several of a list of labels, or none of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_lazy, ngettext

from agreement.labels import jaccard_distance, masi_distance
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import format_value
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
)

DISTANCES = {"jaccard": jaccard_distance, "masi": masi_distance}
MOST_LABELS = 50


class LabelsKind(QuestionKind):
    """A set of labels; `data` is {"labels": [keys]}, in the order of the list."""

    key = "labels"
    name = gettext_lazy("Several labels")
    about = gettext_lazy("Any number of labels of a list, such as the kinds of error in a text.")
    template = "questions/labels.html"
    threshold = 0.5
    has_mean = False
    number_name = gettext_lazy("labels")

    def read_options(self, options: Options) -> dict[str, Any]:
        labels = named_list(options, "labels", fewest=2, most=MOST_LABELS, what=gettext("labels"))
        distance = options.get("distance") or "jaccard"
        if distance not in list(DISTANCES):  # not by hash: the input may be anything
            raise InvalidValueError(
                gettext("The distance is one of {names}.").format(names=", ".join(DISTANCES))
            )
        return {"labels": labels, "distance": distance}

    def bounds(self, options: Options) -> tuple[int, int]:
        return 0, len(options["labels"])

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        chosen = (given.data or {}).get("labels", []) if given else []
        # A keyboard has nine digits other than 0, so later labels have no shortcut.
        keys = [*"123456789", *[""] * MOST_LABELS]
        return {
            "labels": [
                {**label, "digit": digit, "chosen": label["key"] in chosen}
                for label, digit in zip(dimension.options["labels"], keys, strict=False)
            ],
            # An empty set of labels is a complete answer, which differs from a missing answer.
            "none": given is not None and not chosen,
        }

    def prompt(self, dimension: FrozenDimension, item: ItemContent) -> str:
        return (
            f"Choose every label that applies, or none:\n{choice_lines(dimension.options['labels'])}\n\n"
            'Field "labels": the list of the keys that apply, empty if none does.'
        )

    def reply_fields(self, dimension: FrozenDimension, item: ItemContent) -> dict[str, Any]:
        return {"labels": {"type": "array", "items": one_of_keys(dimension.options["labels"])}}

    def read(self, dimension: FrozenDimension, reply: Mapping[str, Any], item: ItemContent) -> Cleaned:
        rows = dimension.options["labels"]
        chosen = [read_key(rows, each) for each in read_list(reply, "labels")]
        return self.clean(dimension, None, {"labels": chosen}, item)

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        chosen = data.get("labels") if isinstance(data, dict) else None
        # A list and not a set: JSON from a browser can hold values without a hash.
        known = [label["key"] for label in dimension.options["labels"]]
        if not isinstance(chosen, list) or not all(each in known for each in chosen):
            raise refuse_data(dimension)
        # In the order of the list, so that the same labels are the same answer.
        ordered = [each for each in known if each in chosen]
        return Given(len(ordered), {"labels": ordered})

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        names = {label["key"]: label["name"] for label in dimension.options["labels"]}
        chosen = [names.get(each, each) for each in (given.data or {}).get("labels", [])]
        if len(chosen) > 3:
            return ngettext("{count} label", "{count} labels", len(chosen)).format(count=len(chosen))
        return ", ".join(chosen) or gettext("none of them")

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        return "|".join((given.data or {}).get("labels", ()))

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return the distance of Jaccard, or MASI (Passonneau 2006), by the dimension's options."""
        return DISTANCES[dimension.options["distance"]](labels_in(one), labels_in(other))

    def describe_distance(self, options: Options, apart: float) -> str:
        if apart >= 1:
            return gettext("The sets of labels have no label in common.")
        return gettext("The sets of labels differ by {distance}.").format(distance=format_value(apart))


def labels_in(given: Given) -> frozenset[str]:
    return frozenset((given.data or {}).get("labels", ()))


LABELS = LabelsKind()
