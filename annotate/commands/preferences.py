"""Keeping how a person wants to be shown things."""

from typing import Any

from annotate.models import Preferences, User


def save_preferences(*, user: User, **chosen: Any) -> None:
    """Keep what this person chose, and leave the rest as it is. Locks the person's row."""
    Preferences.objects.update_or_create(user=user, defaults=chosen)
