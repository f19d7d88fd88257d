"""A person's tokens of the API."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotate.access import token_of_user
from annotate.commands.tokens import make_token, revoke_token
from annotate.forms.tokens import TokenForm
from annotate.queries.tokens import tokens_of
from annotate.views.page import request_user


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List the person's tokens; a POST makes one and shows it this once."""
    user = request_user(request)
    form = TokenForm(request.POST if request.method == "POST" else None)
    made, secret = None, ""
    status = 422 if form.is_bound else 200
    if form.is_valid():
        name, scopes = form.cleaned_data["name"], form.cleaned_data["scopes"]
        made, secret = make_token(user=user, name=name, scopes=scopes, lasts=form.lasts)
        form, status = TokenForm(), 200
    context = {"form": form, "tokens": tokens_of(user), "made": made, "secret": secret}
    return render(request, "account/tokens.html", context, status=status)


@login_required
@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a token unusable."""
    token = token_of_user(request.user, pk)
    revoke_token(token=token)
    messages.success(
        request, gettext("{token} is revoked: what uses it is refused from now on.").format(token=token)
    )
    return redirect("tokens")
