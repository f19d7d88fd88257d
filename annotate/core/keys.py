"""The keys of the rating page: their actions, and the predefined key sets.

Enter, Shift+Enter, the arrows, Escape and "?" always do as the page describes; users cannot change them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

DIGITS = "1234567890"
BACKSPACE = "Backspace"


class KeySet(models.TextChoices):
    USUAL = "usual", _("Usual: letters that stand for words")
    LEFT = "left", _("Left hand: the right one stays on the mouse")
    RIGHT = "right", _("Right hand: the left one stays on the mouse, values are typed on the number pad")


@dataclass(frozen=True)
class KeyAction:
    """An action with a key in each set; empty if a set has no key for it."""

    name: str
    label: str | Promise
    usual: str
    left: str
    right: str


UNDO = "undo"

ACTIONS = (
    KeyAction("evidence", _("mark the selection or the search result as evidence"), "e", "e", "o"),
    KeyAction("unmark", _("remove the last passage of the focused dimension"), BACKSPACE, "z", BACKSPACE),
    KeyAction(UNDO, _("undo the last value that you gave on this item"), "z", "y", "-"),
    KeyAction("unsure", _("unsure: the dimension just rated, else the focused one"), "u", "q", "u"),
    KeyAction("comment", _("comment on that dimension; Esc returns to rating"), "c", "c", "m"),
    KeyAction("cannot_rate", _("cannot rate that dimension"), "x", "x", "p"),
    KeyAction("step", _("one step up, on scales with steps such as half points"), ".", ".", "+"),
    KeyAction("not_applicable", _("not applicable, if the dimension has this answer"), "n", "v", "n"),
    KeyAction("keep", _("keep the answer of a dimension whose wording has changed"), "k", "r", "y"),
    KeyAction("find", _("find words in the document"), "/", "f", "/"),
    KeyAction("fold", _("fold or unfold all parts of the document"), "o", "b", "."),
    KeyAction("first_unrated", _("go to the first unrated item"), "g", "g", "h"),
    KeyAction("flagged", _("go to your flagged items"), "f", "t", ","),
    KeyAction("guideline", _("open the guidelines in another window"), "i", "", ""),
    KeyAction("next", _("next item, like Enter"), "", "d", "l"),
    KeyAction("back", _("item before, like Shift+Enter"), "", "a", "j"),
    KeyAction("down", _("next dimension, like the arrow"), "", "s", "k"),
    KeyAction("up", _("dimension before, like the arrow"), "", "w", "i"),
)


VALUES = "values"  # The name of the value keys among the names of actions.
NAMED = frozenset({BACKSPACE, "Delete"})
RESERVED = frozenset("? ")


def keys_of(key_set: str, own: Mapping[str, str]) -> dict[str, str]:
    """Return the key of each action: the person's own, else the key in the set.

    "Undo" is newer than the keys that people chose. It has no key if another action uses its key.
    """
    keys = _keys_with_conflicts(key_set, own)
    others = {key for name, key in keys.items() if name != UNDO} | set(values_of(own))
    return keys | ({UNDO: ""} if keys[UNDO] in others else {})


def _keys_with_conflicts(key_set: str, own: Mapping[str, str]) -> dict[str, str]:
    return {each.name: own.get(each.name) or getattr(each, key_set) for each in ACTIONS}


def values_of(own: Mapping[str, str]) -> str:
    """Return the ten keys of the values, in order: the person's own, and digits for the rest."""
    chosen = own.get(VALUES, "")
    return chosen + DIGITS[len(chosen) :]


def problems_of(key_set: str, own: Mapping[str, str]) -> dict[str, str]:
    """Return the reasons for which keys are invalid, by the name of the action; empty if all are valid."""
    found = {name: problem for name, key in own.items() if name != VALUES and (problem := _unusable(key))}
    if any(_unusable(key) for key in own.get(VALUES, "")):
        found[VALUES] = gettext("Write the characters of the keys, without blanks, and not “?”.")
    if found:
        return found
    taken = dict.fromkeys(values_of(own), VALUES)
    if len(taken) < len(DIGITS):
        return {VALUES: gettext("Each value needs its own key; the last ones use their digits.")}
    labels = {each.name: each.label for each in ACTIONS} | {VALUES: gettext("rate")}
    # The set's keys come first, so that the error names the action with the person's own key.
    for name, key in sorted(_keys_with_conflicts(key_set, own).items(), key=lambda each: each[0] in own):
        if key and key in taken:
            what = labels[taken[key]]
            sentence = gettext("“%(key)s” is the key of “%(what)s”. Choose another for one of them.")
            return {name: sentence % {"key": key, "what": what}}
        taken[key] = name
    return {}


def _unusable(key: str) -> str:
    if key in NAMED or (len(key) == 1 and key.isprintable() and key not in RESERVED):
        return ""
    return gettext(
        "Write one character that a single key types, or Backspace or Delete. “?” opens the help, and "
        "combinations with Ctrl, Alt or Cmd belong to the browser."
    )
