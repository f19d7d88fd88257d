"""The pages' forms as API input: a serializer declares the types, the form itself checks every rule."""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeGuard, TypeVar

from django import forms
from django.utils.choices import flatten_choices
from rest_framework import serializers

from annotate.api.operations import LARGEST_KEY
from annotate.api.values import Amount, ChoiceValue, Data, Flag, Input, Number, Text, Whole, list_choices
from annotate.core.errors import InvalidValueError

Form = TypeVar("Form", bound=forms.BaseForm)
NO_CHOICE = ("required", "invalid_choice", "invalid_pk_value", "invalid_list")


def form_input(
    name: str,
    form: type[forms.Form],
    *,
    without: Collection[str] = (),
    usual: Mapping[str, Any] | None = None,
    optional: Mapping[str, str] | None = None,
    all_optional: bool = False,
    **others: serializers.Field[Any, Any, Any, Any],
) -> type[Input]:
    """Return the API input of a form: a JSON field for each form field, and the fields in `others`.

    A missing field gets the initial value of the page: from the form or from `usual`. A choice among rows
    gets the only row. optional: fields that the operation fills in by the project, each with a description of
    the value. Choices that depend on the project are strings here.
    """
    # A missing field gets the value that an unchanged page would send.
    defaults = {key: field.initial for key, field in form.base_fields.items() if field.initial is not None}
    defaults = {} if all_optional else {**defaults, **(usual or {})}
    rows = [key for key, field in form.base_fields.items() if _has_only_choice(field)]
    filled = {**dict.fromkeys(rows, "the only one there is"), **(optional or {})}
    fields = {}
    for key, field in form.base_fields.items():
        if key in without:
            continue
        how: dict[str, Any] = {"help_text": _help(field, filled.get(key, ""))}
        if key in defaults and key not in filled:
            how["default"] = defaults[key]
        else:
            how["required"] = field.required and not (all_optional or key in filled)
        fields[key] = _field(field, how)
    return type(name, (Input,), {**fields, **others, "__doc__": (form.__doc__ or "").strip()})


def valid(form: Form) -> Form:
    """Return a valid form unchanged. Raises InvalidValueError with one message for each field."""
    for name in form.fields.keys() - form.data.keys():
        field = form.fields[name]
        # A page preselects a row; the API does so only if there is no other one.
        # Two rows are enough to know whether there is exactly one.
        if _has_only_choice(field) and field.queryset is not None and len(rows := field.queryset[:2]) == 1:
            form.data = {**form.data, name: rows[0].pk}
    if form.is_valid():
        return form
    own = {name: _sentence(form, name, errors[0]) for name, errors in form.errors.as_data().items()}
    fields = {name if name != "__all__" else "": sentence for name, (sentence, _) in own.items()}
    name, (sentence, is_named) = next(iter(own.items()))
    message = sentence if is_named else f"{name}: {sentence}"
    raise InvalidValueError(message, fields={key: text for key, text in fields.items() if key})


def _has_only_choice(field: forms.Field) -> TypeGuard["forms.ModelChoiceField[Any]"]:
    """Return True if a page preselects the first row; the API does so for a single row."""
    is_multiple = isinstance(field, forms.ModelMultipleChoiceField)
    return isinstance(field, forms.ModelChoiceField) and not is_multiple and field.empty_label is None


def _sentence(form: forms.BaseForm, name: str, error: forms.ValidationError) -> tuple[str, bool]:
    """Return an error message, and True if it names its field. An invalid choice lists the choices."""
    field = form.fields.get(name)
    if error.code in NO_CHOICE and isinstance(field, forms.ChoiceField):
        return list_choices(_choices(field)), False
    return str(error.messages[0]), not error.code


def _choices(field: forms.ChoiceField) -> Iterable[str]:
    """Return the choices of a field as the API takes them; rows have their names in brackets."""
    by_key = isinstance(field, forms.ModelChoiceField)
    pairs: Any = field.choices
    key: Any
    label: Any
    for key, label in flatten_choices(pairs):
        if key not in (None, ""):
            yield f"{key} ({label})" if by_key else str(key)


def _help(field: forms.Field, left_out: str) -> str:
    says = str(field.help_text or field.label or "")
    if not left_out:
        return says
    return f"{says}{'' if not says or says.endswith('.') else '.'} Left out: {left_out}.".strip()


def _field(field: forms.Field, how: dict[str, Any]) -> serializers.Field[Any, Any, Any, Any]:
    given = {name: getattr(field, name, None) for name in ("min_value", "max_value")}
    limits: dict[str, Any] = {
        name: float(limit) if isinstance(limit, Decimal) else limit
        for name, limit in given.items()
        if limit is not None
    }
    nullable: dict[str, Any] = {} if field.required else {"allow_null": True}
    match field:
        case forms.BooleanField():
            return Flag(**how)
        # The order matters: this class is a kind of ModelChoiceField, which is a kind of ChoiceField.
        case forms.ModelMultipleChoiceField():
            return serializers.ListField(child=_key(), **how)
        case forms.ModelChoiceField():
            return _key(**how)
        case forms.MultipleChoiceField():
            return serializers.ListField(child=Text(), **how)
        case forms.ChoiceField():
            return _choice(field, how)
        case forms.FloatField():
            return Number(**how, **limits, **nullable)
        case forms.DecimalField():
            return Amount(**how, **limits, **nullable)
        case forms.IntegerField():
            return Whole(**how, **limits, **nullable)
        case forms.DateField():
            return serializers.DateField(**how, **nullable)
        case forms.JSONField():  # before its parent
            return Data(**how, **nullable)
        case forms.CharField():
            blank: dict[str, Any] = {"min_length": 1} if field.required else {"allow_blank": True}
            return Text(max_length=field.max_length, trim_whitespace=field.strip, **how, **blank)
    raise TypeError(f"The API has no value for a {type(field).__name__}.")


def _key(**how: Any) -> Whole:
    return Whole(min_value=1, max_value=LARGEST_KEY, **how)


def _choice(field: forms.ChoiceField, how: dict[str, Any]) -> serializers.Field[Any, Any, Any, Any]:
    known = [key for key, _ in field.choices if isinstance(key, str | float) and key]  # type: ignore[union-attr,misc]
    if known and len(known) == len(list(field.choices)):  # type: ignore[arg-type]
        return ChoiceValue(choices=known, **how)
    return Text(allow_blank=not field.required, **how)
