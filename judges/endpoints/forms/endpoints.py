"""Forms of an endpoint and its test call."""

import json
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django import forms
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from annotate.core.errors import InvalidValueError
from judges.core.models import Endpoint
from judges.core.specification import EndpointSpec, ModelPriceSpec
from judges.endpoints.commands import KEY_SUFFIX, LONGEST_KEY, refuse_key, refuse_other_variables
from judges.endpoints.dialects import DIALECTS

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

CALLS_PATHS = ("/chat/completions", "/messages", "/models")
SECRETS = ("key", "password")
KNOWN_SERVERS = (
    ("OpenAI", "https://api.openai.com/v1"),
    ("Azure OpenAI", "https://RESOURCE.openai.azure.com/openai/v1"),
    ("Anthropic", DIALECTS[Endpoint.Dialect.ANTHROPIC].usual_url),
    ("Gemini", DIALECTS[Endpoint.Dialect.GEMINI].usual_url),
    ("Gemini, OpenAI-compatible", "https://generativelanguage.googleapis.com/v1beta/openai"),
    ("OpenRouter", "https://openrouter.ai/api/v1"),
    ("Together", "https://api.together.xyz/v1"),
    ("vLLM, --port 8001", "http://127.0.0.1:8001/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("Ollama", "http://127.0.0.1:11434/v1"),
)
USUAL_URLS = {key: dialect.usual_url for key, dialect in DIALECTS.items()}
PRICES = ("input_price", "output_price", "cached_price")


def _price_field(label: "StrOrPromise", help_text: "StrOrPromise" = "") -> forms.DecimalField:
    return forms.DecimalField(
        label=label, required=False, min_value=0, max_digits=12, decimal_places=6, help_text=help_text
    )


class EndpointForm(forms.Form):
    """All settings of an endpoint; the form never shows an entered key."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"dir": "auto"}))
    dialect = forms.ChoiceField(
        label=_("Interface"),
        required=False,
        choices=Endpoint.Dialect.choices,
        widget=forms.Select(attrs={"data-fills": "base_url", "data-values": json.dumps(USUAL_URLS)}),
        help_text=_("How the server is called. Most servers are OpenAI-compatible."),
    )
    base_url = forms.CharField(
        label=_("Address"),
        required=False,
        max_length=300,
        widget=forms.TextInput(
            attrs={"inputmode": "url", "list": "known-servers", "placeholder": "https://api.openai.com/v1"}
        ),
        help_text=_(
            "The base URL of the interface. It usually ends in /v1. Leave it empty for Anthropic's or "
            "Gemini's own URL."
        ),
    )
    key = forms.CharField(
        label=_("API key"),
        required=False,
        max_length=LONGEST_KEY,
        # This widget never renders its value, so an invalid form does not return the key.
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_(
            "Concord stores it encrypted, sends it only to this server, and never shows it again."
            " Leave it empty to keep the current key, or if the server needs none."
        ),
    )
    password = forms.CharField(
        label=_("Your own password"),
        required=False,
        # Spaces at the ends may belong to a password.
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        help_text=_("Required to save a key, to protect your account on an unlocked computer."),
    )
    key_variable = forms.CharField(
        label=_("Variable with the key"),
        required=False,
        max_length=80,
        widget=forms.TextInput(attrs={"placeholder": f"OPENAI{KEY_SUFFIX}", "spellcheck": "false"}),
        help_text=_(
            "Instead of a key: the name of an environment variable that the operator allows "
            "for this server in CONCORD_ENVIRONMENT_KEYS."
        ),
    )
    input_price = _price_field(_("Price of a million input tokens"))
    output_price = _price_field(
        _("Price of a million output tokens"),
        _("Empty: as the price list says; without a price, budgets cannot be enforced. 0: free."),
    )
    cached_price = _price_field(
        _("Price of a million cached input tokens"),
        _("Where the server keeps the beginning of prompts for less. Empty: as other input tokens."),
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
    samples_in_one_call = forms.BooleanField(
        label=_("Ask for all samples of a judgment in one call"),
        required=False,
        help_text=_(
            "With n, you pay once for the prompt. If the server returns fewer replies, Concord "
            "requests the others individually."
        ),
    )
    timeout_seconds = forms.IntegerField(label=_("Timeout of a call in seconds"), min_value=1, max_value=3600)
    patience_minutes = forms.IntegerField(
        label=_("Minutes without an answer until runs stop"),
        required=False,
        min_value=1,
        max_value=1440,
        help_text=_("Until then Concord tries again and again. Empty: 15."),
    )
    resume_hours = forms.IntegerField(
        label=_("Hours in which stopped runs resume by themselves"),
        required=False,
        min_value=0,
        max_value=720,
        help_text=_("Once the server answers again. 0: never. Empty: 24."),
    )

    known_servers = KNOWN_SERVERS

    def __init__(self, *args: Any, password_is_due: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        if not password_is_due:
            # Not asked of a person who entered it recently, nor by the API.
            del self.fields["password"]

    @property
    def needs_password(self) -> bool:
        """Return True if the change requires the password."""
        return "password" in self.fields and bool(self.cleaned_data["key"])

    def refuse_password(self, problem: str) -> None:
        """Show why nothing was saved; the user must enter the key again, because the form never returns
        it.
        """
        self.add_error("password", problem)
        self.add_error("key", gettext("Nothing was saved yet. Enter the key again, with your password."))

    def clean_dialect(self) -> str:
        """Return the interface, by default the one that most servers have."""
        return self.cleaned_data["dialect"] or Endpoint.Dialect.OPENAI

    def clean_base_url(self) -> str:
        """Reject an invalid URL, or one that would put a key into the database."""
        url: str = self.cleaned_data["base_url"].rstrip("/")
        dialect = self.cleaned_data.get("dialect", Endpoint.Dialect.OPENAI)
        if not url and dialect != Endpoint.Dialect.OPENAI:  # that one is of many servers
            return DIALECTS[dialect].usual_url
        if not url:
            raise forms.ValidationError(self.fields["name"].error_messages["required"], code="required")
        try:
            parts = urlsplit(url)
            # A port beyond 65535 raises ValueError when it is read, and no server has port 0.
            known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            known = False
        if not known or any(character.isspace() for character in url):
            raise forms.ValidationError(gettext("Enter a valid URL, such as https://api.openai.com/v1."))
        # These parts may hold a key, and every reader of the project sees the URL.
        if parts.username is not None or parts.query or parts.fragment:
            raise forms.ValidationError(
                gettext(
                    "Leave user name, password and query out of the URL: everyone who can read "
                    "this project's judges sees it. Enter the key in its own field."
                )
            )
        # People paste the URL of calls; Concord adds these paths to the base URL itself.
        return next((url.removesuffix(each) for each in CALLS_PATHS if url.endswith(each)), url)

    @sensitive_variables()
    def clean_key(self) -> str:
        key: str = self.cleaned_data["key"]
        try:
            if key:
                refuse_key(key)
        except InvalidValueError as error:
            raise forms.ValidationError(error.message) from None
        return key

    def clean_key_variable(self) -> str:
        """Reject variables that are not for keys."""
        name: str = self.cleaned_data["key_variable"]
        try:
            refuse_other_variables(name)
        except InvalidValueError as error:
            raise forms.ValidationError(error.message) from None
        return name

    def to_spec(self) -> EndpointSpec:
        # Empty fields get the defaults of `EndpointSpec`, as their help says.
        usual = {name for name in ("patience_minutes", "resume_hours") if self.cleaned_data[name] is None}
        given = {name: value for name, value in self.cleaned_data.items() if name not in {*SECRETS, *usual}}
        return EndpointSpec(**given)


class ModelPriceForm(forms.Form):
    """The token prices of one model."""

    model = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"spellcheck": "false"}))
    input_price = _price_field(_("A million input tokens"))
    output_price = _price_field(
        _("A million output tokens"),
        _("Reasoning tokens count as output. Leave empty if unknown; 0 means that it is free."),
    )
    cached_price = _price_field(_("A million cached input tokens"), _("Empty: as other input tokens."))
    batch_share = forms.DecimalField(
        label=_("Share of the price in a batch"),
        required=False,
        min_value=0,
        max_value=1,
        max_digits=4,
        decimal_places=3,
        help_text=_("Empty: 0.5, half of the price."),
    )
    as_of = forms.DateField(
        label=_("As of"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("When you looked the price up. Empty: today."),
    )

    def to_spec(self) -> ModelPriceSpec:
        return ModelPriceSpec(
            **{**self.cleaned_data, "as_of": self.cleaned_data["as_of"] or timezone.localdate()}
        )


class TrialForm(forms.Form):
    """One call to an endpoint."""

    model = forms.CharField(
        max_length=120,
        widget=forms.TextInput(attrs={"list": "found-models", "spellcheck": "false"}),
        help_text=_("As the server calls it. On Azure it is the name of the deployment."),
    )
    message = forms.CharField(
        label=_("What to ask"), max_length=50_000, widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"})
    )


def initial_endpoint(endpoint: Endpoint | None) -> dict[str, Any]:
    if endpoint is None:
        return {each.name: each.default for each in fields(EndpointSpec) if each.default is not MISSING}
    values = {name: getattr(endpoint, name) for name in EndpointForm.base_fields if name not in SECRETS}
    prices = {name: values[name] for name in PRICES if values[name] is not None}
    # Without trailing zeros; the format prevents an exponent, as in 1E+1.
    return values | {name: f"{price.normalize():f}" for name, price in prices.items()}
