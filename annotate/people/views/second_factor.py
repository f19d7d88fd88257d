"""Turning one's own second factor on and off: allauth's pages, recorded in each project's audit log."""

from typing import Any

from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from django.db import transaction
from django.http import HttpResponse
from django.utils.decorators import method_decorator

from annotate.core.page import request_user
from annotate.core.password_again import password_again
from annotate.people.second_factor import ADDED, REMOVED, record_own_change


@method_decorator(password_again, name="dispatch")
class Activate(ActivateTOTPView):  # type: ignore[misc]
    """Sets the factor up, once a code of the app is right."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it, and record that."""
        response: HttpResponse = super().form_valid(form)
        record_own_change(request_user(self.request), ADDED)
        return response


@method_decorator(password_again, name="dispatch")
class Deactivate(DeactivateTOTPView):  # type: ignore[misc]
    """Turns the factor off."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Forget it, and record that."""
        response: HttpResponse = super().form_valid(form)
        record_own_change(request_user(self.request), REMOVED)
        return response
