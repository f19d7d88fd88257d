"""The pages' forms as what the API takes: types by a serializer, every rule by the form itself."""

from collections.abc import Collection
from decimal import Decimal
from typing import Any, TypeVar

from django import forms
from rest_framework import serializers

from annotate.api.pages import LARGEST_KEY
from annotate.api.values import Amount, Flag, Input, Number, Text, Whole
from annotate.core.errors import InvalidValueError

Form = TypeVar("Form", bound=forms.BaseForm)


def form_input(
    name: str,
    form: type[forms.Form],
    *,
    without: Collection[str] = (),
    optional: Collection[str] = (),
    all_optional: bool = False,
    **others: serializers.Field[Any, Any, Any, Any],
) -> type[Input]:
    """Return what the API takes for a form: a field of JSON for each of its fields, and others beside them.

    optional: fields that may be missing although a page always sends them. Choices that a form only knows
    when it is made are texts here.
    """
    fields = {
        key: _field(field, required=field.required and not (all_optional or key in optional))
        for key, field in form.base_fields.items()
        if key not in without
    }
    return type(name, (Input,), {**fields, **others, "__doc__": (form.__doc__ or "").strip()})


def valid(form: Form) -> Form:
    """Return a form that was filled in without mistakes; raises InvalidValueError with one for each field."""
    if form.is_valid():
        return form
    fields = {name if name != "__all__" else "": str(errors[0]) for name, errors in form.errors.items()}
    raise InvalidValueError(
        next(iter(fields.values())), fields={key: text for key, text in fields.items() if key}
    )


def _field(field: forms.Field, *, required: bool) -> serializers.Field[Any, Any, Any, Any]:
    how: dict[str, Any] = {"required": required, "help_text": str(field.help_text or field.label or "")}
    given = {name: getattr(field, name, None) for name in ("min_value", "max_value")}
    limits: dict[str, Any] = {
        name: float(limit) if isinstance(limit, Decimal) else limit
        for name, limit in given.items()
        if limit is not None
    }
    empty: dict[str, Any] = {} if field.required else {"allow_null": True}
    match field:
        case forms.BooleanField():
            return Flag(**how)
        case forms.ModelMultipleChoiceField():
            return serializers.ListField(child=_key(), **how)
        case forms.ModelChoiceField():
            return _key(**how)
        case forms.MultipleChoiceField():
            return serializers.ListField(child=Text(), **how)
        case forms.ChoiceField():
            return _choice(field, how)
        case forms.FloatField():
            return Number(**how, **limits, **empty)
        case forms.DecimalField():
            return Amount(**how, **limits, **empty)
        case forms.IntegerField():
            return Whole(**how, **limits, **empty)
        case forms.DateField():
            return serializers.DateField(**how, **empty)
        case forms.CharField():
            blank: dict[str, Any] = {"min_length": 1} if field.required else {"allow_blank": True}
            return Text(max_length=field.max_length, trim_whitespace=field.strip, **how, **blank)
    raise TypeError(f"The API has no value for a {type(field).__name__}.")


def _key(**how: Any) -> Whole:
    return Whole(min_value=1, max_value=LARGEST_KEY, **how)


def _choice(field: forms.ChoiceField, how: dict[str, Any]) -> serializers.Field[Any, Any, Any, Any]:
    known = [key for key, _ in field.choices if isinstance(key, str | float) and key]  # type: ignore[union-attr,misc]
    if known and len(known) == len(list(field.choices)):  # type: ignore[arg-type]
        return serializers.ChoiceField(choices=known, **how)
    return Text(allow_blank=not field.required, **how)
