"""Display preferences of a person."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language, gettext, override
from django.views.decorators.http import require_http_methods

from annotate.core.page import request_user
from annotate.core.preferences import preferences_of
from annotate.people.commands import save_preferences
from annotate.people.forms import KeysForm, PreferencesForm


@login_required
@require_http_methods(["GET", "POST"])
def preferences(request: HttpRequest) -> HttpResponse:
    user = request_user(request)
    entered = request.POST if request.method == "POST" else None
    form = PreferencesForm(entered, instance=preferences_of(user))
    if form.is_valid():
        save_preferences(user=user, **form.to_preferences(request.build_absolute_uri("/").rstrip("/")))
        with override(form.cleaned_data["language"] or get_language()):
            messages.success(
                request, gettext("Your preferences are saved, on every device on which you sign in.")
            )
        return redirect("preferences")
    status = 422 if form.is_bound else 200
    return render(request, "people/preferences.html", {"form": form}, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """Show and save the signed-in person's keys; then return to the previous rating page."""
    user = request_user(request)
    form = KeysForm(request.POST if request.method == "POST" else None, preferences=preferences_of(user))
    back = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = ""
    if form.is_valid():
        save_preferences(user=user, **form.to_preferences())
        messages.success(request, gettext("Your keys are saved."))
        return redirect(back or "keys")
    context = {"form": form, "back": back}
    return render(request, "people/keys.html", context, status=422 if form.is_bound else 200)
