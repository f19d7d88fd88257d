"""A person's own account: invitation, sign-up, e-mail, sessions, API tokens, preferences."""

from allauth.account.adapter import get_adapter
from allauth.account.views import signup as allauth_signup
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language_from_request, gettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.api.tokens import make_token, revoke_token, tokens_of
from annotate.core.access import session_of_user, token_of_user
from annotate.core.errors import AddressLinkError, DomainError, InvitationUnusableError
from annotate.core.mails import mail_is_sent
from annotate.core.page import request_user
from annotate.core.password_again import ask_to_sign_in_again, password_again
from annotate.core.preferences import preferences_of
from annotate.people.commands import (
    accept_invitation,
    change_address,
    may_make_first_account,
    save_preferences,
)
from annotate.people.forms import AddressForm, FirstAccountForm, KeysForm, PreferencesForm, TokenForm
from annotate.people.invitations import (
    ADDRESS_IN_SESSION,
    INVITATION_IN_SESSION,
    change_token,
    invitation_of,
    proven_address,
    proven_change,
    proven_signup,
    send_change_link,
    send_signup_link,
    signed_invitation,
    signup_token,
    usable_invitation,
)
from annotate.people.own_data import data_as_json
from annotate.people.sessions import end_session, end_sessions, signed_in
from annotate.people.sign_in_limits import may_send_mail


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
@password_again
def address(request: HttpRequest) -> HttpResponse:
    """Show the account's e-mail. A POST mails a link to a new one; the old one stays until its confirmation.

    The page looks the same if the e-mail recently had several links: this is never revealed.
    """
    user = request_user(request)
    form = AddressForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and mail_is_sent():
        email = form.cleaned_data["email"]
        link = reverse("address_confirm", args=[change_token(user, email)])
        url = request.build_absolute_uri(link)
        if may_send_mail(request, email, purpose="new address"):
            send_change_link(user, email, url)
        return render(request, "people/address_sent.html", {"email": email})
    context = {"form": form, "mail_is_sent": mail_is_sent()}
    return render(request, "people/address.html", context, status=422 if form.is_bound else 200)


@never_cache
@login_required
@require_GET
def sign_in_again(request: HttpRequest) -> HttpResponse:
    return ask_to_sign_in_again(request, back=reverse("preferences"))


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def address_confirm(request: HttpRequest, token: str) -> HttpResponse:
    user = request_user(request)
    try:
        email = proven_change(user, token)
        if request.method == "GET":
            return render(request, "people/address_confirm.html", {"email": email})
        # Only a POST changes the e-mail: programs that open links of mails change nothing.
        email = change_address(user=user, token=token, session=request.session.session_key)
    except DomainError as error:
        return render(request, "people/address_unusable.html", {"error": error}, status=error.status)
    messages.success(request, gettext("Your e-mail is {email} now.").format(email=email))
    return redirect("address")


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def sessions(request: HttpRequest) -> HttpResponse:
    user, current = request_user(request), request.session.session_key
    if request.method == "POST":
        end_sessions(user=user, besides=current)
        messages.success(request, gettext("You are signed out everywhere else."))
        return redirect("sessions")
    found = signed_in(user, current)
    context = {"sessions": found, "others": [each for each in found if not each.is_this]}
    return render(request, "people/sessions.html", context)


@login_required
@require_POST
def session_end(request: HttpRequest, pk: int) -> HttpResponse:
    end_session(session=session_of_user(request.user, pk))
    messages.success(request, gettext("That device is signed out."))
    return redirect("sessions")


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
@password_again
def tokens(request: HttpRequest) -> HttpResponse:
    """List the person's tokens; a POST makes one and shows it this once."""
    user = request_user(request)
    form = TokenForm(request.POST if request.method == "POST" else None)
    made, secret = None, ""
    status = 422 if form.is_bound else 200
    if form.is_valid():
        name, scopes = form.cleaned_data["name"], form.cleaned_data["scopes"]
        # The database has only a hash of the secret, so no later page can show it.
        made, secret = make_token(user=user, name=name, scopes=scopes, lasts=form.lasts)
        form, status = TokenForm(), 200
    context = {"form": form, "tokens": tokens_of(user), "made": made, "secret": secret}
    return render(request, "people/tokens.html", context, status=status)


@login_required
@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    token = token_of_user(request.user, pk)
    revoke_token(token=token)
    messages.success(
        request,
        gettext("{token} is revoked: programs that use it have no access from now on.").format(token=token),
    )
    return redirect("tokens")


@login_required
@require_GET
def own_data(request: HttpRequest) -> StreamingHttpResponse:
    disposition = {"Content-Disposition": 'attachment; filename="concord-my-data.json"'}
    found = data_as_json(request_user(request))
    return StreamingHttpResponse(found, content_type="application/json", headers=disposition)


@login_required
@require_http_methods(["GET", "POST"])
def preferences(request: HttpRequest) -> HttpResponse:
    user = request_user(request)
    entered = request.POST if request.method == "POST" else None
    form = PreferencesForm(entered, instance=preferences_of(user))
    if form.is_valid():
        save_preferences(user=user, **form.to_preferences(request.build_absolute_uri("/").rstrip("/")))
        # As the next page finds its language: the cookie still has the one before this choice.
        request.COOKIES[settings.LANGUAGE_COOKIE_NAME] = form.cleaned_data["language"]
        with override(get_language_from_request(request)):
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
    # Only a path within Concord: a link could otherwise lead to another site.
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = ""
    if form.is_valid():
        save_preferences(user=user, **form.to_preferences())
        messages.success(request, gettext("Your keys are saved."))
        return redirect(back or "keys")
    context = {"form": form, "back": back}
    return render(request, "people/keys.html", context, status=422 if form.is_bound else 200)


@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    try:
        # Only a POST accepts: programs that open links of mails accept nothing.
        if request.method == "POST" and request.user.is_authenticated:
            membership = accept_invitation(token=token, user=request_user(request))
            return redirect("project", membership.project.slug)
        offer = usable_invitation(token)
    except InvitationUnusableError as error:
        return render(request, "people/invitation_unusable.html", {"error": error}, status=error.status)
    if not request.user.is_authenticated:
        # Remembered until the sign-up, which is on other pages.
        request.session[INVITATION_IN_SESSION] = token
    return render(request, "people/invitation.html", {"invitation": offer, "token": token})


@never_cache
@require_http_methods(["GET", "POST"])
def signup(request: HttpRequest) -> HttpResponse:
    """Create an account for a proven e-mail; without one, request an e-mail and mail a link to it."""
    offer = invitation_of(request.session)
    if (
        offer is None
        or request.user.is_authenticated
        or proven_address(request.session)
        or not mail_is_sent()
    ):
        response: HttpResponse = allauth_signup(request)
        return response
    form = AddressForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        email = form.cleaned_data["email"]
        link = reverse("signup_address", args=[signup_token(offer, email)])
        url = request.build_absolute_uri(link)
        if may_send_mail(request, email, purpose="new account"):
            send_signup_link(email, url)
        return render(request, "people/address_sent.html", {"email": email})
    return render(request, "people/signup_address.html", {"form": form}, status=422 if form.is_bound else 200)


@never_cache
@require_GET
def signup_address(request: HttpRequest, token: str) -> HttpResponse:
    """Continue a sign-up in any browser that opens the mailed link."""
    try:
        invitation, _ = proven_signup(token)
    except AddressLinkError as error:
        return render(request, "people/address_unusable.html", {"error": error}, status=error.status)
    # The mail may be opened in another browser, which has not seen the invitation.
    request.session[INVITATION_IN_SESSION] = signed_invitation(invitation)
    request.session[ADDRESS_IN_SESSION] = token
    return redirect("account_signup")


@never_cache
@require_http_methods(["GET", "POST"])
def first_account(request: HttpRequest, token: str) -> HttpResponse:
    """Create the first account of an installation by the URL printed in the terminal, and sign it in."""
    if not may_make_first_account(token):
        return render(request, "people/first_account_unusable.html", status=404)
    form = FirstAccountForm(request.POST or None)
    if form.is_valid():
        get_adapter(request).login(request, form.save())
        return redirect("projects")
    return render(request, "people/first_account.html", {"form": form}, status=422 if form.is_bound else 200)
