"""A token of the API."""

from datetime import timedelta

from django import forms
from django.utils.translation import gettext_lazy as _

LASTS = [(30, "30 days"), (90, "90 days"), (365, "a year")]
SCOPES = [
    ("read", "read: everything that you see on pages"),
    ("write", "write: configure and run the projects that you administer"),
    ("rate", "rate: take work, rate, and discuss disputes as you"),
]


class TokenForm(forms.Form):
    """What a token is for, what it allows, and how long."""

    name = forms.CharField(label=_("What it is for"), max_length=80)
    scopes = forms.MultipleChoiceField(
        label=_("It may"), choices=SCOPES, initial=["read"], widget=forms.CheckboxSelectMultiple
    )
    days = forms.TypedChoiceField(label=_("It lasts"), choices=LASTS, coerce=int, initial=90)

    @property
    def lasts(self) -> timedelta:
        """How long the token can be used."""
        return timedelta(days=self.cleaned_data["days"])
