"""Making an account."""

from allauth.account.forms import SignupForm as AllauthSignupForm
from django import forms
from django.utils.translation import gettext_lazy as _


class SignupForm(AllauthSignupForm):  # type: ignore[misc]
    """An account has a name beside its address and password."""

    name = forms.CharField(
        max_length=150,
        help_text=_("Admins of your projects see it; other annotators see a letter."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    field_order = ("name", "email", "password1", "password2")
