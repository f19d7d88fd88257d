"""Deciding whether an annotator's ratings count."""

from django import forms


class CountingForm(forms.Form):
    """The decision with its reason."""

    counted = forms.BooleanField(required=False, widget=forms.HiddenInput)
    note = forms.CharField(
        label="Why",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with the decision, for you and the other admins.",
    )
