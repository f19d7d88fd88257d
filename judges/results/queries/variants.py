"""Judges of one model that are asked in different ways, and what differs between them."""

from collections.abc import Sequence
from itertools import combinations

from judges.core.judge_settings import BOUND_SETTINGS, BoundSetting
from judges.core.models import Judge

_SHORT = 30  # characters of a setting that are shown


def variants_of_models(judges: Sequence[Judge]) -> list[tuple[Judge, Judge]]:
    """Return every two judges of one model that give values to single texts, in the order they are given."""
    scoring = [judge for judge in judges if not (judge.asks_pairs or judge.asks_kinds) and judge.model]
    return [(one, other) for one, other in combinations(scoring, 2) if one.model == other.model]


def settings_that_differ(first: Judge, second: Judge) -> list[str]:
    """Return what two judges differ in, each setting as "name: first / second".

    The judges need their endpoints, templates and references.
    """
    return [
        f"{setting.label}: {_tell(setting, first, second)}"
        for setting in BOUND_SETTINGS
        # A prompt never changes, so its name tells its text.
        if setting.key != "prompt_digest" and setting.read(first) != setting.read(second)
    ]


def _tell(setting: BoundSetting, first: Judge, second: Judge) -> str:
    one, other = (_short(setting.describe(judge)) for judge in (first, second))
    return f"{one} / {other}" if one != other else "differs"


def _short(words: str) -> str:
    return words if len(words) <= _SHORT else f"{words[: _SHORT - 1]}…"
