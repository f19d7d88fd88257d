"""The subject of a command: a person by e-mail."""

from django.core.management.base import CommandError

from annotate.core.models import User


def person_called(email: str | None) -> User | None:
    """Return the person, None without an e-mail. Raises CommandError if no account has it."""
    return None if email is None else account_called(email)


def account_called(email: str) -> User:
    """Return the person with this e-mail. Raises CommandError if no account has it."""
    found = User.objects.filter(email=email.strip().lower()).first()
    if found is None:
        raise CommandError(f"Nobody has an account with the address {email!r}.")
    return found
