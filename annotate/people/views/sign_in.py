"""One's own second factor, and redirects to and from a provider of OpenID Connect."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from time import time
from typing import Any
from urllib.parse import urlencode

from allauth.core import context
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.base.views import ReauthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal.auth import begin_authentication, begin_registration
from allauth.mfa.webauthn.views import AddWebAuthnView, ReauthenticateWebAuthnView, RemoveWebAuthnView
from allauth.socialaccount.adapter import get_adapter as get_social_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django import forms
from django.contrib import messages
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods
from requests import RequestException

from annotate.core.page import request_user
from annotate.core.password_again import PROVIDER_ASKED_AT, password_again
from annotate.people.mails import AccountChange, note_account_change
from annotate.people.second_factor import record_own_change
from annotate.people.sessions import device_of

# A code counts in its own period and in those before and after; allauth forgets a used one after one period.
# One period more, as the cache forgets a little early.
USABLE_SECONDS = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 2)


class TakenOnce:
    """Rejects a code that was used before."""

    def clean_code(self) -> str:
        """Return the code, or reject it. Of two simultaneous requests with the same code, one is accepted."""
        code: str = super().clean_code()  # type: ignore[misc]
        key = f"used-code-{self.user.pk}-{normalize_user_code(code)}"  # type: ignore[attr-defined]
        # `add` fails if the key exists, so of two requests at once only one stores it.
        if not cache.add(key, True, timeout=USABLE_SECONDS):
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(TakenOnce, AuthenticateForm):  # type: ignore[misc]
    """A code in addition to the password."""


class CodeAgainForm(TakenOnce, ReauthenticateForm):  # type: ignore[misc]
    """A code instead of re-entering the password."""


# What reading a passkey that a browser sent can raise; allauth handles only two of these errors.
UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error)


@contextmanager
def refuse_unreadable() -> Iterator[None]:
    """Raise ValidationError if the data is not a passkey response."""
    try:
        yield
    except UNREADABLE as error:
        raise get_adapter().validation_error("incorrect_code") from error


class PasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """The name of a new passkey. Each passkey signs in alone, so allauth's question about that is omitted."""

    name = forms.CharField(label=_("Name"), required=False, max_length=60)

    def __init__(self, *args: Any, **options: Any) -> None:
        agent = context.request.headers.get("User-Agent", "")
        super().__init__(*args, **{**options, "initial": {"name": device_of(agent)}})
        del self.fields["passwordless"]

    def clean(self) -> dict[str, Any]:
        with refuse_unreadable():
            values: dict[str, Any] = super().clean()
        return values


class CheckedAnswer:
    """The response of a registered passkey."""

    def clean_credential(self) -> Authenticator:
        """Return the account's authenticator, or reject the response."""
        with refuse_unreadable():
            return super().clean_credential()  # type: ignore[misc]


class PasskeyLoginForm(CheckedAnswer, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey instead of the password."""


class PasskeyFactorForm(CheckedAnswer, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey in addition to the password."""


class PasskeyAgainForm(CheckedAnswer, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey instead of re-entering the password."""


def _record(request: HttpRequest, change: AccountChange, kind: str) -> None:
    record_own_change(request_user(request), change, kind=kind, session=request.session.session_key)


@method_decorator(password_again, name="dispatch")
class Activate(ActivateTOTPView):  # type: ignore[misc]
    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        _record(self.request, AccountChange.FACTOR_ADDED, "codes of an app")
        return response


@method_decorator(password_again, name="dispatch")
class Deactivate(DeactivateTOTPView):  # type: ignore[misc]
    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        _record(self.request, AccountChange.FACTOR_REMOVED, "codes of an app")
        return response


@method_decorator(password_again, name="dispatch")
class AddPasskey(AddWebAuthnView):  # type: ignore[misc]
    """Adds a passkey that the device stores and unlocks, so that it can replace the password."""

    form_class = PasskeyForm

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        """Request a passkey that needs no separate account name."""
        context: dict[str, Any] = super().get_context_data(**options)
        context["js_data"] = begin_registration(request_user(self.request), passwordless=True)
        return context

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        _record(self.request, AccountChange.FACTOR_ADDED, f"passkey {form.cleaned_data['name']}")
        return response


@method_decorator(password_again, name="dispatch")
class RemovePasskey(RemoveWebAuthnView):  # type: ignore[misc]
    success_url = reverse_lazy("mfa_index")

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        name = self.get_object().wrap().name
        response: HttpResponse = super().form_valid(form)
        _record(self.request, AccountChange.FACTOR_REMOVED, f"passkey {name}")
        return response


@method_decorator(password_again, name="dispatch")
class MakeRecoveryCodes(GenerateRecoveryCodesView):  # type: ignore[misc]
    """Creates new recovery codes instead of the old ones."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        user, session = request_user(self.request), self.request.session.session_key
        note_account_change(user=user, change=AccountChange.CODES_MADE, session=session)
        return response


class CodeAgain(ReauthenticateView):  # type: ignore[misc]
    """Requires a code or a passkey instead of the password again."""

    template_name = "account/reauthenticate.html"


class PasskeyAgain(ReauthenticateWebAuthnView):  # type: ignore[misc]
    """Accepts a passkey instead of re-entering the password."""

    def get(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        """Return the challenge for the device to the page's script; redirect a person to the page."""
        if not request.accepts("text/html"):
            return JsonResponse({"request_options": begin_authentication(request_user(request))})
        return redirect(self.passthrough_next_url(reverse("account_reauthenticate")))

    def form_invalid(self, form: Any) -> HttpResponse:
        for each in form.errors.get("credential", []):
            messages.error(self.request, each)
        return redirect(self.passthrough_next_url(reverse("account_reauthenticate")))


# What the answers of a broken provider raise.
BROKEN_ANSWER = (ImproperlyConfigured, KeyError, TypeError, ValueError)

ASK_AGAIN = urlencode({"prompt": "login", "max_age": 0})


class CheckedTokens(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Checks more of a provider's response than allauth, and stores less."""

    signed_in_at: float | None = None  # when the person entered something there, as far as the provider says

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **options: Any
    ) -> SocialLogin:
        """Return the identity. Raises OAuth2Error."""
        # allauth skips the signature check for a token that it fetched itself over TLS. A proxy may end TLS
        # before the provider does, and fetching the keys takes one request.
        self.did_fetch_access_token = False
        try:
            login = super().complete_login(request, app, token, **options)
            claims = login.account.extra_data
            time_there = claims["id_token"].get("auth_time")
            if isinstance(time_there, int | float) and not isinstance(time_there, bool):
                self.signed_in_at = float(time_there)
            # Token and user information must be about the same person.
            subjects = {claims["id_token"]["sub"], *(each["sub"] for each in claims.values())}
        except BROKEN_ANSWER as error:
            raise OAuth2Error("The provider's answer cannot be read") from error
        if len(subjects) != 1:
            raise OAuth2Error("The provider's two answers are about different people")
        login.account.extra_data = {}  # names, groups, photos: not needed here
        return login


@never_cache
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Redirect to the provider, only from the button on the sign-in page: no other site can start it."""
    if request.method == "GET":
        return redirect("account_login")
    adapter = _adapter(request, provider_id)
    # A signed-in person comes from the page that requires the password again: an open session at the provider
    # proves nothing. The URL's value is replaced in any case.
    asked = request.GET.dict() | {"auth_params": ASK_AGAIN if request.user.is_authenticated else ""}
    request.GET = QueryDict(urlencode(asked))
    try:
        response: HttpResponse = OAuth2LoginView.adapter_view(adapter)(request)
    except (RequestException, *BROKEN_ANSWER) as error:
        response = render_authentication_error(request, adapter.get_provider(), exception=error)
    return response


@never_cache
@require_GET
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    adapter = _adapter(request, provider_id)
    try:
        response: HttpResponse = OAuth2CallbackView.adapter_view(adapter)(request)
        if request.user.is_authenticated and adapter.signed_in_at is not None:
            # With `min`, the fast clock of a provider cannot prolong the confirmation.
            request.session[PROVIDER_ASKED_AT] = min(adapter.signed_in_at, time())
    except (RequestException, *BROKEN_ANSWER) as error:
        response = render_authentication_error(request, adapter.get_provider(), exception=error)
    return response


def _adapter(request: HttpRequest, provider_id: str) -> CheckedTokens:
    # Not allauth's own look-up: it takes the word openid_connect for any of them.
    if provider_id not in {each.provider_id for each in get_social_adapter().list_apps(request)}:
        raise Http404
    return CheckedTokens(request, provider_id)
