"""The first account of an installation, created in the browser with a URL printed in the terminal."""

from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.models import User
from annotate.people.proven_addresses import mark_proven

_FIRST = Signer(salt="concord.first-account")


def first_account_token() -> str:
    """Return a token that proves access to the terminal; valid only without any account."""
    return _FIRST.sign("first").rpartition(":")[2]


def may_make_first_account(token: str) -> bool:
    """Return True if there is no account and the token is the terminal's."""
    try:
        _FIRST.unsign(f"first:{token}")
    except BadSignature:
        return False
    return not User.objects.exists()


@transaction.atomic
def make_first_account(*, name: str, email: str, password: str) -> User:
    """Create the account that runs the installation and can create projects; its e-mail counts as proven.

    Raises InvalidValueError if an account exists.
    """
    if User.objects.exists():
        raise InvalidValueError(gettext("There is an account already: sign in with it."))
    user = User.objects.create_superuser(email, password, name=name)
    mark_proven(user)
    return user
