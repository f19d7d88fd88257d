"""What the pages of an admin watch, and how other apps add to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists

from annotate.core.models import Project


@dataclass(frozen=True)
class Need:
    """Something that waits for an admin: a sentence, and the page where it is done.

    is_urgent: whether it comes before all others, as wrong values that are in use do.
    """

    sentence: str
    url: str
    is_urgent: bool = False


@dataclass(frozen=True)
class OverviewSection:
    """A part of the overview: the template that shows it, and what it is given as `section`."""

    template: str
    content: Any


@dataclass(frozen=True)
class Watched:
    """What another app lets admins watch.

    work_waits: whether the outer row's project has work that no worker has taken, though one should have.
    needs: what waits for an admin of a project.
    section: a part of the project's overview, None where there is nothing to show.
    """

    work_waits: Callable[[], Exists]
    needs: Callable[[Project], list[Need]]
    section: Callable[[Project], OverviewSection | None]


WATCHED: dict[str, Watched] = {}  # by the name of the app
