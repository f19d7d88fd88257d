"""An endpoint, and what to try it with."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.errors import InvalidValueError
from judges.commands.endpoints import KEY_SUFFIX, refuse_other_variables
from judges.models import Endpoint
from judges.specification import EndpointSpec

CALLS_PATH = "/chat/completions"


class EndpointForm(forms.Form):
    """Everything about an endpoint but its key, which stays in the environment."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"dir": "auto"}))
    base_url = forms.CharField(
        label=_("Address"),
        max_length=300,
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "https://api.openai.com/v1"}),
        help_text=_("Where the OpenAI-compatible interface begins; it usually ends in /v1."),
    )
    key_variable = forms.CharField(
        label=_("Variable with the key"),
        required=False,
        max_length=80,
        widget=forms.TextInput(attrs={"placeholder": f"OPENAI{KEY_SUFFIX}", "spellcheck": "false"}),
        help_text=_(
            "The name of the environment variable, not the key itself. It must be set where the web "
            "server and the workers run. Empty for a server that wants no key."
        ),
    )
    input_price = forms.DecimalField(
        label=_("Price of a million input tokens"),
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=6,
    )
    output_price = forms.DecimalField(
        label=_("Price of a million output tokens"),
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=6,
        help_text=_("Empty: unknown, and then no budget can be kept. 0 for a server of your own."),
    )
    requests_per_minute = forms.IntegerField(required=False, min_value=1, max_value=10_000_000)
    tokens_per_minute = forms.IntegerField(
        required=False, min_value=1, max_value=2_000_000_000, help_text=_("Empty: no limit that you know of.")
    )
    calls_in_flight = forms.IntegerField(
        label=_("Calls at the same time"),
        min_value=1,
        max_value=1000,
        help_text=_("All workers together never have more calls open than this."),
    )
    timeout_seconds = forms.IntegerField(
        label=_("Seconds until a call is given up"), min_value=1, max_value=3600
    )

    def clean_base_url(self) -> str:
        """Refuse what is no address, and what would put a key into the database."""
        url: str = self.cleaned_data["base_url"].rstrip("/")
        try:
            parts = urlsplit(url)
            known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            known = False
        if not known or any(character.isspace() for character in url):
            raise forms.ValidationError(
                gettext("This is no address; it looks like https://api.openai.com/v1.")
            )
        if parts.username is not None or parts.query or parts.fragment:
            raise forms.ValidationError(
                gettext(
                    "An address has no user name, password or query here, because it is kept in the "
                    "database; put the key into an environment variable."
                )
            )
        return url.removesuffix(CALLS_PATH)

    def clean_key_variable(self) -> str:
        """Refuse variables that are not for keys."""
        name: str = self.cleaned_data["key_variable"]
        try:
            refuse_other_variables(name)
        except InvalidValueError as error:
            raise forms.ValidationError(error.message) from None
        return name

    def to_spec(self) -> EndpointSpec:
        """Return the checked input as what a command takes."""
        return EndpointSpec(**self.cleaned_data)


class TrialForm(forms.Form):
    """One call to an endpoint."""

    model = forms.CharField(
        max_length=120,
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
        help_text=_("As the server calls it. On Azure it is the name of the deployment."),
    )
    message = forms.CharField(
        label=_("What to ask"), max_length=50_000, widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"})
    )


def initial_of(endpoint: Endpoint | None) -> dict[str, Any]:
    """Return what the form starts with: the endpoint as it is, or usual values."""
    if endpoint is None:
        return {"timeout_seconds": 60, "calls_in_flight": 16}
    values = {name: getattr(endpoint, name) for name in EndpointForm.base_fields}
    prices = {name: values[name] for name in ("input_price", "output_price") if values[name] is not None}
    return values | {name: f"{price.normalize():f}" for name, price in prices.items()}
