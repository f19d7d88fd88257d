"""Password rules."""

from django.contrib.auth.password_validation import UserAttributeSimilarityValidator
from django.utils.translation import gettext


class UnlikeItsOwner(UserAttributeSimilarityValidator):
    """Rejects a password close to its owner's name or e-mail, or a part of these."""

    def __init__(self) -> None:
        super().__init__(user_attributes=("name", "email"))

    def get_error_message(self) -> str:
        return gettext("This password is too similar to your name or e-mail.")

    def get_help_text(self) -> str:
        return gettext("Your password cannot be similar to your name or e-mail.")
