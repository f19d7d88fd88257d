"""Pages of Round II: the work list of disputes, one dispute, its answers, thread and adjudication."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import HttpResponseClientRedirect, replace_url, reswap, retarget

from annotate.core import access
from annotate.core.database import write_if_possible
from annotate.core.errors import DomainError
from annotate.core.mails import mail_is_sent
from annotate.core.models import Dispute, Membership, Project, Role
from annotate.core.page import FormOutcome, MessageOutcome, Request, render_in_project, request_user
from annotate.core.preferences import key_map_of
from annotate.core.rounds import rounds_of
from annotate.disputes.commands.digests import Nudged, nudge_raters, stop_digests
from annotate.disputes.commands.disputes import (
    answer_dispute,
    note_look,
    post_message,
    set_dispute_rules,
    take_back,
)
from annotate.disputes.forms import (
    AdjudicationForm,
    AfterForm,
    DisputeAnswerForm,
    DisputeFilterForm,
    DisputeRulesForm,
    UndoForm,
    WordingForm,
    WorkFilterForm,
)
from annotate.disputes.queries.activity import (
    DisputesByNumber,
    count_pending_by_rater,
    count_reasons,
    dispute_rows,
)
from annotate.disputes.queries.disputes import (
    UndoableAnswer,
    count_remaining,
    count_undecided,
    disputes_on_text,
    just_answered,
    position_of_text,
    sections_of,
    work_list,
)
from annotate.disputes.queries.page import DisputePage, dispute_page, version_of
from annotate.disputes.queries.rules import rule_previews
from annotate.questions import Given, kind_of
from annotate.rating.commands.assignments import acknowledge_wording
from annotate.rating.queries.work import new_wording
from annotate.results.figures import load_figures
from annotate.results.queries.disagreements import SPREADS, counted_spreads
from annotate.results.registry import result_of

PER_PAGE = 25
LISTED = 100  # The number of disputes in each part of the work list, before the user requests all.
QUEUE = f"status={Dispute.Status.IRRESOLVABLE}"  # The filter of disputes that need an adjudicator.


class PagePart(StrEnum):
    """A part of a dispute's page, by its name in the template and in the page."""

    DISCUSSION = "discussion"
    AT_WORK = "at-work"


def signed_in(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Require sign-in and lead back to the dispute's page after any request.

    For htmx the fragment shows a sign-in message: the page remains, with the user's input.
    """

    @wraps(view)
    def respond(request: Request, slug: str, number: int) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, slug, number)
        page = reverse("dispute", args=[slug, number])
        if request.htmx:
            reply = render(request, "disputes/_signed_out.html", {"page": page}, status=422)
            return replace_url(reswap(retarget(reply, f"#{PagePart.DISCUSSION}"), "outerHTML"), "false")
        return redirect_to_login(page)

    return respond


@dataclass(frozen=True)
class Reading:
    """A dispute and its reader: a rater with a membership, a decider, or a researcher."""

    dispute: Dispute
    project: Project
    membership: Membership | None
    decides: bool


@login_required
@require_GET
def disputes(request: Request, slug: str) -> HttpResponse:
    """List a rater's own disputes, or all of them for others. Adjudicators see the queue first."""
    membership = access.membership(request.user, slug, Role.ANNOTATOR, *access.DISPUTE_READERS)
    if membership.role == Role.ANNOTATOR and "all" not in request.GET:
        form = WorkFilterForm(request.GET, membership=membership)
        work = work_list(membership, form.chosen, most=None if "show" in request.GET else LISTED)
        own: dict[str, object] = {
            "membership": membership,
            "form": form,
            "work": work,
            "listed": sections_of(work, membership, form.chosen),
            "answered": _answer_to_take_back(request, membership),
        }
        return render_in_project(request, membership.project, "disputes/work_list.html", own)
    at_queue = membership.role == Role.ADJUDICATOR and not request.GET
    project = access.project_for_dispute_reader(request.user, slug)
    return _all_disputes(request, project, Role(membership.role), at_queue=at_queue)


@login_required
@require_GET
def queue(request: Request, slug: str) -> HttpResponse:
    membership = access.membership(request.user, slug, *access.DECIDERS)
    project = access.project_for_dispute_reader(request.user, slug)
    return _all_disputes(request, project, Role(membership.role), at_queue=True)


def _all_disputes(request: Request, project: Project, role: Role, *, at_queue: bool) -> HttpResponse:
    is_admin = Role.ADMIN in access.roles_in(request.user, project)
    asked = QueryDict(QUEUE) if at_queue else request.GET
    form = DisputeFilterForm(asked, project=project, with_labels=is_admin)
    round_two = rounds_of(project).get(2)
    chosen = DisputesByNumber(project, form.chosen, round_two=round_two)
    found = Paginator(chosen, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "at_queue": at_queue,
        "disputes": found,
        "rows": dispute_rows(list(found)),
        "round_two": round_two,
        "reason_counts": count_reasons(project),
        # Deciders, and raters who talk to them, must not know the system.
        "shows_systems": role != Role.ADJUDICATOR and round_two is not None and not round_two.is_open,
        "is_admin": is_admin,
    }
    return render_in_project(request, project, "disputes/all.html", context)


@signed_in
@require_GET
@vary_on_headers("HX-Request")  # Otherwise going back in history shows the fragment, which has the same URL.
def dispute(request: Request, slug: str, number: int) -> HttpResponse:
    """Show the disputes about an item, with this one current.

    htmx gets the part next to the source, or the part of it that others change: values, reasons and thread.
    If that part equals the version that the page has `seen`, the response is 204, after three queries.
    """
    part = PagePart.AT_WORK if request.htmx.target == PagePart.AT_WORK else PagePart.DISCUSSION
    return _page(request, slug, number, part=part)


@signed_in
@require_POST
def answer(request: Request, slug: str, number: int) -> HttpResponse:
    """Keep or change the user's value and continue with the next dispute, or stay, or only send a message."""
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    found = access.dispute_for_rater(membership, number)
    form = DisputeAnswerForm(request.POST)

    def give() -> None:
        if form.cleaned_data["only_send"]:
            post_message(dispute=found, author=membership, text=form.cleaned_data["comment"])
        else:
            answer_dispute(dispute=found, rater=membership, **form.given)

    if refusal := _refusal(form, give, written_by=membership):
        return _page(request, slug, number, refusal=refusal)
    if form.cleaned_data["only_send"]:
        return _page(request, slug, number) if request.htmx else redirect("dispute", slug, number)
    # Counted after the answer, which may have settled the dispute or left it to others.
    following = number if form.cleaned_data["stay"] else count_remaining(membership, found).following
    if following is None:
        return _go_to(request, f"{reverse('disputes', args=[slug])}?after={number}")
    return _go_on(request, slug, following, after=number)


@signed_in
@require_POST
def undo(request: Request, slug: str, number: int) -> HttpResponse:
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    found = access.dispute_for_rater(membership, number)
    form = UndoForm(request.POST)

    def undo_it() -> None:
        take_back(dispute=found, rater=membership, revision=form.cleaned_data["revision"])

    if refusal := _refusal(form, undo_it, written_by=membership):
        return _page(request, slug, number, refusal=refusal)
    return _go_on(request, slug, number)


@signed_in
@require_POST
def read_wording(request: Request, slug: str, number: int) -> HttpResponse:
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    access.dispute_for_rater(membership, number)
    form = WordingForm(request.POST)

    def note_it() -> None:
        version = form.cleaned_data["version"]
        acknowledge_wording(annotator=membership, version=version, by=request_user(request))

    refusal = _refusal(form, note_it, written_by=membership)
    if refusal or request.htmx:
        return _page(request, slug, number, refusal=refusal, part=PagePart.AT_WORK)
    return redirect("dispute", slug, number)


@signed_in
@require_POST
def decide(request: Request, slug: str, number: int) -> HttpResponse:
    """Adjudicate a dispute, leave it open, reopen it or request new answers.

    A dispute from the adjudication queue leads to the next one in the queue.
    """
    found = access.dispute_for_decider(request.user, slug, number)
    form = AdjudicationForm(request.POST)

    # Read before the decision, which changes the status.
    waited = found.status == Dispute.Status.IRRESOLVABLE
    if refusal := _refusal(form, lambda: form.decide(found, by=request_user(request))):
        return _page(request, slug, number, refusal=refusal)
    following = count_undecided(found).following if waited else None
    if following is None:
        return _go_to(request, reverse("dispute", args=[slug, number]))
    return _go_to(request, f"{reverse('dispute', args=[slug, following])}?after={number}")


def _refusal(form: forms.Form, command: Callable[[], None], *, written_by: Membership | None = None) -> str:
    """Execute the command of a form. Return the reason of a failure, empty on success.

    `written_by`: the rater that the page must belong to.
    """
    try:
        if written_by is not None:
            # Someone else may have signed in on this machine since the page was loaded.
            access.refuse_another(written_by, form.data.get("rater", ""))
        if not form.is_valid():
            return str(next(iter(form.errors.values()))[0])
        command()
    except DomainError as error:
        return error.message
    return ""


def _go_to(request: Request, url: str) -> HttpResponse:
    # htmx would follow a redirect and insert the page as the fragment.
    return HttpResponseClientRedirect(url) if request.htmx else redirect(url)


def _go_on(request: Request, slug: str, number: int, *, after: int | None = None) -> HttpResponse:
    """Show a dispute, replacing only what changes if the page shows the same dispute or item."""
    url = reverse("dispute", args=[slug, number]) + (f"?after={after}" if after else "")
    shown = _number_shown(request, slug)
    if shown == number:
        return _page(request, slug, number, after=after)
    pair = {number, shown or number}
    both = Dispute.objects.filter(round__project__slug=slug, number__in=pair).order_by()
    # Another item needs the whole page, because its source differs.
    if shown is None or both.values("item").distinct().count() != 1:
        return _go_to(request, url)
    beside = _page(request, slug, number, after=after, part=PagePart.AT_WORK)
    return replace_url(reswap(retarget(beside, f"#{PagePart.AT_WORK}"), "outerHTML"), url)


def _number_shown(request: Request, slug: str) -> int | None:
    path = (request.htmx.current_url_abs_path or "").partition("?")[0] if request.htmx else ""
    try:
        # The browser names the page that it shows; its URL decides how much must be replaced.
        found = resolve(path)
    except Resolver404:
        return None
    is_here = found.url_name == "dispute" and found.kwargs["slug"] == slug
    return found.kwargs["number"] if is_here else None


def _reading(request: Request, slug: str, number: int) -> Reading:
    membership = access.membership(request.user, slug, *access.DISPUTE_READERS, Role.ANNOTATOR)
    own = access.membership_of_rater(request.user, slug, number)
    if membership.role == Role.ANNOTATOR and own:
        return Reading(access.dispute_for_rater(own, number), membership.project, own, decides=False)
    found = access.dispute_in(access.project_for_dispute_reader(request.user, slug), number)
    return Reading(found, membership.project, own, decides=access.decides(membership, own))


def _page(
    request: Request,
    slug: str,
    number: int,
    *,
    refusal: str = "",
    after: int | None = None,
    part: PagePart = PagePart.DISCUSSION,
) -> HttpResponse:
    # Read before the rest: the page requests a later change again, and never misses one.
    version = version_of(access.disputes_open_to(request.user, slug, number))
    if request.htmx and version and request.GET.get("seen") == version:
        return HttpResponse(status=204)
    reading = _reading(request, slug, number)
    membership, page = reading.membership, dispute_page(reading.dispute, reader=reading.membership)
    if membership:
        looked_at, rater = reading.dispute, membership
        # A page must not fail because it cannot record the look.
        write_if_possible(lambda: note_look(dispute=looked_at, rater=rater))
    context = {
        "project": reading.project,
        "page": page,
        "version": version,
        "decides": reading.decides,
        "refusal": refusal,
        "draft": request.POST if refusal else {},
        "answered": _answer_to_take_back(request, membership, after),
    }
    if not request.htmx or part == PagePart.AT_WORK:
        # The discussion alone shows none of these, so its reloads save their queries.
        context |= _around(reading, page) | _decided_before(request, reading, page)
    if not request.htmx:
        context |= {
            "key_map": key_map_of(request.user),
            "stands": membership and position_of_text(membership, reading.dispute),
        }
    template = f"disputes/dispute.html#{part}" if request.htmx else "disputes/dispute.html"
    return render(request, template, context, status=422 if refusal else 200)


def _around(reading: Reading, page: DisputePage) -> dict[str, Any]:
    """Return the context of a dispute: the others about its item, and the number of remaining ones."""
    held = {dimension.id: says for dimension, says in page.own_values}
    around: dict[str, Any] = {"on_text": disputes_on_text(reading.dispute, reading.membership, held)}
    if reading.membership:
        around["left"] = count_remaining(reading.membership, reading.dispute)
        if page.round_two and page.takes_answers:
            around["new_wording"] = new_wording(page.round_two, reading.membership)
    elif reading.decides:
        around["left"] = count_undecided(reading.dispute)
    return around


def _decided_before(request: Request, reading: Reading, page: DisputePage) -> dict[str, Any]:
    """Return the dispute that a decider decided before this page, with the name of its value."""
    form = AfterForm(request.GET)
    if not reading.decides or not form.is_valid():
        return {}
    same_round = Dispute.objects.filter(round=reading.dispute.round_id)
    decided = same_round.filter(number=form.cleaned_data["after"]).first()
    if decided is None or decided.adjudicated_value is None:
        return {"decided": decided}
    dimension = next(each for each in page.guideline.dimensions if each.id == decided.dimension_id)
    given = Given(decided.adjudicated_value, decided.adjudicated_data)
    return {"decided": decided, "decided_value": kind_of(dimension).describe(dimension, given)}


def _answer_to_take_back(
    request: Request, membership: Membership | None, after: int | None = None
) -> UndoableAnswer | None:
    """Return this rater's answer in the dispute `after` which this page comes, for undoing it."""
    form = AfterForm(request.GET)
    number = after or (form.cleaned_data["after"] if form.is_valid() else None)
    return just_answered(membership, number) if membership and number else None


# The link in a digest that ends them; it works without signing in.


@csrf_exempt  # a mail program that ends them by one click has no page; the token is what permits it
@require_http_methods(["GET", "POST"])
def digest_stop(request: HttpRequest, token: str) -> HttpResponse:
    """Ask before ending digests, and end them on POST: mail programs that follow links change nothing."""
    user = access.user_of_digest(token)
    if request.method == "POST":
        stop_digests(user=user)
    return render(request, "disputes/digest_stop.html", {"is_done": request.method == "POST"})


# Actions of admins on many disputes: the rules that open them, and nudging.


@login_required
@require_http_methods(["GET", "POST"])
def dispute_rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Show and set the dispute rules, with the number of disputes that each threshold would open now."""
    project = access.project_for_admin(request.user, slug)
    round = rounds_of(project).get(1)
    may_see_values = not access.rates_independently(request.user, project)
    # Counts of disputes would tell an admin who rates about the values of others.
    kept = load_figures(project, result_of(project, SPREADS)) if round and may_see_values else None
    previews = rule_previews(project, counted_spreads(kept) if kept else {})
    frozen = round is not None and not round.is_open
    form = DisputeRulesForm(request.POST or None, project=project, previews=previews, frozen=frozen)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            set_dispute_rules(
                project=project,
                rule=form.rule,
                own=form.own,
                keep_reasons=form.cleaned_data["keep_reasons"],
                by=request_user(request),
            )
            messages.success(request, gettext("The rules are saved. They apply when Round I is closed."))
            return redirect("dispute_rules", slug)
    context = {
        "form": form,
        "rows": list(form.rows(previews)),
        "round": round,
        "frozen": frozen,
        "may_see_values": may_see_values,
        "kept": kept,
    }
    return render_in_project(request, project, "disputes/rules.html", context, status=outcome.status)


@login_required
@require_POST
def dispute_nudge(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.project_for_admin(request.user, slug)
    form = DisputeFilterForm(request.POST, project=project)
    round_two = rounds_of(project).get(2)
    with MessageOutcome(request):
        waiting = count_pending_by_rater(project, form.chosen, round_two) if round_two else {}
        link = request.build_absolute_uri(reverse("disputes", args=[slug]))
        nudged = nudge_raters(project=project, waiting=waiting, by=request_user(request), link=link)
        messages.success(request, _nudge_message(nudged))
    return redirect(f"{reverse('disputes', args=[slug])}?{form.query}")


def _nudge_message(nudged: Nudged) -> str:
    reached = (
        gettext("Nudged {names}: they read it on their page and by e-mail.")
        if mail_is_sent()
        else gettext("Nudged {names}: they read it on their page; no mail server is configured.")
    )
    sentences = (
        (reached, [nudge.rater for nudge in nudged.now]),
        (gettext("Nudged today already: {names}."), nudged.already),
        (gettext("Nobody can be reached at {names}."), nudged.empty),
    )
    said = [text.format(names=", ".join(each.label for each in who)) for text, who in sentences if who]
    return " ".join(said) or gettext("These disputes wait for nobody.")
