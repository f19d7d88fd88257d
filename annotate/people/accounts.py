"""Sign-in by password and by a provider of OpenID Connect, and the accounts that they make.

Once an identity is known, only the provider's own identifier counts. Before that, only an e-mail verified by
the provider counts: see docs/decisions/0027-single-sign-on.md.
"""

import logging
from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend
from allauth.core import context as allauth_context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.password_validation import UserAttributeSimilarityValidator
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sites.shortcuts import get_current_site
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.api.tokens import revoke_tokens
from annotate.core.audit import log_security
from annotate.core.errors import InvitationUnusableError, SingleSignOnError
from annotate.core.models import Invitation, User
from annotate.core.preferences import PERSON
from annotate.people.commands import accept_invitation
from annotate.people.invitations import (
    ADDRESS_IN_SESSION,
    INVITATION_IN_SESSION,
    invitation_of,
    is_proven,
    mailed_address,
    mark_proven,
    was_invited,
)
from annotate.people.mails import post_account_mail
from annotate.people.second_factor import record_everywhere, remove_second_factor
from annotate.people.sessions import SIGNED_IN_AT, end_sessions
from annotate.people.sign_in_limits import count_attempt, guess_counters, remember_device, take_back

logger = logging.getLogger(__name__)


class UnlikeItsOwner(UserAttributeSimilarityValidator):
    """Rejects a password close to its owner's name or e-mail, or a part of these."""

    def __init__(self) -> None:
        super().__init__(user_attributes=("name", "email"))

    def get_error_message(self) -> str:
        return gettext("This password is too similar to your name or e-mail.")

    def get_help_text(self) -> str:
        return gettext("Your password cannot be similar to your name or e-mail.")


class Backend(AuthenticationBackend):  # type: ignore[misc]
    def get_user(self, user_id: int) -> User | None:
        # Every request of a signed-in person runs this query, so it is a prepared one.
        user = PERSON.first(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Restricts sign-up to invited people, leads them to the invitation's project, and limits guessing."""

    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultAccountAdapter.error_messages,
        "too_many_login_attempts": _(
            "Too many wrong passwords. Try again in a few minutes, or get a link for a new password by mail."
        ),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return True if the session has an invitation that can still be accepted."""
        return invitation_of(request.session) is not None

    def is_email_verified(self, request: HttpRequest, email: str) -> bool:
        # A mailed link has proved this e-mail already, so allauth need not mail another one.
        return email.lower() == mailed_address(request.session)

    def save_user(self, request: HttpRequest, user: Any, form: Any, commit: bool = True) -> Any:
        user.name = form.cleaned_data.get("name", "")
        return super().save_user(request, user, form, commit)

    def post_login(self, request: HttpRequest, user: User, *, signup: bool, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, signup=signup, **kwargs)
        # Only a new account joins by itself; with an account, a person accepts on the invitation's page.
        if signup and INVITATION_IN_SESSION in request.session:
            response = join_project(request, user)
        remember_device(request, response, user.email)
        return response

    def login(self, request: HttpRequest, user: User) -> None:
        super().login(request, user)
        request.session[SIGNED_IN_AT] = timezone.now().timestamp()
        log_security("sign_in", user)

    def logout(self, request: HttpRequest) -> None:
        # Read first, because Django replaces the request's user by an anonymous one.
        user = request.user if isinstance(request.user, User) else None
        super().logout(request)
        log_security("sign_out", user)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Queue a mail of allauth, so that no request depends on a mail server."""
        site = get_current_site(allauth_context.request)
        message = self.render_mail(template_prefix, email, {"email": email, "current_site": site, **context})
        post_account_mail(
            user=context.get("user"), to=email, subject=str(message.subject), body=str(message.body)
        )

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a wrong password before the check, so that no concurrent attempt escapes the limit."""
        if not count_attempt(guess_counters(request, str(credentials.get("email", "")))):
            log_security("sign_in.too_many", None)
            raise self.validation_error("too_many_login_attempts")

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is None:  # not the input: it may be a password in the wrong field
            typed = str(credentials.get("email", "")).lower()
            log_security("sign_in.refused", User.objects.filter(email=typed).first())
        else:
            # Right passwords are free, so a class behind one address can sign in at once.
            take_back(guess_counters(request, str(credentials.get("email", ""))))
        return user


def join_project(request: HttpRequest, user: User) -> HttpResponse:
    """Accept the session's invitation and redirect to its project, or show why it cannot be accepted."""
    # The proof of the e-mail belonged to this sign-up and must serve no other.
    request.session.pop(ADDRESS_IN_SESSION, None)
    try:
        membership = accept_invitation(token=request.session.pop(INVITATION_IN_SESSION, ""), user=user)
    except InvitationUnusableError as error:
        messages.error(request, error.message)
        return redirect("projects")
    return redirect("project", membership.project.slug)


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Signs in people with an account, and creates one if permitted; others see the reason."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find the account of a new identity, or reject it."""
        try:
            # No identity is connected by hand: someone at an open computer could do it.
            if sociallogin.state.get("process") != AuthProcess.LOGIN:
                raise SingleSignOnError(gettext("Start on the sign-in page."))
            if not sociallogin.is_existing:
                # A new identity: only an e-mail that the provider has verified leads to an account.
                email = verified_address(sociallogin)
                # Exactly: PostgreSQL's iexact compares capitals, and the capital of a dotless i is I.
                user = User.objects.filter(email=email).first()
                if user is None:
                    refuse_uninvited(request.session, email)
                elif not user.is_active:
                    raise ImmediateHttpResponse(redirect("account_inactive"))
                else:
                    with transaction.atomic():
                        person = claim_account(user=user, provider=sociallogin.account.provider)
                        # In the same transaction: without the new identity, the earlier ways in must stay.
                        sociallogin.connect(request, person)
        except SingleSignOnError as error:
            logger.info("Single sign-on by %s is refused: %s", sociallogin.account.provider, error.message)
            refused = render(request, "people/single_sign_on_refused.html", {"error": error}, status=403)
            raise ImmediateHttpResponse(refused) from error

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:  # noqa: ARG002
        """Allow sign-up: `pre_social_login` has already rejected everyone else."""
        return True

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """Set the name, and the e-mail in lower case, as accounts store it."""
        user: User = super().populate_user(request, sociallogin, data)
        parts = (data.get("first_name"), data.get("last_name"))
        user.email = user.email.lower()
        user.name = str(data.get("name") or " ".join(part for part in parts if part))[:150]
        return user

    def on_authentication_error(
        self,
        request: HttpRequest,  # noqa: ARG002
        provider: Any,
        error: Any = None,
        exception: Any = None,
        extra_context: Any = None,  # noqa: ARG002
    ) -> None:
        """Log the reason, which the page does not show."""
        reason = exception and (exception.__cause__ or exception)
        logger.warning("Single sign-on by %s failed: %s %s", provider.sub_id, error, reason or "")


def verified_address(sociallogin: SocialLogin) -> str:
    """Return the e-mail verified by the provider. Raises SingleSignOnError without one."""
    # Only true: some providers send "false", which is not empty.
    verified = [each.email.lower() for each in sociallogin.email_addresses if each.verified is True]
    if not verified:
        sentence = gettext("{provider} has not verified your e-mail, so you cannot use it here.")
        raise SingleSignOnError(sentence.format(provider=sociallogin.provider.name))
    return str(verified[0])


@transaction.atomic
def claim_account(*, user: User, provider: str) -> User:
    """Sign the person who proved this e-mail by a provider in to its account; their projects' logs record it.

    An e-mail that was never proven here needs an invitation by an admin. Another person may have created that
    account, so all other ways in end. Locks the person's row. Raises SingleSignOnError.
    """
    person = User.objects.select_for_update().get(pk=user.pk)
    was_proven = is_proven(person)
    if not was_proven:
        if not was_invited(person):
            raise SingleSignOnError(
                gettext(
                    "An account uses this e-mail, but the owner never confirmed it. Get a link "
                    "under “Forgotten password?” to confirm it. From then on you can sign in this"
                    " way."
                )
            )
        # Another person may have made the account: all earlier ways in end.
        person.set_unusable_password()
        person.save(update_fields=["password"])
        end_sessions(user=person)
        revoke_tokens(user=person)
        remove_second_factor(user=person, by=person, note="A provider of sign-in proved the address.")
        mark_proven(person)
    record_everywhere(
        person, "person.single_sign_on", by=person, note="", provider=provider, address_was_proven=was_proven
    )
    return person


def refuse_uninvited(session: SessionBase, email: str) -> None:
    """Raise SingleSignOnError if the person may have no account; drop an invitation for another e-mail."""
    offer = invitation_of(session)
    if offer is not None and offer.email.lower() in ("", email):
        return
    # The invitation names another e-mail, so it must not serve this sign-up.
    session.pop(INVITATION_IN_SESSION, None)
    if settings.SSO_ACCOUNTS == "anyone":
        return
    # Lowered here, since databases disagree on letters beyond ASCII; the search only narrows it down.
    open_ones = Invitation.objects.filter(accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now())
    named = open_ones.filter(email__iexact=email).values_list("email", flat=True)
    if email not in map(str.lower, named):
        sentence = gettext(
            "{email} has no account here and no invitation. Open the invitation link that a project's "
            "admin sent you, or ask for one."
        )
        raise SingleSignOnError(sentence.format(email=email))
