"""Adding and removing one's own second factor: allauth's pages, recorded in each project's audit log."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter
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
from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _

from annotate.core.page import request_user
from annotate.core.password_again import password_again
from annotate.people.account_changes import AccountChange, note_account_change
from annotate.people.second_factor import record_own_change
from annotate.people.sessions import device_of

# Errors of reading it; allauth handles only two of them.
# Passkeys that browsers send. An unreadable one is rejected like a wrong one.

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
