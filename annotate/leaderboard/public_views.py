"""Public pages of benchmarks: read-only, without an account, a session or a cookie."""

from collections.abc import Callable
from functools import partial, wraps
from hashlib import sha256
from typing import Any

from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe
from rest_framework.throttling import SimpleRateThrottle

from annotate.core.errors import DomainError
from annotate.core.mails import mail_is_sent
from annotate.core.responses import content_policy
from annotate.leaderboard.commands import LARGEST, TooManySubmissionsError, submit_outputs
from annotate.leaderboard.forms import SubmissionForm
from annotate.leaderboard.public import PublicPage, public_leaderboard
from annotate.leaderboard.queries import documents_with_outputs
from annotate.results.text import comma_separated

MORE_IN_FORM = 1024**2  # Bytes in addition to the file.
FRESH = 300  # seconds for which caches need not ask
View = Callable[..., HttpResponse]


class PublicThrottle(SimpleRateThrottle):
    """Counts the requests of an IP in each process, because a GET writes nothing into the database."""

    scope = "public"
    rate = "120/min"
    cache = caches["process"]

    def get_cache_key(self, request: HttpRequest, _view: object) -> str:
        """Return the cache key of an IP."""
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
def as_json(_request: HttpRequest, page: PublicPage) -> HttpResponse:
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
    asked = request.GET.get("page", "1")
    number = int(asked) if asked.isascii() and asked.isdigit() and 0 < len(asked) < 7 else 1
    found, has_more = page.documents(max(number, 1))
    following = f"{request.path}?page={max(number, 1) + 1}" if has_more else None
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
        size = str(request.META.get("CONTENT_LENGTH") or "")
        body_size = int(size) if size.isascii() and size.isdigit() else 0
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
            form.add_error(None, error.message)
            status = error.status
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
