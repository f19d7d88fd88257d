"""Values of JSON, without conversion: a number in quotes is no number, unless it is an amount of money."""

import re
from collections.abc import Iterable
from typing import Any, NoReturn

from django.utils.translation import gettext
from rest_framework import serializers

from annotate.core.scale import int_if_whole


class Text(serializers.CharField):
    """A string."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    """A whole number."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class Number(serializers.FloatField):
    """A number."""

    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class Points(Number):
    """A value of a scale, or a distance on it. Whole values are written as integers, 3 and not 3.0."""

    def to_internal_value(self, data: Any) -> float:
        return int_if_whole(super().to_internal_value(data))

    def to_representation(self, value: float) -> float:  # type: ignore[override] # as of a FloatField
        return value


class Data(serializers.DictField):
    """The parts of a structured answer except its value, in the format of its kind of question."""


class Amount(Number):
    """An amount of money: a number, or one in quotes, as amounts are returned to keep all their digits."""

    PATTERN = r"[0-9]{1,12}(\.[0-9]{1,8})?"

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, str) and re.fullmatch(self.PATTERN, data):
            return super().to_internal_value(float(data))
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    """True or false."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


MOST_LISTED = 40


def list_choices(choices: Iterable[object]) -> str:
    keys = [str(each) for each in choices]
    if not keys:
        return gettext("There is nothing to choose from yet.")
    shown = [*keys[:MOST_LISTED], *(["…"] if len(keys) > MOST_LISTED else [])]
    return gettext("choose one of {choices}.").format(choices=", ".join(shown))


class ChoiceValue(serializers.ChoiceField):
    """One of several strings; an error lists them."""

    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        if key in ("invalid_choice", "required", "null"):
            raise serializers.ValidationError(list_choices(self.choices), code=key)
        super().fail(key, **kwargs)


class Input(serializers.Serializer[Any]):
    """A request body: an object with known fields only, so that a misspelt name is an error."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := data.keys() - self.fields.keys()):
            known = ", ".join(self.fields)
            raise serializers.ValidationError(
                dict.fromkeys(sorted(unknown), f"There is no such field; there are: {known}.")
            )
        return super().to_internal_value(data)
