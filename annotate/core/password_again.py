"""Asking for the password again before what would let a stranger at an open computer stay."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from allauth.account.decorators import reauthentication_required

View = TypeVar("View", bound=Callable[..., Any])


def password_again(view: View) -> View:
    """Let a page be read, but ask who sends something for the password, unless it was given just now.

    What was sent is done when the password is right. Programs, which sign in by a token, are not asked.
    """
    return cast("View", reauthentication_required(allow_get=True)(view))
