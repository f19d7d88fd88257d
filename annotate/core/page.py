"""What every page of a project has in common: its name and the tabs that this person's roles open."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Value
from django.db.models.expressions import Combinable
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django_htmx.middleware import HtmxDetails

from annotate.core.access import places_of, rates_independently
from annotate.core.errors import DomainError
from annotate.core.models import Project, Role, User
from annotate.core.workers import worker_health

EVERYONE = frozenset(Role)
READERS = frozenset({Role.ADMIN, Role.RESEARCHER})
ADMINS = frozenset({Role.ADMIN})
ANNOTATORS = frozenset({Role.ANNOTATOR})
# Routes that tell what others gave.
RESULTS = frozenset({"audit", "exports", "quality", "results"})

# The name of a tab, the name of its route (which takes the project's slug), and who sees it.
TABS = [
    (gettext_noop("Overview"), "project", EVERYONE),
    (gettext_noop("Rate"), "rate", ANNOTATORS),
    (gettext_noop("My work"), "my_work", ANNOTATORS),
    (gettext_noop("Disputes"), "disputes", EVERYONE),
    (gettext_noop("Guidelines"), "guideline", ANNOTATORS),
    (gettext_noop("Results"), "results", READERS),
    (gettext_noop("Export"), "exports", READERS),
    (gettext_noop("Dimensions"), "dimensions", ADMINS),
    (gettext_noop("Import"), "imports", ADMINS),
    (gettext_noop("People"), "people", ADMINS),
    (gettext_noop("Quality"), "quality", ADMINS),
    (gettext_noop("Settings"), "settings", ADMINS),
    (gettext_noop("Audit log"), "audit", ADMINS),
]


class Request(HttpRequest):
    """A request as django-htmx passes it on."""

    htmx: HtmxDetails


@dataclass
class Frame:
    """What features put around every page of a project; they hand it over in `AppConfig.ready`.

    work_waits: an expression over rows with a project: whether it has work that no worker takes.
    setup: how far the set-up is, on the pages that belong to it; else None.
    """

    work_waits: Callable[[], Combinable]
    setup: Callable[[Project, str], object | None]


FRAME = Frame(work_waits=lambda: Value(value=False), setup=lambda _project, _route: None)


@dataclass(frozen=True)
class Tab:
    """A link in a project's navigation."""

    name: str
    url: str
    is_current: bool


def render_in_project(
    request: HttpRequest,
    project: Project,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """Render a page of a project with its navigation, and tell an admin when work waits and no worker comes.

    One query, which costs nothing more while nothing waits; one more on the pages of the set-up.
    """
    held = dict(places_of(request.user).filter(project=project).values_list("role", FRAME.work_waits()))
    roles = frozenset(Role(role) for role in held)
    frame = {
        "project": project,
        "tabs": tabs(request, project, roles),
        "worker_problem": worker_health().problem if held.get(Role.ADMIN) else "",
    }
    route = (request.resolver_match and request.resolver_match.url_name) or ""
    if Role.ADMIN in held:
        frame["setup"] = FRAME.setup(project, route)
    context = {**frame, **(context or {})}
    return render(request, template, context, status=status)


def tabs(request: HttpRequest, project: Project, roles: frozenset[Role]) -> list[Tab]:
    """Return the tabs that these roles in the project open, the current one marked."""
    both = Role.ANNOTATOR in roles and roles & READERS
    hidden = RESULTS if both and rates_independently(request.user, project) else ()
    shown = [(name, route) for name, route, who in TABS if roles & who and route not in hidden]
    links = [(name, reverse(route, args=[project.slug])) for name, route in shown]
    current = max((url for _, url in links if request.path.startswith(url)), key=len, default="")
    return [Tab(gettext(name), url, url == current) for name, url in links]


def request_user(request: HttpRequest) -> User:
    """Return the person who is signed in, for views that require it."""
    assert isinstance(request.user, User)
    return request.user


@contextmanager
def show_refusal(request: HttpRequest) -> Iterator[None]:
    """Let the next page say why what is done in this block was refused; the rest of the block is left out."""
    try:
        yield
    except DomainError as error:
        messages.error(request, error.message)
