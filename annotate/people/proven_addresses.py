"""Which accounts' addresses are proven: a link that was mailed there was followed, or a provider vouches."""

from collections.abc import Iterable

from allauth.account.models import EmailAddress

from annotate.core.models import Invitation, User


def is_proven(user: User) -> bool:
    """Return whether this person has shown that they read mail at their account's address."""
    return _is_among(
        user, EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    )


def mark_proven(user: User) -> None:
    """Keep that the account's present address is proven, and forget any other."""
    EmailAddress.objects.filter(user=user).delete()  # by which an old address could still sign in
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)


def was_invited(user: User) -> bool:
    """Return whether an admin named the account's address, and the account took that invitation."""
    return _is_among(user, Invitation.objects.filter(accepted_by=user).values_list("email", flat=True))


def _is_among(user: User, addresses: Iterable[str]) -> bool:
    # Lowered here: PostgreSQL's iexact compares capitals, and that of a dotless i is I.
    return user.email.lower() in {each.lower() for each in addresses}
