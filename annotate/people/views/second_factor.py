"""Turning one's own second factor on and off: allauth's pages, recorded in each project's audit log."""

from typing import Any

from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from django.db import transaction
from django.http import HttpResponse

from annotate.core.page import request_user
from annotate.people.second_factor import ADDED, REMOVED, record_own_change


class Activate(ActivateTOTPView):  # type: ignore[misc]
    """Sets the factor up, once a code of the app is right."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it, and record that."""
        response: HttpResponse = super().form_valid(form)
        record_own_change(request_user(self.request), ADDED)
        return response


class Deactivate(DeactivateTOTPView):  # type: ignore[misc]
    """Turns the factor off."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Forget it, and record that."""
        response: HttpResponse = super().form_valid(form)
        record_own_change(request_user(self.request), REMOVED)
        return response
