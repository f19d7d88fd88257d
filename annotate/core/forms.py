"""What forms share."""

from collections.abc import Iterable
from typing import Any

from django import forms


def offer_choices(form: forms.BaseForm, name: str, choices: Iterable[Any]) -> None:
    """Offer these choices in a field. They depend on the project and the user."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)
