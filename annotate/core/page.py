"""The map of the pages of a project, the frame of each page, and small parts of forms and URLs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import get_script_prefix, register_converter, reverse
from django.urls.converters import IntConverter, StringConverter
from django.utils.translation import gettext, gettext_noop
from django_htmx.middleware import HtmxDetails

from annotate.core.access import rates_independently
from annotate.core.errors import DomainError
from annotate.core.jobs import worker_health
from annotate.core.models import Project, Role, User
from annotate.fastpath.queries import NO_KEY

EVERYONE = frozenset(Role)
READERS = frozenset({Role.ADMIN, Role.RESEARCHER})
ADMINS = frozenset({Role.ADMIN})
ANNOTATORS = frozenset({Role.ANNOTATOR})
STAND_IN = "a-stand-in"  # the slug in cached URLs


@dataclass(frozen=True)
class Page:
    """A page of the map: its route has the project's slug and `args`.

    also: routes, without further arguments, of pages that belong to it. beside: pages that share its entry,
    shown as tabs. tells: True if it shows the answers of others, which are hidden from raters in an open
    Round I. icon: used when the page is a separate entry.
    """

    name: str
    route: str
    who: frozenset[Role]
    args: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    beside: tuple["Page", ...] = ()
    tells: bool = False
    icon: str = ""


@dataclass(frozen=True)
class Group:
    """An entry of the sidebar with its pages. also: routes of the group that belong to none of its pages."""

    name: str
    icon: str
    pages: list[Page]
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class NewPages:
    """Pages that an app adds before the given page; with an icon, a new group before the given group."""

    group: str
    pages: Sequence[Page]
    before: str
    icon: str = ""


GROUPS = [
    Group(
        gettext_noop("Overview"),
        "layout-dashboard",
        [Page(gettext_noop("Overview"), "project", EVERYONE, icon="layout-dashboard")],
    ),
    Group(
        gettext_noop("Rate"),
        "pencil",
        [
            Page(gettext_noop("Rate"), "rate", ANNOTATORS, also=("practice",), icon="pencil"),
            Page(gettext_noop("My work"), "my_work", ANNOTATORS, also=("how_rating_works",), icon="history"),
            Page(gettext_noop("Guidelines"), "guideline", ANNOTATORS, icon="file-text"),
        ],
    ),
    Group(
        gettext_noop("Items"),
        "list",
        [
            Page(gettext_noop("Items"), "items", READERS, tells=True),
            Page(gettext_noop("Import"), "imports", ADMINS),
            Page(gettext_noop("Additions"), "additions", READERS, tells=True),
            Page(gettext_noop("Gold items"), "gold", ADMINS),
        ],
    ),
    Group(
        gettext_noop("People"),
        "users",
        [
            Page(gettext_noop("People"), "people", ADMINS),
            Page(gettext_noop("Annotator quality"), "quality", ADMINS, tells=True),
            Page(gettext_noop("Calibration"), "calibration", ADMINS),
        ],
    ),
    Group(
        gettext_noop("Rounds"),
        "clock",
        [
            Page(gettext_noop("Round I progress"), "round_one", READERS),
            Page(gettext_noop("Disputes"), "disputes", EVERYONE, icon="message-square"),
            Page(gettext_noop("Adjudication"), "adjudicate", ADMINS, tells=True),
        ],
    ),
    Group(
        gettext_noop("Results"),
        "chart-column",
        [
            Page(gettext_noop("Results"), "results", READERS, also=("reproduction",), tells=True),
            Page(gettext_noop("Agreement"), "results_page", READERS, ("agreement",), tells=True),
            Page(gettext_noop("Systems"), "results_page", READERS, ("systems",), tells=True),
            Page(gettext_noop("Leaderboard"), "results_page", READERS, ("leaderboard",), tells=True),
            Page(gettext_noop("Disagreements"), "disagreements", READERS, tells=True),
            Page(gettext_noop("Export"), "exports", READERS, tells=True),
            Page(gettext_noop("Versions"), "versions", READERS, tells=True),
            Page(gettext_noop("Public page"), "public_leaderboard", ADMINS, tells=True),
            Page(gettext_noop("Submissions"), "submissions", ADMINS, tells=True),
        ],
    ),
    Group(
        gettext_noop("Settings"),
        "settings",
        [
            Page(gettext_noop("Settings"), "settings", ADMINS, also=("project_delete",)),
            Page(gettext_noop("Dimensions"), "dimensions", ADMINS, also=("comparisons", "item_parts")),
            Page(gettext_noop("Guideline versions"), "guideline_versions", ADMINS, also=("images",)),
            Page(gettext_noop("Assignment plan"), "plan", ADMINS),
            Page(gettext_noop("Dispute rules"), "dispute_rules", ADMINS),
            Page(gettext_noop("Template"), "as_template", ADMINS),
            Page(gettext_noop("Webhooks"), "webhooks", ADMINS),
            Page(gettext_noop("Audit log"), "audit", ADMINS, tells=True),
        ],
        also=("review",),
    ),
]


@dataclass(frozen=True)
class Tab:
    name: str
    url: str
    is_current: bool
    icon: str = ""


@dataclass(frozen=True)
class Navigation:
    """The links of a page: groups, the pages of the current group, and the tabs of the current page."""

    groups: Sequence[Tab] = ()
    pages: Sequence[Tab] = ()
    beside: Sequence[Tab] = ()


def add_pages(new: NewPages) -> None:
    """Add an app's pages to the map. Safe to run twice."""
    found = next((group for group in GROUPS if group.name == new.group), None)
    if found is None:
        # A new group, which the second call then finds with all its pages.
        names = [group.name for group in GROUPS]
        GROUPS.insert(names.index(new.before), Group(new.group, new.icon, list(new.pages)))
    elif not set(new.pages) <= set(found.pages):
        at = [page.name for page in found.pages].index(new.before)
        found.pages[at:at] = new.pages


def navigation(path: str, slug: str, roles: frozenset[Role], *, hides: bool) -> Navigation:
    """Return the links of the page at a path. hides: omit pages that show the ratings of others.

    Annotators have few pages: each has a separate entry.
    """
    # The entries that these roles may open, with their pages.
    opened = [
        Group(each.name, each.icon, _allowed_pages(each.pages, roles, hides=hides), each.also)
        for each in GROUPS
    ]
    if not roles & READERS:
        opened = [Group(page.name, page.icon, [page]) for each in opened for page in each.pages]
    opened = [each for each in opened if each.pages]
    # The longest URL wins. A page that leads to several shares its URL with the first of these.
    around = [each for each in _map_entries(opened, slug) if path.startswith(each[0])]
    nowhere = ("", None, None, None)
    _, group, page, tab = max(around, key=lambda entry: (len(entry[0]), bool(entry[3])), default=nowhere)
    pages = group.pages if group else []
    beside = _allowed_pages(page.beside, roles, hides=hides) if page else []
    return Navigation(
        [Tab(gettext(each.name), _url(each.pages[0], slug), each is group, each.icon) for each in opened],
        [Tab(gettext(each.name), _url(each, slug), each is page) for each in pages if len(pages) > 1],
        [Tab(gettext(each.name), _url(each, slug), each is tab) for each in beside],
    )


def _allowed_pages(pages: Iterable[Page], roles: frozenset[Role], *, hides: bool) -> list[Page]:
    return [page for page in pages if page.who & roles and not (hides and page.tells)]


def _url(page: Page, slug: str) -> str:
    return _link(page.route, slug, *page.args)


def _link(route: str, slug: str, *arguments: str) -> str:
    return _url_pattern(route, arguments, get_script_prefix()).replace(STAND_IN, slug)


@cache
def _url_pattern(route: str, arguments: tuple[str, ...], _prefix: str) -> str:
    """Return the URL of a route in the project STAND_IN. A page has dozens, and `reverse` is slow."""
    return reverse(route, args=[STAND_IN, *arguments])


def _map_entries(
    opened: Iterable[Group], slug: str
) -> Iterator[tuple[str, Group | None, Page | None, Page | None]]:
    """Yield each URL of the map with its group, its page, and its tab beside that page."""
    for group in opened:
        yield from ((_link(route, slug), group, None, None) for route in group.also)
        for page in group.pages:
            yield _url(page, slug), group, page, None
            yield from ((_link(route, slug), group, page, None) for route in page.also)
            yield from ((_url(tab, slug), group, page, tab) for tab in page.beside)


def chosen_values(form: forms.Form) -> dict[str, Any]:
    """Return the values of a filter that are valid and not empty; several values are a tuple."""
    form.is_valid()
    given = {name: value for name, value in form.cleaned_data.items() if value not in ("", None, [])}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


def query_of(chosen: Mapping[str, Any]) -> str:
    return urlencode(
        {name: value for name, value in chosen.items() if value not in ("", None, ())}, doseq=True
    )


class PositionConverter(IntConverter):
    """A position: a number that its column can hold; prepared statements take no others. Others: 404."""

    # The largest value of a PostgreSQL integer, the type of the columns that hold positions.
    LARGEST = 2**31 - 1

    regex = "[0-9]{1,10}"

    def to_python(self, value: str) -> int:
        """Return the number. Django treats a ValueError as an unknown URL."""
        number = int(value)
        if number > self.LARGEST:
            raise ValueError(value)
        return number


class ImageKeyConverter(StringConverter):
    """The key of an image. Others: 404, also a NUL character, which PostgreSQL compares with nothing."""

    regex = "[0-9a-z]+[.][a-z]+"


register_converter(PositionConverter, "position")
register_converter(ImageKeyConverter, "image")


def add_refusal(form: forms.Form, error: DomainError) -> int:
    """Attach a command's error to the form and the fields that it concerns; return the response status."""
    for field, message in error.fields.items():
        form.add_error(field if field in form.fields else None, message)
    if error.message not in error.fields.values():
        form.add_error(None, error.message)
    return error.status


class FormOutcome:
    """Attaches a rejection of the command in its block to a form.

    status: of the response, if the block does not return one: 200 for a page that is only shown.
    """

    def __init__(self, request: HttpRequest, form: forms.Form) -> None:
        self._form = form
        self.status = 422 if request.method == "POST" else 200

    def __enter__(self) -> "FormOutcome":
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, DomainError):
            self.status = add_refusal(self._form, error)
        # True suppresses the error, so the view continues after the block and renders the form with it.
        return isinstance(error, DomainError)


class MessageOutcome:
    """Shows on the next page why the command in its block was rejected."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, DomainError):
            messages.error(self._request, error.message)
        return isinstance(error, DomainError)


def offer_choices(form: forms.BaseForm, name: str, choices: Iterable[Any]) -> None:
    """Offer these choices in a field. They depend on the project and the user."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)


class Request(HttpRequest):
    """A request as django-htmx passes it on."""

    htmx: HtmxDetails


@dataclass
class Frame:
    """The content that features put around every page of a project, registered in `AppConfig.ready`.

    memberships: from the keys of a user and a project, one row for each role: `role`, `waits` (True if work
    waits for a worker), and `number`, `slug` and `name`: the number of an addition and its benchmark. setup:
    the state of the set-up, on the pages that belong to it; else None.
    """

    memberships: Callable[[int, int], list[dict[str, Any]]]
    setup: Callable[[Project, str], object | None]


# The core imports no feature. `AppConfig.ready` replaces these defaults.
FRAME = Frame(memberships=lambda _user, _project: [], setup=lambda _project, _route: None)


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
    rows = FRAME.memberships(request.user.pk or NO_KEY, project.pk)
    # A person can have several roles in a project, each with a row.
    held = {row["role"]: row["waits"] for row in rows}
    roles = frozenset(Role(role) for role in held)
    # Only readers have pages that show the ratings of others, so other people need no query.
    both = Role.ANNOTATOR in roles and bool(roles & READERS)
    hides = both and rates_independently(request.user, project)
    frame = {
        "project": project,
        "navigation": navigation(request.path, project.slug, roles, hides=hides),
        "worker_problem": worker_health().problem if held.get(Role.ADMIN) else "",
    }
    # The link leads to a page of the benchmark that only readers may open.
    if rows and rows[0]["number"] and roles & READERS:
        frame["addition_to"] = rows[0]
    route = (request.resolver_match and request.resolver_match.url_name) or ""
    if Role.ADMIN in held:
        frame["setup"] = FRAME.setup(project, route)
    context = {**frame, **(context or {})}
    return render(request, template, context, status=status)


def request_user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
