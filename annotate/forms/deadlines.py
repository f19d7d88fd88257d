"""The day by which a round shall be done."""

from django import forms
from django.utils.translation import gettext_lazy as _


class DeadlineForm(forms.Form):
    """A day, or none."""

    deadline = forms.DateField(
        required=False,
        label=_("Raters shall be done by the end of"),
        help_text=(
            _(
                "Leave it empty for no deadline. Nothing closes by itself: when the day has passed, raters "
                "can go on, and you are reminded to close the round or to move the deadline."
            )
        ),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": _("Write the day as 2026-12-31.")},
    )
