"""Which accounts' addresses are proven: a link that was mailed there was followed, or a provider vouches."""

from allauth.account.models import EmailAddress

from annotate.core.models import Invitation, User


def is_proven(user: User) -> bool:
    """Return whether this person has shown that they read mail at their account's address."""
    return bool(EmailAddress.objects.filter(user=user, email__iexact=user.email, verified=True).exists())


def mark_proven(user: User) -> None:
    """Keep that the account's present address is proven, and forget any other."""
    EmailAddress.objects.filter(user=user).delete()  # by which an old address could still sign in
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)


def was_invited(user: User) -> bool:
    """Return whether an admin named the account's address, and the account took that invitation."""
    return Invitation.objects.filter(email__iexact=user.email, accepted_by=user).exists()
