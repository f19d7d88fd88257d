"""Accounts with a proven e-mail: the person followed a mailed link, or a provider verified it."""

from collections.abc import Iterable

from allauth.account.models import EmailAddress

from annotate.core.models import Invitation, User


def is_proven(user: User) -> bool:
    """Return True if this person has proven that they read mail at the account's e-mail."""
    return _is_among(
        user, EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    )


def mark_proven(user: User) -> None:
    """Store that the account's present e-mail is proven, and delete any other."""
    EmailAddress.objects.filter(user=user).delete()  # an old e-mail could still sign in
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)


def was_invited(user: User) -> bool:
    """Return True if an admin invited the account's e-mail, and the account accepted the invitation."""
    return _is_among(user, Invitation.objects.filter(accepted_by=user).values_list("email", flat=True))


def _is_among(user: User, addresses: Iterable[str]) -> bool:
    # Lower-cased here: PostgreSQL's iexact compares capitals, and the capital of a dotless i is I.
    return user.email.lower() in {each.lower() for each in addresses}
