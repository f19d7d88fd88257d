"""gettext for packages that do not import Django; the app passes Django's functions to them.

Without the app, as in the child process that decodes files, messages are in English.
"""

from collections.abc import Callable


def _counted_in_english(singular: str, plural: str, number: int) -> str:
    return singular if number == 1 else plural


_one: Callable[[str], str] = str
_counted: Callable[[str, str, int], str] = _counted_in_english


def translate_with(one: Callable[[str], str], counted: Callable[[str, str, int], str]) -> None:
    """Use these functions from now on: for a message, and for one with a singular and a plural."""
    global _one, _counted
    _one, _counted = one, counted


def gettext(message: str) -> str:
    return _one(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    return _counted(singular, plural, number)


def gettext_noop(message: str) -> str:
    """Return the message unchanged: marked for translation, by `gettext` when it is used."""
    return message
