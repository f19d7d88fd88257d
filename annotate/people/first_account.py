"""The first account of an installation: who reads the terminal it was started in makes it in the browser."""

from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.models import User
from annotate.people.proven_addresses import mark_proven

_FIRST = Signer(salt="concord.first-account")


def first_account_token() -> str:
    """Return what proves that somebody reads the terminal; it is of use while there is no account."""
    return _FIRST.sign("first").rpartition(":")[2]


def may_make_first_account(token: str) -> bool:
    """Return whether there is no account yet and the token is the terminal's."""
    try:
        _FIRST.unsign(f"first:{token}")
    except BadSignature:
        return False
    return not User.objects.exists()


@transaction.atomic
def make_first_account(*, name: str, email: str, password: str) -> User:
    """Make the account that runs the installation and begins projects; its address counts as proven.

    Raises InvalidValueError where there is an account already.
    """
    if User.objects.exists():
        raise InvalidValueError(gettext("There is an account already: sign in with it."))
    user = User.objects.create_superuser(email, password, name=name)
    mark_proven(user)
    return user
