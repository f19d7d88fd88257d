"""Deciding whether an annotator's ratings count."""

from django import forms
from django.utils.translation import gettext_lazy as _


class CountingForm(forms.Form):
    """The decision with its reason."""

    counted = forms.BooleanField(required=False, widget=forms.HiddenInput)
    note = forms.CharField(
        label=_("Why"),
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept with the decision, for you and the other admins."),
    )
