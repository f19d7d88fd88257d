"""Registry of the parts of admins' pages, including parts of other apps."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists

from annotate.core.models import Project


@dataclass(frozen=True)
class Need:
    """An open task of an admin: a message, and the page for it.

    is_urgent: whether it comes before all others, for example wrong values in use.
    """

    sentence: str
    url: str
    is_urgent: bool = False


@dataclass(frozen=True)
class OverviewSection:
    """A part of the overview: its template, and its context variable `section`."""

    template: str
    content: Any


@dataclass(frozen=True)
class Watched:
    """Another app's contribution to the pages of admins.

    work_waits: from now and `long_ago`, an expression that is True if the outer row's project has work that a
    worker should have claimed before `long_ago`. needs: the open tasks of a project's admin.
    section: a part of the project's overview, None if there is nothing to show.
    """

    work_waits: Callable[[datetime, datetime], Exists]
    needs: Callable[[Project], list[Need]]
    section: Callable[[Project], OverviewSection | None]


WATCHED: dict[str, Watched] = {}  # by the name of the app
