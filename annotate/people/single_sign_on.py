"""Sign-in by a provider of OpenID Connect, and the account of an identity there.

Once an identity is known, only the provider's own identifier counts. Before that, only an e-mail verified by
the provider counts: see docs/decisions/0027-single-sign-on.md.
"""

import logging
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext

from annotate.api.tokens import revoke_tokens
from annotate.core.errors import SingleSignOnError
from annotate.core.models import Invitation, User
from annotate.people.acts import record_everywhere
from annotate.people.proven_addresses import is_proven, mark_proven, was_invited
from annotate.people.second_factor import remove_second_factor
from annotate.people.session import INVITATION_IN_SESSION, invitation_of
from annotate.people.sessions import end_sessions

logger = logging.getLogger(__name__)


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Signs in people with an account, and creates one if permitted; others see the reason."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find the account of a new identity, or reject it."""
        try:
            if sociallogin.state.get("process") != AuthProcess.LOGIN:
                raise SingleSignOnError(gettext("Start on the sign-in page."))
            if not sociallogin.is_existing:
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
        raise SingleSignOnError(
            gettext("{provider} has not verified your e-mail, so you cannot use it here.").format(
                provider=sociallogin.provider.name
            )
        )
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
    session.pop(INVITATION_IN_SESSION, None)
    if settings.SSO_ACCOUNTS != "anyone" and not _is_invited(email):
        raise SingleSignOnError(
            gettext(
                "{email} has no account here and no invitation. Open the invitation link that a project's "
                "admin sent you, or ask for one."
            ).format(email=email)
        )


def _is_invited(email: str) -> bool:
    open_ones = Invitation.objects.filter(accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now())
    # Lowered here, since databases disagree on letters beyond ASCII; the search only narrows it down.
    named = open_ones.filter(email__iexact=email).values_list("email", flat=True)
    return any(each.lower() == email for each in named)
