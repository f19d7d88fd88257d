"""The frame of every page of a project: its name and the navigation for this person's roles."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Value
from django.db.models.expressions import Combinable
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.middleware import HtmxDetails

from annotate.core.access import memberships_of, rates_independently
from annotate.core.errors import DomainError
from annotate.core.models import Project, Role, User
from annotate.core.navigation import READERS, Navigation, navigation
from annotate.core.workers import worker_health


class Request(HttpRequest):
    """A request as django-htmx passes it on."""

    htmx: HtmxDetails


@dataclass
class Frame:
    """The content that features put around every page of a project, registered in `AppConfig.ready`.

    work_waits: an expression over rows with a project: True if it has work that no worker takes. setup: the
    state of the set-up, on the pages that belong to it; else None.
    """

    work_waits: Callable[[], Combinable]
    setup: Callable[[Project, str], object | None]


FRAME = Frame(work_waits=lambda: Value(value=False), setup=lambda _project, _route: None)


def render_in_project(
    request: HttpRequest,
    project: Project,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """Render a page of a project with its navigation, and warn an admin if work is pending without a worker.

    One query while no work is pending; one more on the pages of the set-up.
    """
    benchmark = [f"project__addition__{name}" for name in ("number", "benchmark__slug", "benchmark__name")]
    memberships = memberships_of(request.user).filter(project=project)
    rows = list(memberships.values_list("role", FRAME.work_waits(), *benchmark))
    held = {role: waits for role, waits, *_ in rows}
    roles = frozenset(Role(role) for role in held)
    frame = {
        "project": project,
        "navigation": navigation_of(request, project, roles),
        "worker_problem": worker_health().problem if held.get(Role.ADMIN) else "",
    }
    if rows and rows[0][2] and roles & READERS:
        frame["addition_to"] = dict(zip(("number", "slug", "name"), rows[0][2:], strict=True))
    route = (request.resolver_match and request.resolver_match.url_name) or ""
    if Role.ADMIN in held:
        frame["setup"] = FRAME.setup(project, route)
    context = {**frame, **(context or {})}
    return render(request, template, context, status=status)


def navigation_of(request: HttpRequest, project: Project, roles: frozenset[Role]) -> Navigation:
    both = Role.ANNOTATOR in roles and bool(roles & READERS)
    hides = both and rates_independently(request.user, project)
    return navigation(request.path, project.slug, roles, hides=hides)


def request_user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@contextmanager
def show_refusal(request: HttpRequest) -> Iterator[None]:
    """Let the next page show the reason if an action in this block is rejected.

    The rest of the block is skipped.
    """
    try:
        yield
    except DomainError as error:
        messages.error(request, error.message)
