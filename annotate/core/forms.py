"""What forms share."""

from collections.abc import Iterable
from typing import Any

from django import forms


def offer_choices(form: forms.BaseForm, name: str, choices: Iterable[Any]) -> None:
    """Let a field of choices offer these, which depend on the project and who asks."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)
