"""Pages about people."""

from collections.abc import Callable

from allauth.account.views import signup as allauth_signup
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language, gettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.api.commands import make_token, revoke_token
from annotate.api.queries import tokens_of
from annotate.core.access import invitation_in, place_in, project_for_admin, session_of_user, token_of_user
from annotate.core.errors import (
    AddressLinkError,
    DomainError,
    InvalidValueError,
    InvitationUnusableError,
    MailError,
)
from annotate.core.models import Invitation, Membership, Role
from annotate.core.page import render_in_project, request_user, show_refusal
from annotate.core.password_again import password_again
from annotate.people.addresses import (
    change_token,
    proven_change,
    proven_signup,
    send_change_link,
    send_changed,
    send_signup_link,
    signup_token,
)
from annotate.people.commands import (
    accept_invitation,
    change_address,
    change_role,
    deactivate_member,
    invite,
    mark_sent,
    reactivate_member,
    save_preferences,
    withdraw_invitation,
)
from annotate.people.forms import (
    AddressForm,
    HandOverForm,
    InvitationForm,
    KeysForm,
    PreferencesForm,
    RoleForm,
    TokenForm,
)
from annotate.people.invitation_mail import mail_is_sent, send_invitation
from annotate.people.invitations import (
    invitation_token,
    refuse_unusable,
    signed_invitation,
    usable_invitation,
)
from annotate.people.preferences import preferences_of
from annotate.people.queries import Load, loads_of, other_annotators, people_of
from annotate.people.session import ADDRESS_IN_SESSION, INVITATION_IN_SESSION, invitation_of, proven_address
from annotate.people.sessions import end_session, end_sessions, signed_in
from annotate.people.sign_in_limits import may_send_mail
from annotate.rating.commands.reassignment import HandedOver, hand_over_work

# A project's people: their places, the links that invite to one, and the page behind such a link.


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """List a project's people and links; a POST makes a link."""
    project = project_for_admin(request.user, slug)
    form = InvitationForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        role, email = Role(form.cleaned_data["role"]), form.cleaned_data["email"]
        made = invite(project=project, by=request_user(request), role=role, email=email)
        if form.cleaned_data["send"]:
            _send(request, made)
        return _to_link(slug, made)
    context = {"form": form, "people": people_of(project), "mail_is_sent": mail_is_sent()}
    return render_in_project(
        request, project, "people/list.html", context, status=422 if form.is_bound else 200
    )


@login_required
@require_GET
def person(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show one person's place: role, load, and who could take over what is unfinished."""
    place = place_in(project_for_admin(request.user, slug), pk)
    return _person(request, place)


@login_required
@require_POST
def place_role(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Give a person another role."""
    place = place_in(project_for_admin(request.user, slug), pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _person(request, place, role_form=form)
    try:
        now = change_role(place=place, role=Role(form.cleaned_data["role"]))
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("person", slug, pk)
    if now.pk != pk:
        messages.success(
            request,
            gettext("{label} is {role} now; what they rated stays.").format(
                label=now.label, role=now.get_role_display()
            ),
        )
    return redirect("person", slug, now.pk) if now.user_id != request.user.pk else redirect("project", slug)


@login_required
@require_POST
def place_hand_over(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Hand an annotator's unfinished items to others."""
    place = place_in(project_for_admin(request.user, slug), pk)
    form = HandOverForm(request.POST, others=other_annotators(place))
    if not form.is_valid():
        return _person(request, place, hand_over_form=form)
    with show_refusal(request):
        messages.success(request, _handed_over(hand_over_work(place=place, to=form.receivers)))
    return redirect("person", slug, pk)


@login_required
@require_POST
def place_invite(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make a link that fills an empty place."""
    place = place_in(project_for_admin(request.user, slug), pk)
    try:
        made = invite(project=place.project, by=request_user(request), role=Role(place.role), place=place)
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("people", slug)
    return _to_link(slug, made)


@login_required
@require_POST
def place_change(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Close a place, or open it again."""
    place = place_in(project_for_admin(request.user, slug), pk)
    with show_refusal(request):
        if "reactivate" in request.POST:
            reactivate_member(place=place)
        else:
            deactivate_member(place=place)
    return redirect("people", slug)


@login_required
@require_POST
def invitation_withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make a link unusable."""
    withdraw_invitation(invitation=invitation_in(project_for_admin(request.user, slug), pk))
    messages.success(request, gettext("The invitation is withdrawn; its link no longer works."))
    return redirect("people", slug)


@login_required
@require_POST
def invitation_send(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Send a link to its address, for the first time or again."""
    offer = invitation_in(project_for_admin(request.user, slug), pk)
    try:
        _send(request, refuse_unusable(offer))
    except InvitationUnusableError as error:
        messages.error(request, error.message)
    return _to_link(slug, offer)


@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Say what a link offers; a signed-in person accepts it, others first sign in or make an account."""
    try:
        if request.method == "POST" and request.user.is_authenticated:
            place = accept_invitation(token=token, user=request_user(request))
            return redirect("project", place.project.slug)
        offer = usable_invitation(token)
    except InvitationUnusableError as error:
        return render(request, "people/invitation_unusable.html", {"error": error}, status=error.status)
    if not request.user.is_authenticated:
        request.session[INVITATION_IN_SESSION] = token
    return render(request, "people/invitation.html", {"invitation": offer, "token": token})


# The address of an account, and making one.


@never_cache
@require_http_methods(["GET", "POST"])
def signup(request: HttpRequest) -> HttpResponse:
    """Make an account for an address that is proven; where none is, ask for one and mail a link to it."""
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
        if _mail(request, email, lambda: send_signup_link(email, request.build_absolute_uri(link))):
            return render(request, "people/address_sent.html", {"email": email})
    return render(request, "people/signup_address.html", {"form": form}, status=422 if form.is_bound else 200)


@never_cache
@require_GET
def signup_address(request: HttpRequest, token: str) -> HttpResponse:
    """Go on with making an account, in whichever browser the mailed link is followed."""
    try:
        invitation, _ = proven_signup(token)
    except AddressLinkError as error:
        return render(request, "people/address_unusable.html", {"error": error}, status=error.status)
    request.session[INVITATION_IN_SESSION] = signed_invitation(invitation)
    request.session[ADDRESS_IN_SESSION] = token
    return redirect("account_signup")


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
@password_again
def address(request: HttpRequest) -> HttpResponse:
    """Show one's address; a POST mails a link to a new one, until whose confirmation the old one stays."""
    user = request_user(request)
    form = AddressForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and mail_is_sent():
        email = form.cleaned_data["email"]
        link = reverse("address_confirm", args=[change_token(user, email)])
        if _mail(request, email, lambda: send_change_link(email, request.build_absolute_uri(link))):
            return render(request, "people/address_sent.html", {"email": email})
    context = {"form": form, "mail_is_sent": mail_is_sent()}
    return render(request, "people/address.html", context, status=422 if form.is_bound else 200)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def address_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Ask who followed the link to confirm the address; a POST changes it and tells the old one."""
    user = request_user(request)
    try:
        email = proven_change(user, token)
        if request.method == "GET":
            return render(request, "people/address_confirm.html", {"email": email})
        before = change_address(user=user, token=token)
    except DomainError as error:
        return render(request, "people/address_unusable.html", {"error": error}, status=error.status)
    with show_refusal(request):
        send_changed(before, email)
    messages.success(request, gettext("Your address is {email} now.").format(email=email))
    return redirect("address")


def _mail(request: HttpRequest, email: str, send: Callable[[], None]) -> bool:
    """Send a link unless this address had several just now, and say whether a page may say so.

    The answer is the same where it had them: nobody learns it, and no mailbox is filled.
    """
    if may_send_mail(request, email):
        try:
            send()
        except MailError as error:
            messages.error(request, error.message)
            return False
    return True


def _send(request: HttpRequest, made: Invitation) -> None:
    link = request.build_absolute_uri(reverse("invitation", args=[invitation_token(made)]))
    try:
        if not (made.email and mail_is_sent()):
            raise InvalidValueError(
                gettext("This link has no address, or no mail server is configured: pass it on yourself.")
            )
        send_invitation(made, link)
    except DomainError as error:
        messages.error(request, error.message)
        return
    mark_sent(invitation=made)
    messages.success(request, gettext("The invitation was sent to {email}.").format(email=made.email))


def _person(
    request: HttpRequest,
    place: Membership,
    *,
    role_form: RoleForm | None = None,
    hand_over_form: HandOverForm | None = None,
) -> HttpResponse:
    context = {
        "place": place,
        "load": loads_of(place.project).get(place.pk, Load()),
        "role_form": role_form or RoleForm(initial={"role": place.role}),
        "hand_over_form": hand_over_form or HandOverForm(None, others=other_annotators(place)),
    }
    status = 422 if role_form or hand_over_form else 200
    return render_in_project(request, place.project, "people/person.html", context, status=status)


def _handed_over(work: HandedOver) -> str:
    if not work.given + work.freed:
        return "Nothing was unfinished, so nothing was handed over."
    parts = [f"{work.given} of {work.given + work.freed} unfinished items have another rater now"]
    if work.freed:
        parts.append(f"{work.freed} are free for whoever asks for work next")
    if work.begun:
        parts.append(
            f"{work.begun} had been begun: what was answered stays with its rater, the rest went along"
        )
    return "; ".join(parts) + "."


def _to_link(slug: str, made: Invitation) -> HttpResponse:
    return redirect(f"{reverse('people', args=[slug])}#invitation-{made.pk}")


# How a person wants to be shown things.


@login_required
@require_http_methods(["GET", "POST"])
def preferences(request: HttpRequest) -> HttpResponse:
    """Show and keep the preferences of who is signed in."""
    user = request_user(request)
    entered = request.POST if request.method == "POST" else None
    form = PreferencesForm(entered, instance=preferences_of(user))
    if form.is_valid():
        save_preferences(user=user, **form.chosen(request.build_absolute_uri("/").rstrip("/")))
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
    """Show and keep the keys of who is signed in; then back to the rating page that led here."""
    user = request_user(request)
    form = KeysForm(request.POST if request.method == "POST" else None, preferences=preferences_of(user))
    back = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = ""
    if form.is_valid():
        save_preferences(user=user, **form.chosen())
        messages.success(request, gettext("Your keys are saved."))
        return redirect(back or "keys")
    context = {"form": form, "back": back}
    return render(request, "people/keys.html", context, status=422 if form.is_bound else 200)


# Where a person is signed in.


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def sessions(request: HttpRequest) -> HttpResponse:
    """List where the person is signed in; a POST signs them out everywhere else."""
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
    """Sign the person out in one session."""
    end_session(session=session_of_user(request.user, pk))
    messages.success(request, gettext("That device is signed out."))
    return redirect("sessions")


# A person's tokens of the API.


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
        made, secret = make_token(user=user, name=name, scopes=scopes, lasts=form.lasts)
        form, status = TokenForm(), 200
    context = {"form": form, "tokens": tokens_of(user), "made": made, "secret": secret}
    return render(request, "people/tokens.html", context, status=status)


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
