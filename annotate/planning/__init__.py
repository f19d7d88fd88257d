"""Assignment plans: who rates which item, decided before a round opens. Pure: no Django.

Items and annotators are numbered from 0. A plan keeps its promises exactly or is refused with the way out.
"""

from annotate.planning.dealing import balanced, everyone, sharing
from annotate.planning.lists import ListRefusedError, listed, read_list
from annotate.planning.plan import CannotBeMetError, Plan

__all__ = [
    "CannotBeMetError",
    "ListRefusedError",
    "Plan",
    "balanced",
    "everyone",
    "listed",
    "read_list",
    "sharing",
]
