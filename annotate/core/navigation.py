"""The map of a project's pages: groups in the order of the work, with the pages that each role can open."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from annotate.core.models import Role

EVERYONE = frozenset(Role)
READERS = frozenset({Role.ADMIN, Role.RESEARCHER})
ADMINS = frozenset({Role.ADMIN})
ANNOTATORS = frozenset({Role.ANNOTATOR})


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
        names = [group.name for group in GROUPS]
        GROUPS.insert(names.index(new.before), Group(new.group, new.icon, list(new.pages)))
    elif not set(new.pages) <= set(found.pages):
        at = [page.name for page in found.pages].index(new.before)
        found.pages[at:at] = new.pages


@dataclass(frozen=True)
class _MapEntry:
    url: str
    group: str
    page: str = ""
    beside: str = ""


def navigation(path: str, slug: str, roles: frozenset[Role], *, hides: bool) -> Navigation:
    """Return the links of the page at a path. hides: omit pages that show the ratings of others.

    Annotators have few pages: each has a separate entry.
    """
    opened = [
        Group(each.name, each.icon, _allowed_pages(each.pages, roles, hides=hides), each.also)
        for each in GROUPS
    ]
    if not roles & READERS:
        opened = [Group(page.name, page.icon, [page]) for each in opened for page in each.pages]
    opened = [each for each in opened if each.pages]
    # The longest URL wins. A page that leads to several shares its URL with the first of these.
    entries = _map_entries(opened, slug, path)
    here = max(entries, key=lambda entry: (len(entry.url), bool(entry.beside)), default=_MapEntry("", ""))
    group = next((each for each in opened if each.name == here.group), None)
    pages = group.pages if group else []
    page = next((each for each in pages if each.name == here.page), None)
    beside = _allowed_pages(page.beside, roles, hides=hides) if page else []
    return Navigation(
        [Tab(gettext(each.name), _url(each.pages[0], slug), each is group, each.icon) for each in opened],
        [Tab(gettext(each.name), _url(each, slug), each is page) for each in pages if len(pages) > 1],
        [Tab(gettext(each.name), _url(each, slug), each.name == here.beside) for each in beside],
    )


def _allowed_pages(pages: Iterable[Page], roles: frozenset[Role], *, hides: bool) -> list[Page]:
    return [page for page in pages if page.who & roles and not (hides and page.tells)]


def _url(page: Page, slug: str) -> str:
    return reverse(page.route, args=[slug, *page.args])


def _map_entries(opened: Iterable[Group], slug: str, path: str) -> Iterable[_MapEntry]:
    """Yield the positions on the map that equal or contain a path."""
    for each in opened:
        name = each.name
        found = [_MapEntry(reverse(route, args=[slug]), name) for route in each.also]
        for page in each.pages:
            found.append(_MapEntry(_url(page, slug), name, page.name))
            found += [_MapEntry(reverse(route, args=[slug]), name, page.name) for route in page.also]
            found += [_MapEntry(_url(other, slug), name, page.name, other.name) for other in page.beside]
        yield from (entry for entry in found if path.startswith(entry.url))
