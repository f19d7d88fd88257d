"""Pages about disputes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect

from annotate import tasks
from annotate.core import access
from annotate.core.errors import DomainError
from annotate.core.models import Dispute, Membership, Project, Role
from annotate.core.page import Request, render_in_project, request_user, show_refusal
from annotate.core.rounds import rounds_of
from annotate.disputes.commands.digests import stop_digests
from annotate.disputes.commands.disputes import (
    adjudicate,
    answer_dispute,
    ask_again,
    leave_open,
    open_again,
    post_message,
    take_back,
)
from annotate.disputes.commands.looks import note_look
from annotate.disputes.commands.nudges import Nudged, nudge_raters
from annotate.disputes.commands.rules import set_dispute_rules
from annotate.disputes.forms import (
    AdjudicationForm,
    AfterForm,
    DisputeAnswerForm,
    DisputeFilterForm,
    DisputeRulesForm,
    PostForm,
    UndoForm,
    WorkFilterForm,
)
from annotate.disputes.queries.disputes import (
    Answered,
    disputes_on_item,
    just_answered,
    left_after,
    listed,
    next_needing,
    work_list,
)
from annotate.disputes.queries.list import dispute_rows, disputes_of_project, kept_reasons, waited_for_in
from annotate.disputes.queries.page import dispute_page
from annotate.disputes.queries.rules import rule_previews
from annotate.disputes.queries.version import version_of
from annotate.people.invitation_mail import mail_is_sent
from annotate.people.preferences import key_map_of

# Round II: the work list of disputes, one dispute, its answers, thread and adjudication.

PER_PAGE = 50
# What an admin decides without a value, by the name of its button.
DECISIONS: dict[str, Callable[..., Dispute]] = {
    "leave_open": leave_open,
    "open_again": open_again,
    "ask_again": ask_again,
}


def signed_in(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Ask to sign in and lead back to the dispute's page, whatever was sent.

    htmx is told so in the fragment: the page stays, with what was typed.
    """

    @wraps(view)
    def checked(request: Request, slug: str, number: int) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, slug, number)
        page = reverse("dispute", args=[slug, number])
        if request.htmx:
            return render(request, "disputes/_signed_out.html", {"page": page}, status=422)
        return redirect_to_login(page)

    return checked


@dataclass(frozen=True)
class Reading:
    """One dispute and the person who looks at it: a rater with a place, an admin, or a researcher."""

    dispute: Dispute
    project: Project
    place: Membership | None
    is_admin: bool


@login_required
@require_GET
def disputes(request: Request, slug: str) -> HttpResponse:
    """List one's own disputes, or all of them for an admin or researcher who does not rate."""
    place = access.membership(request.user, slug, Role.ANNOTATOR, Role.ADMIN, Role.RESEARCHER)
    if place.role == Role.ANNOTATOR and "all" not in request.GET:
        form = WorkFilterForm(request.GET, place=place)
        work = work_list(place, form.chosen)
        own: dict[str, object] = {
            "form": form,
            "work": work,
            "listed": listed(work, place),
            "shown": None if "show" in request.GET else ":60",
            "answered": _answer_to_take_back(request, place),
        }
        return render_in_project(request, place.project, "disputes/work_list.html", own)
    return _all_disputes(request, access.project_for_reader(request.user, slug))


def _all_disputes(request: Request, project: Project) -> HttpResponse:
    form = DisputeFilterForm(request.GET, project=project)
    round_two = rounds_of(project).get(2)
    chosen = disputes_of_project(project, form.chosen, round_two=round_two)
    found = Paginator(chosen, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "disputes": found,
        "rows": dispute_rows(list(found)),
        "round_two": round_two,
        "kept_reasons": kept_reasons(project),
        # Who decides, or talks to who decides, shall not know whose text it is about.
        "shows_systems": round_two is not None and not round_two.is_open,
        "is_admin": Role.ADMIN in access.roles_in(request.user, project),
    }
    return render_in_project(request, project, "disputes/all.html", context)


@signed_in
@require_GET
@vary_on_headers("HX-Request")  # or going back in history shows the fragment, which has the same address
def dispute(request: Request, slug: str, number: int) -> HttpResponse:
    """Show one dispute; htmx gets the part that others change: values, reasons and thread.

    Where that is still what the page has `seen`, the answer is 204, after three queries.
    """
    return _page(request, slug, number)


@signed_in
@require_POST
def answer(request: Request, slug: str, number: int) -> HttpResponse:
    """Keep or change one's value and go on to the next dispute that waits, or stay if that was asked for."""
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    found = access.dispute_for_rater(place, number)
    form = DisputeAnswerForm(request.POST)

    def give() -> None:
        answer_dispute(dispute=found, rater=place, **form.given)

    if refusal := _refusal(form, give, written_by=place):
        return _page(request, slug, number, refusal=refusal)
    if form.cleaned_data["stay"]:
        return _here_again(request, slug, number, after=number)
    following = next_needing(place, number)
    where = reverse("dispute", args=[slug, following]) if following else reverse("disputes", args=[slug])
    return _go_to(request, f"{where}?after={number}")


@signed_in
@require_POST
def undo(request: Request, slug: str, number: int) -> HttpResponse:
    """Take one's last answer back and show the dispute again."""
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    found = access.dispute_for_rater(place, number)
    form = UndoForm(request.POST)

    def undo_it() -> None:
        take_back(dispute=found, rater=place, revision=form.cleaned_data["revision"])

    if refusal := _refusal(form, undo_it, written_by=place):
        return _page(request, slug, number, refusal=refusal)
    return _here_again(request, slug, number)


@signed_in
@require_POST
def post(request: Request, slug: str, number: int) -> HttpResponse:
    """Add a message to the thread."""
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    found = access.dispute_for_rater(place, number)
    form = PostForm(request.POST)

    def write() -> None:
        post_message(dispute=found, author=place, text=form.cleaned_data["text"])

    if refusal := _refusal(form, write, written_by=place):
        return _page(request, slug, number, refusal=refusal)
    return redirect("dispute", slug, number)


@signed_in
@require_POST
def decide(request: Request, slug: str, number: int) -> HttpResponse:
    """Adjudicate a dispute, leave it open, open it again or have it answered again, as an admin."""
    found = access.dispute_in(access.project_for_admin(request.user, slug), number)
    form = AdjudicationForm(request.POST)

    def carry_out() -> None:
        data = form.cleaned_data
        decision = next((DECISIONS[name] for name in DECISIONS if data[name]), None)
        why = {"dispute": found, "note": data["note"], "by": request_user(request)}
        if decision:
            decision(**why)
        else:
            adjudicate(value=data["value"], **why)

    if refusal := _refusal(form, carry_out):
        return _page(request, slug, number, refusal=refusal)
    return _go_to(request, reverse("dispute", args=[slug, number]))


def _refusal(form: forms.Form, command: Callable[[], None], *, written_by: Membership | None = None) -> str:
    """Do what a form asks for; return why nothing was done, empty when it was.

    `written_by`: the rater whom the page must have been made for.
    """
    try:
        if written_by is not None:
            access.refuse_another(written_by, form.data.get("rater", ""))
        if not form.is_valid():
            return str(next(iter(form.errors.values()))[0])
        command()
    except DomainError as error:
        return error.message
    return ""


def _go_to(request: Request, url: str) -> HttpResponse:
    # htmx would follow a redirect and put the page into the fragment's place.
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


def _here_again(request: Request, slug: str, number: int, *, after: int | None = None) -> HttpResponse:
    """Return the dispute that the page shows in its place, with what is typed; otherwise go there."""
    page = reverse("dispute", args=[slug, number])
    if request.htmx and (request.htmx.current_url_abs_path or "").partition("?")[0] == page:
        return _page(request, slug, number, after=after)
    return _go_to(request, f"{page}?after={after}" if after else page)


def _reading(request: Request, slug: str, number: int) -> Reading:
    place = access.membership(request.user, slug, Role.ADMIN, Role.RESEARCHER, Role.ANNOTATOR)
    own = access.place_of_rater(request.user, slug, number)
    if place.role == Role.ANNOTATOR and own:
        return Reading(access.dispute_for_rater(own, number), place.project, own, is_admin=False)
    found = access.dispute_in(access.project_for_reader(request.user, slug), number)
    return Reading(found, place.project, own, is_admin=place.role == Role.ADMIN)


def _page(
    request: Request, slug: str, number: int, *, refusal: str = "", after: int | None = None
) -> HttpResponse:
    # Read before the rest: what changes in between makes the page ask once more, and is never missed.
    version = version_of(access.disputes_open_to(request.user, slug, number))
    if request.htmx and version and request.GET.get("seen") == version:
        return HttpResponse(status=204)
    reading = _reading(request, slug, number)
    if reading.place:
        note_look(dispute=reading.dispute, rater=reading.place)
    context = {
        "project": reading.project,
        "page": dispute_page(reading.dispute, reader=reading.place),
        "version": version,
        "is_admin": reading.is_admin,
        "refusal": refusal,
        "draft": request.POST if refusal else {},
        "key_map": key_map_of(request.user),
        "answered": _answer_to_take_back(request, reading.place, after),
    }
    if not request.htmx or request.method == "POST":
        context["on_item"] = disputes_on_item(reading.dispute, reading.place)
    if request.htmx:
        return render(request, "disputes/dispute.html#discussion", context, status=422 if refusal else 200)
    context["left"] = reading.place and left_after(reading.place, reading.dispute)
    return render(request, "disputes/dispute.html", context, status=422 if refusal else 200)


def _answer_to_take_back(
    request: Request, place: Membership | None, after: int | None = None
) -> Answered | None:
    """Return what this rater answered in the dispute `after` which this page comes, to take it back."""
    form = AfterForm(request.GET)
    number = after or (form.cleaned_data["after"] if form.is_valid() else None)
    return just_answered(place, number) if place and number else None


# The link in a digest that ends them; it works without signing in.


@csrf_exempt  # a mail program that ends them by one click has no page; the token is what permits it
@require_http_methods(["GET", "POST"])
def digest_stop(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether digests shall end, and end them: programs that look at links in mail only ask."""
    user = access.user_of_digest(token)
    if request.method == "POST":
        stop_digests(user=user)
    return render(request, "disputes/digest_stop.html", {"is_done": request.method == "POST"})


# What an admin does with many disputes at once: the rules that open them, and nudging who they wait for.


@login_required
@require_http_methods(["GET", "POST"])
def dispute_rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Show and set how far apart values open a dispute, with how many each threshold would open now."""
    project = access.project_for_admin(request.user, slug)
    round = rounds_of(project).get(1)
    may_see_values = not access.rates_independently(request.user, project)
    previews = rule_previews(project, round if may_see_values else None)
    frozen = round is not None and not round.is_open
    form = DisputeRulesForm(request.POST or None, project=project, previews=previews, frozen=frozen)
    status = 422 if request.method == "POST" else 200
    try:
        if request.method == "POST" and form.is_valid():
            set_dispute_rules(
                project=project,
                rule=form.rule,
                own=form.own,
                keep_reasons=form.cleaned_data["keep_reasons"],
                by=request_user(request),
            )
            messages.success(request, gettext("The rules are saved; they hold when Round I is closed."))
            return redirect("dispute_rules", slug)
    except DomainError as error:
        form.add_error(None, error.message)
        status = error.status
    context = {
        "form": form,
        "rows": list(form.rows(previews)),
        "round": round,
        "frozen": frozen,
        "may_see_values": may_see_values,
    }
    return render_in_project(request, project, "disputes/rules.html", context, status=status)


@login_required
@require_POST
def dispute_nudge(request: HttpRequest, slug: str) -> HttpResponse:
    """Nudge the raters whom the disputes that are shown wait for."""
    project = access.project_for_admin(request.user, slug)
    form = DisputeFilterForm(request.POST, project=project)
    round_two = rounds_of(project).get(2)
    with show_refusal(request):
        waiting = waited_for_in(project, form.chosen, round_two) if round_two else {}
        nudged = nudge_raters(project=project, waiting=waiting, by=request_user(request))
        link = request.build_absolute_uri(reverse("disputes", args=[slug]))
        for nudge in nudged.now:
            # Robust: without a broker the nudge stands on the rater's page all the same.
            transaction.on_commit(partial(tasks.mail_nudge.delay, nudge.pk, link), robust=True)
        messages.success(request, _nudge_message(nudged))
    return redirect(f"{reverse('disputes', args=[slug])}?{form.query}")


def _nudge_message(nudged: Nudged) -> str:
    where = "on their page and by e-mail" if mail_is_sent() else "on their page; no mail server is configured"
    now = [nudge.rater for nudge in nudged.now]
    parts = [
        f"Nudged {_names(now)}: they read it {where}." if now else "",
        f"Nudged today already: {_names(nudged.already)}." if nudged.already else "",
        f"Nobody can be reached at {_names(nudged.empty)}." if nudged.empty else "",
    ]
    return " ".join(part for part in parts if part) or "These disputes wait for nobody."


def _names(raters: list[Membership]) -> str:
    return ", ".join(rater.label for rater in raters)
