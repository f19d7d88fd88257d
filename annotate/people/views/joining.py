"""The page of an invitation's link, and sign-up by it."""

from allauth.account.adapter import get_adapter
from allauth.account.views import signup as allauth_signup
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotate.core.errors import AddressLinkError, InvitationUnusableError
from annotate.core.mails import mail_is_sent
from annotate.core.page import request_user
from annotate.people.addresses import proven_signup, send_signup_link, signup_token
from annotate.people.commands import accept_invitation
from annotate.people.first_account import may_make_first_account
from annotate.people.forms import AddressForm, FirstAccountForm
from annotate.people.invitations import signed_invitation, usable_invitation
from annotate.people.session import ADDRESS_IN_SESSION, INVITATION_IN_SESSION, invitation_of, proven_address
from annotate.people.sign_in_limits import may_send_mail


@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    try:
        if request.method == "POST" and request.user.is_authenticated:
            membership = accept_invitation(token=token, user=request_user(request))
            return redirect("project", membership.project.slug)
        offer = usable_invitation(token)
    except InvitationUnusableError as error:
        return render(request, "people/invitation_unusable.html", {"error": error}, status=error.status)
    if not request.user.is_authenticated:
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
