"""The steps of the rounds, in order: effect, and message afterwards."""

from collections.abc import Callable

from django.utils.translation import gettext_noop

from annotate.core.models import Round
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_one, open_round_two

STEPS: dict[str, tuple[Callable[..., Round], str]] = {
    "open-1": (open_round_one, gettext_noop("Round I is open: annotators can rate.")),
    "close-1": (close_round_one, gettext_noop("Round I is closed and its disputes are open.")),
    "open-2": (open_round_two, gettext_noop("Round II is open: raters can discuss their disputes.")),
    "close-2": (close_round_two, gettext_noop("Round II is closed.")),
}
