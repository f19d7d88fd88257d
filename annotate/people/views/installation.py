"""Pages of operators (Django's staff): the installation's people, and blocking them."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import person_for_operator, refuse_all_but_operators
from annotate.core.models import User
from annotate.core.page import MessageOutcome, request_user
from annotate.core.password_again import password_again
from annotate.people.installation import (
    MOST_SHOWN,
    access_of,
    block_person,
    erase_person,
    is_erased,
    people_of_installation,
    unblock_person,
)
from annotate.people.second_factor import remove_second_factor

View = Callable[..., HttpResponse]
# By the value of the button, with the message shown afterwards.
CHANGES: dict[str, tuple[Callable[..., object], str]] = {
    "unblock": (unblock_person, gettext_noop("{name} can sign in again.")),
    "remove_factor": (remove_second_factor, gettext_noop("{name} signs in without a second factor now.")),
    "block": (block_person, gettext_noop("{name} is blocked.")),
}


class _ReasonedForm(forms.Form):
    note = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=500,
        help_text=_("Stored in the audit log of each of their projects."),
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )


class ChangeForm(_ReasonedForm):
    change = forms.ChoiceField(choices=[(name, name) for name in CHANGES], widget=forms.HiddenInput)


class EraseForm(_ReasonedForm):
    """Erasure, confirmed by the person's e-mail, and the reason."""

    email = forms.CharField(
        label=_("E-mail, to confirm"),
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "ltr"}),
    )
    field_order = ("email", "note")

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_email(self) -> str:
        """Reject an e-mail different from the person's."""
        email: str = self.cleaned_data["email"].strip()
        if email.casefold() != self.person.email.casefold():
            raise forms.ValidationError(gettext("The e-mail does not match; no data was erased."))
        return email


def operators_only(view: View) -> View:
    """Hide the page from other users, without first requiring their password."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        refuse_all_but_operators(request.user)
        return view(request, *args, **kwargs)

    return inner


@never_cache
@login_required
@operators_only
@require_GET
def people(request: HttpRequest) -> HttpResponse:
    word = request.GET.get("q", "").replace("\x00", "").strip()  # PostgreSQL takes no NUL
    found = people_of_installation(word)
    context = {"people": found[:MOST_SHOWN], "word": word, "more": len(found) > MOST_SHOWN}
    return render(request, "people/installation.html", context)


@never_cache
@login_required
@operators_only
@require_http_methods(["GET", "POST"])
@password_again
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a person's access; a POST blocks or unblocks them."""
    found = person_for_operator(request.user, pk)
    form = ChangeForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _person_page(request, found, form, EraseForm(person=found))
    change, said = CHANGES[form.cleaned_data["change"]]
    with MessageOutcome(request):
        change(user=found, by=request_user(request), note=form.cleaned_data["note"])
        messages.success(request, gettext(said).format(name=found))
    return redirect("installation_person", pk)


@never_cache
@login_required
@operators_only
@require_POST
@password_again
def erase(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a person's name, e-mail and sign-in methods; their ratings stay under a pseudonym."""
    found = person_for_operator(request.user, pk)
    form = EraseForm(request.POST, person=found)
    if not form.is_valid():
        return _person_page(request, found, ChangeForm(), form)
    with MessageOutcome(request):
        erase_person(user=found, by=request_user(request), note=form.cleaned_data["note"])
        messages.success(request, gettext("This person is erased; their ratings stay under a pseudonym."))
    return redirect("installation_person", pk)


def _person_page(request: HttpRequest, found: User, form: ChangeForm, erase_form: EraseForm) -> HttpResponse:
    is_refused = form.is_bound or erase_form.is_bound
    context = {
        "person": found,
        "access": access_of(found),
        "form": form,
        "erase_form": erase_form,
        "is_erased": is_erased(found),
    }
    return render(request, "people/installation_person.html", context, status=422 if is_refused else 200)
