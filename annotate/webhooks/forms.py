"""A webhook."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.webhooks.events import EVENTS


class WebhookForm(forms.Form):
    """The URL and events of a webhook."""

    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        help_text=_("Must use HTTPS. Concord sends each event to it as JSON, signed with a secret."),
        widget=forms.URLInput,
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=lambda: [(key, f"{key}: {says}") for key, says in EVENTS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
