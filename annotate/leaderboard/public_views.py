"""Public pages of benchmarks: read-only, without an account, a session or a cookie."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from hashlib import sha256
from typing import Any
from urllib.parse import quote as _quote

from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe
from rest_framework.throttling import SimpleRateThrottle

from annotate.core.audit import digest_of
from annotate.core.errors import DomainError
from annotate.core.mails import mail_is_sent
from annotate.core.models import Item, PublicLeaderboard, Version
from annotate.core.page import add_refusal
from annotate.core.responses import content_policy
from annotate.core.strings import read_number
from annotate.core.version import VERSION
from annotate.exports.citation import Card, bibtex
from annotate.leaderboard.commands import LARGEST, TooManySubmissionsError, submit_outputs
from annotate.leaderboard.forms import SubmissionForm
from annotate.leaderboard.queries import documents_with_outputs
from annotate.leaderboard.results import board_table, explain, values_table
from annotate.leaderboard.standings import Board, Leaderboard
from annotate.results.shown import Link
from annotate.results.table import ColumnKind, Table
from annotate.results.text import comma_separated, interval, number

DOCUMENTS_ON_A_PAGE = 200
SEVERITY = "severity_correction"


def public_leaderboard(key: str) -> "PublicPage | None":
    """Return the public page with this key, None unless it is public and has a version. Two queries."""
    shown = PublicLeaderboard.objects.filter(key=key, is_public=True).select_related("project").first()
    if shown is None:
        return None
    version = Version.objects.filter(project=shown.project_id).select_related("export").first()
    return PublicPage(shown, version) if version else None


@dataclass(frozen=True)
class ShownRow:
    """A row of the table: a system, and its cells as strings with the value that sorts them."""

    system: str
    cells: Sequence[tuple[str, object, str]]


class PublicPage:
    def __init__(self, shown: PublicLeaderboard, version: Version) -> None:
        self.settings, self.version = shown, version
        self.project = shown.project

    @cached_property
    def leaderboard(self) -> Leaderboard:
        return Leaderboard.from_dict(self.version.leaderboard)

    @property
    def etag(self) -> str:
        chosen = self.settings
        parts = [
            # The version of Concord too, because it may show the same standings in another way.
            *(VERSION, self.version.content_hash, self.version.number, self.version.changelog),
            *(self.project.name, chosen.shows_texts, chosen.shows_effort, chosen.takes_submissions),
            chosen.introduction,
            *self.metadata_names,
        ]
        return f'"{digest_of(repr(parts))[:32]}"'

    @property
    def metadata_names(self) -> Sequence[str]:
        return [str(name) for name in self.settings.metadata_names]

    def board(self, given: Mapping[str, str]) -> Board | None:
        boards = self.leaderboard.boards
        return self.leaderboard.board(given.get("dimension", "")) or (boards[0] if boards else None)

    def metadata(self, given: Mapping[str, str], board: Board) -> str:
        """Return the chosen metadata; empty if the page does not show it."""
        name = given.get("metadata", "")
        return name if name in self.metadata_names and name in board.values else ""

    def table(self, given: Mapping[str, str]) -> Table | None:
        board = self.board(given)
        if board is None:
            return None
        return self._table(board, self.metadata(given, board))

    def _table(self, board: Board, name: str) -> Table:
        if name:
            return values_table(board, name)
        table = board_table(board)
        left_out = () if self.settings.shows_effort else (SEVERITY,)
        return table.select([column.key for column in table.columns if column.key not in left_out])

    def context(self, given: Mapping[str, str], site: str) -> dict[str, Any]:
        """Return the context of the templates. site: the URL of the installation, without a path."""
        board = self.board(given)
        name = self.metadata(given, board) if board else ""
        return {
            "page": self,
            "currency": settings.CURRENCY,
            "board": board,
            "says": explain(board) if board else "",
            "metadata": name,
            **(self._cells(_drop_empty_addition_columns(self._table(board, name))) if board else {}),
            "dimension_links": self._links(board, name) if board else (),
            "metadata_links": self._metadata_links(board, name) if board else (),
            "query": f"?dimension={board.key}" if board else "",
            "citation": self._citation(site),
        }

    def _cells(self, table: Table) -> dict[str, Any]:
        """Return the template's context for a table; a cell has its content, its sort value, and a reason."""
        found = []
        for row in table.rows:
            cells: list[tuple[str, object, str]] = []
            for cell, column in zip(row[1:], table.columns[1:], strict=True):
                if isinstance(cell.value, str) or cell.value is None:
                    cells.append((cell.value or "–", "", cell.reason))
                else:
                    ends = interval(cell, column) if cell.low is not None else ""
                    shown = f"{number(cell.value, column)} {ends}".strip()
                    cells.append((shown, cell.value, cell.interval_reason))
            found.append(ShownRow(str(row[0].value), cells))
        reasons = [reason for row in found for _, _, reason in row.cells if reason]
        return {
            "title": table.title,
            "heads": [(column.name, column.kind is not ColumnKind.TEXT) for column in table.columns],
            "rows": found,
            "reasons": list(dict.fromkeys(reasons)),
        }

    def _links(self, board: Board, name: str) -> list[Link]:
        more = f"&metadata={_quote(name)}" if name else ""
        return [
            Link(each.name, f"?dimension={_quote(each.key)}{more}", each is board)
            for each in self.leaderboard.boards
        ]

    def _metadata_links(self, board: Board, name: str) -> list[Link]:
        names = [each for each in self.metadata_names if each in board.values]
        start = f"?dimension={_quote(board.key)}"
        return [Link(each, f"{start}&metadata={_quote(each)}", each == name) for each in names]

    def _citation(self, site: str) -> str:
        card = Card.from_dict(self.version.export.card if self.version.export else {})
        name = f"{self.project.name}, version {self.version.number}"
        address = site + reverse("public_page", args=[self.settings.key])
        found = bibtex(self.project.slug, name, card, self.version.created_at)
        year = f"{self.version.created_at:%Y}"
        return found or f"{name} ({year}). {address}"

    def to_dict(self) -> dict[str, Any]:
        """Return all boards as plain values for JSON, without hidden content."""
        found = self.leaderboard.to_dict()
        for board in found["boards"]:
            board["values"] = {
                name: own for name, own in board["values"].items() if name in self.metadata_names
            }
        if not self.settings.shows_effort:
            _leave_out_effort(found)
        return {
            "name": self.project.name,
            "version": self.version.number,
            "date": self.version.created_at.date().isoformat(),
            "changelog": self.version.changelog,
            "content_hash": self.version.content_hash,
            **found,
        }

    def documents(self, number: int) -> tuple[list[dict[str, Any]], bool]:
        """Return a page of documents, from 1, and True if there are more. Up to two queries.

        Contains keys and titles; sources and outputs only if they are released. Gold items are excluded.
        """
        listed = documents_with_outputs(self.project)
        start = (number - 1) * DOCUMENTS_ON_A_PAGE
        if not self.settings.shows_texts:
            # One more than a page shows whether another page follows.
            rows = list(listed.values("key", "title")[start : start + DOCUMENTS_ON_A_PAGE + 1])
            return [dict(each) for each in rows[:DOCUMENTS_ON_A_PAGE]], len(rows) > DOCUMENTS_ON_A_PAGE
        documents = list(listed[start : start + DOCUMENTS_ON_A_PAGE + 1])
        shown = documents[:DOCUMENTS_ON_A_PAGE]
        outputs: dict[int, dict[str, str]] = {}
        items = Item.objects.filter(document__in=shown, kind=Item.Kind.OUTPUT, gold=None).order_by("pk")
        for document, system, text in items.values_list("document", "system__name", "text"):
            outputs.setdefault(document, {})[system] = text
        found = [
            {"key": each.key, "title": each.title, "parts": each.parts, "outputs": outputs.get(each.pk, {})}
            for each in shown
        ]
        return found, len(documents) > DOCUMENTS_ON_A_PAGE


def _drop_empty_addition_columns(table: Table) -> Table:
    """Return a table without the columns about additions if no system comes from one."""
    about = ("addition", SEVERITY)
    return table.select(
        [
            column.key
            for index, column in enumerate(table.columns)
            if column.key not in about or any(row[index].value is not None for row in table.rows)
        ]
    )


def _leave_out_effort(found: dict[str, Any]) -> None:
    for part in found["parts"]:
        for name in ("raters", "hours", "money"):
            del part[name]
    for board in found["boards"]:
        shown = [
            board["systems"],
            *(own for by_value in board["values"].values() for own in by_value.values()),
        ]
        for system in (each for systems in shown for each in systems):
            del system[SEVERITY]


MORE_IN_FORM = 1024**2  # Bytes in addition to the file.
FRESH = 300  # seconds for which caches need not ask
View = Callable[..., HttpResponse]


class PublicThrottle(SimpleRateThrottle):
    """Counts the requests of an IP in each process, because a GET writes nothing into the database."""

    scope = "public"
    rate = "120/min"
    cache = caches["process"]

    def get_cache_key(self, request: HttpRequest, _view: object) -> str:
        return f"public-{get_ip(request)}"


def _public(view: Callable[[HttpRequest, PublicPage], HttpResponse], *, is_stored: bool = True) -> View:
    """Find the page of a key; answer 304, 404 or 429 instead. Unknown and hidden pages look the same.

    is_stored: True if the version and the settings determine the response, so that the page's ETag fits it.
    """

    @wraps(view)
    def answer(request: HttpRequest, key: str) -> HttpResponse:
        throttle = PublicThrottle()
        if not throttle.allow_request(request, None):  # type: ignore[arg-type]
            return _refuse(429, gettext("Too many requests. Wait a minute."), throttle.wait())
        page = public_leaderboard(key)
        if page is None:
            return _refuse(404, gettext("There is no such benchmark, or it is not public."))
        if request.method == "POST":
            return view(request, page)
        if not is_stored:
            response = view(request, page)
            response.headers["ETag"] = f'"{sha256(response.content).hexdigest()[:32]}"'
            _share(response, page)
            return get_conditional_response(request, response["ETag"], response=response) or response
        if fresh := get_conditional_response(request, etag=page.etag):
            return _share(fresh, page)
        return _share(view(request, page), page)

    return answer


def _share(response: HttpResponse, page: PublicPage) -> HttpResponse:
    """Let caches store a response, and exclude it from search engines.

    noindex: a deliberately shared link should not turn up by accident, and an old copy in a search engine
    would outlive a withdrawn page.
    """
    response.headers.setdefault("ETag", page.etag)
    if response.status_code in (200, 304):
        response.headers.setdefault("Cache-Control", f"public, max-age={FRESH}")
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _refuse(status: int, message: str, wait: float | None = None) -> HttpResponse:
    response = HttpResponse(_render("not_there", {"message": message}), status=status)
    if wait is not None:
        response.headers["Retry-After"] = str(max(1, round(wait)))
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _render(name: str, context: dict[str, Any]) -> str:
    # Without the request: a template that names its user or token would make a session or a cookie.
    return render_to_string(f"leaderboard/{name}.html", context)


def _context(request: HttpRequest, page: PublicPage) -> dict[str, Any]:
    return page.context(request.GET.dict(), request.build_absolute_uri("/").rstrip("/"))


@require_safe
@_public
def page(request: HttpRequest, page: PublicPage) -> HttpResponse:
    """Show the newest version's standings, with instructions to read and cite them."""
    return HttpResponse(_render("public", _context(request, page)))


def _may_be_framed(view: View) -> View:
    """Let other sites frame every answer of a view. A browser takes the headers of a 304, too."""

    @wraps(view)
    def answer(request: HttpRequest, key: str) -> HttpResponse:
        response = view(request, key)
        policy = content_policy().replace("frame-ancestors 'none'", "frame-ancestors *")
        response.headers["Content-Security-Policy"] = policy
        return response

    return xframe_options_exempt(answer)


@require_safe
@_may_be_framed
@_public
def embed(request: HttpRequest, page: PublicPage) -> HttpResponse:
    """Show the table alone. This is the only page that others may frame."""
    return _let_others_read(HttpResponse(_render("embed", _context(request, page))))


@require_safe
@_public
def download_json(_request: HttpRequest, page: PublicPage) -> HttpResponse:
    return _let_others_read(JsonResponse(page.to_dict(), json_dumps_params={"ensure_ascii": False}))


@require_safe
@_public
def download_csv(request: HttpRequest, page: PublicPage) -> HttpResponse:
    """Return the chosen table as CSV, in which spreadsheets compute nothing."""
    table = page.table(request.GET.dict())
    content = comma_separated(table, defuses_formulas=True) if table else ""
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="leaderboard.csv"'
    return _let_others_read(response)


@require_safe
@partial(_public, is_stored=False)
def documents(request: HttpRequest, page: PublicPage) -> HttpResponse:
    """Return a page of documents as JSON: keys and titles, and sources and outputs if they are released."""
    # A database takes no offset of more digits.
    number = read_number(request.GET.get("page", ""), digits=6) or 1
    found, has_more = page.documents(number)
    following = f"{request.path}?page={number + 1}" if has_more else None
    content = {"documents": found, "next": following}
    return _let_others_read(JsonResponse(content, json_dumps_params={"ensure_ascii": False}))


def _let_others_read(response: HttpResponse) -> HttpResponse:
    """Let scripts and pages of other sites read a public answer."""
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


# There is no account with rights that a forged request could use, so the form has no token, which would need
# a cookie. Forms of other sites are rejected anyway: they would use up their visitors' submissions.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@_public
def submit(request: HttpRequest, page: PublicPage) -> HttpResponse:
    if not page.settings.takes_submissions:
        return _refuse(404, gettext("This benchmark takes no submissions."))
    form = SubmissionForm(None, None)
    status, received = 200, None
    if request.method == "POST":
        if not _is_own_form(request):
            return _refuse(
                403, gettext("This form was sent from another site. Open its page and send it again.")
            )
        body_size = read_number(str(request.META.get("CONTENT_LENGTH") or ""), digits=4_300) or 0
        if body_size > LARGEST + MORE_IN_FORM:  # before the body is read
            return _refuse(
                413, gettext("The file is larger than {most} MiB.").format(most=LARGEST // 1024**2)
            )
        form, status = SubmissionForm(request.POST, request.FILES), 422
        try:
            if form.is_valid():
                received = submit_outputs(shown=page.settings, address=get_ip(request), **form.submitted)
                status = 201
        except TooManySubmissionsError as error:
            return _refuse(429, error.message, error.wait)
        except DomainError as error:
            status = add_refusal(form, error)
    documents = documents_with_outputs(page.project).count()
    context = {
        "page": page,
        "form": form,
        "received": received,
        "documents": documents,
        "mails": mail_is_sent(),
    }
    response = HttpResponse(_render("submit", context), status=status)
    response.headers["Cache-Control"] = "no-store"
    return response


def _is_own_form(request: HttpRequest) -> bool:
    """Return True if a form comes from a page of this site, as far as the browser shows."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("Origin")
    # A proxy may pass another scheme or host, so the values in the settings count as well.
    own = (f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS)
    return origin is None or origin in own
