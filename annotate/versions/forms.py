"""Forms of the pages about versions."""

from django import forms
from django.utils.translation import gettext_lazy as _


class VersionForm(forms.Form):
    """The changelog of a version."""

    changelog = forms.CharField(
        max_length=5_000,
        label=_("Changes since the last version"),
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("The public page shows it. It stays as it is."),
    )
