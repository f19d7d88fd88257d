"""Which of two outputs is better, and how surely."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.questions.kind import (
    Cleaned,
    Data,
    Given,
    ItemContent,
    Options,
    QuestionKind,
    refuse_data,
)

MOST_STRENGTH = 3
STRENGTHS = ("slightly better", "better", "much better")


class PreferenceKind(QuestionKind):
    """The better of two sides: `value` is below 0 for the first, above for the second, 0 for a tie.

    Its size is the strength, 1 to `strength`. `data` is {"order": sides in the order shown}.
    """

    key = "preference"
    name = gettext_lazy("Preference")
    about = gettext_lazy("The better of two outputs for the same document, shown side by side.")
    template = "questions/preference.html"
    item_kind = "pair"
    asks_both_orders = True
    reads_item = True
    has_pieces = False
    number_name = gettext_lazy("preference")

    def read_options(self, options: Options) -> dict[str, Any]:
        strength = options.get("strength", 1)
        if type(strength) is not int or not 1 <= strength <= MOST_STRENGTH:
            raise InvalidValueError(
                gettext("A preference has 1 to {most} strengths.").format(most=MOST_STRENGTH)
            )
        return {
            "ties": bool(options.get("ties", True)),
            "strength": strength,
            "tie_disputes": bool(options.get("tie_disputes", False)),
        }

    def bounds(self, options: Options) -> tuple[int, int]:
        return -options["strength"], options["strength"]

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        strength = dimension.options["strength"]
        # Steps run from left to right as the rater sees the sides; values are about the sides as stored.
        first_is_left = not item.order or item.order[0] == 0
        choices: list[dict[str, Any]] = []
        for step in range(-strength, strength + 1):
            if step or dimension.options["ties"]:
                value = step if first_is_left else -step
                choices.append(
                    {
                        "value": value,
                        "name": choice_name(step, strength),
                        "digit": str(len(choices) + 1),
                        "chosen": given is not None and given.value == value,
                    }
                )
        return {"choices": choices}

    def prompt(self, dimension: FrozenDimension, item: ItemContent) -> str:
        ties = ' or "tie" if neither is' if dimension.options["ties"] else ""
        lines = [
            "Which of the two texts is better? The order in which they are shown means nothing.",
            f'Field "better": "A" or "B"{ties}.',
        ]
        # A strict schema requires every field in every reply, so a tie has a strength, too.
        if (strength := dimension.options["strength"]) > 1:
            steps = ", ".join(f"{number} {name}" for number, name in enumerate(STRENGTHS[:strength], start=1))
            lines.append(
                f'Field "strength": {steps}; 1 for a tie.' if ties else f'Field "strength": {steps}.'
            )
        return "\n".join(lines)

    def reply_fields(self, dimension: FrozenDimension, item: ItemContent) -> dict[str, Any]:
        choices = ["A", "B", *(["tie"] if dimension.options["ties"] else [])]
        fields: dict[str, Any] = {"better": {"type": "string", "enum": choices}}
        if (strength := dimension.options["strength"]) > 1:
            fields["strength"] = {"type": "integer", "enum": list(range(1, strength + 1))}
        return fields

    def read(self, dimension: FrozenDimension, reply: Mapping[str, Any], item: ItemContent) -> Cleaned:
        """Return the preference of a reply; its letters follow the order shown."""
        better = str(reply.get("better", "")).strip().casefold()
        if better not in ("a", "b", "tie"):
            raise InvalidValueError(gettext("The reply does not say whether A or B is better."))
        # With a single strength the reply has no such field.
        strength = 1 if dimension.options["strength"] == 1 else reply.get("strength")
        # A tie has no strength, so the strength in the reply does not matter.
        if better == "tie":
            if not dimension.options["ties"]:
                raise InvalidValueError(gettext("The reply is a tie, and the question takes none."))
            return self.clean(dimension, 0, None, item)
        if type(strength) is not int or not 1 <= strength <= dimension.options["strength"]:
            raise InvalidValueError(gettext("The reply has no strength of the question."))
        # From the letter in the order shown to the side as stored.
        side = (item.order or (0, 1))["ab".index(better)]
        return self.clean(dimension, strength if side else -strength, None, item)

    def combine(self, dimension: FrozenDimension, answers: Sequence[Given]) -> Given | None:
        """Return the preference over both orders; a tie if they disagree, None without both.

        Of several samples in an order, the most frequent one counts.
        """
        found = []
        for first in (0, 1):
            own = [each for each in answers if ((each.data or {}).get("order") or [0])[0] == first]
            # One order alone cannot separate a preference from a bias for a position.
            if not own:
                return None
            found.append(super().combine(dimension, own))
        values = [each.value for each in found if each]
        agree = len({sign(value) for value in values}) == 1
        # If the orders agree on the winner, the weaker strength counts.
        # The combined answer holds for both orders, so it has no `order`.
        return Given(min(values, key=abs) if agree else 0.0)

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        low, high = self.bounds(dimension.options)
        # The range comes first: NaN fails it, and `int` cannot convert NaN or infinity.
        if value is None or not low <= value <= high or value != int(value):
            raise refuse_data(dimension)
        if value == 0 and not dimension.options["ties"]:
            sentence = gettext("{name} takes no tie; choose one of the outputs.").format(name=dimension.name)
            raise InvalidValueError(sentence, fields={"value": sentence})
        # `describe` numbers the outputs as the rater saw them, so the answer stores its order.
        return Given(value, {"order": list(item.order or (0, 1))})

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        order = (given.data or {}).get("order") or [0, 1]
        step = int(given.value) if order[0] == 0 else -int(given.value)
        return choice_name(step, dimension.options["strength"])

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        if not given.value:
            return "tie"
        return sides[given.value > 0] if len(sides) > 1 else f"{given.value:g}"

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return 1 for different winners, a half between a tie and a winner."""
        return abs(sign(one.value) - sign(other.value)) / 2

    def dispute_distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        """Return the same, but 1 between a tie and a winner if these are to dispute."""
        apart = self.distance(dimension, one, other)
        return 1.0 if apart and dimension.options["tie_disputes"] else apart

    def describe_distance(self, options: Options, apart: float) -> str:
        if apart >= 1 and options["tie_disputes"]:
            return gettext("The raters do not agree which output is better.")
        if apart >= 1:
            return gettext("The raters prefer different outputs.")
        return gettext("Some raters prefer an output, and others see a tie.")


def sign(value: float) -> int:
    return (value > 0) - (value < 0)


def choice_name(step: int, strength: int) -> str:
    if step == 0:
        return gettext("Tie")
    output = 1 if step < 0 else 2
    if strength == 1:
        return gettext("Output {number} is better").format(number=output)
    name = {
        1: gettext("Output {number} is slightly better"),
        2: gettext("Output {number} is better"),
        3: gettext("Output {number} is much better"),
    }[abs(step)]
    return name.format(number=output)


PREFERENCE = PreferenceKind()
