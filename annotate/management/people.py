"""The person whom a command is about, by e-mail address."""

from django.core.management.base import CommandError

from annotate.core.models import User


def person_called(email: str | None) -> User | None:
    """Return the person, or nobody where none is named; raises CommandError for no account."""
    return None if email is None else account_called(email)


def account_called(email: str) -> User:
    """Return the person with this address; raises CommandError for no account."""
    found = User.objects.filter(email=email.strip().lower()).first()
    if found is None:
        raise CommandError(f"Nobody has an account with the address {email!r}.")
    return found
