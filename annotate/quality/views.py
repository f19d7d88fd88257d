from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core import access
from annotate.core.access import gold_in, membership_in, project_for_admin, project_of_watching_admin
from annotate.core.configuration import is_frozen
from annotate.core.errors import DomainError, InvalidValueError, NotReadyError
from annotate.core.keys import ACTIONS
from annotate.core.models import GoldItem, Membership, Role
from annotate.core.page import FormOutcome, MessageOutcome, render_in_project, request_user
from annotate.core.preferences import key_map_of
from annotate.core.responses import error_content, refusals_as_json
from annotate.core.rounds import round_one
from annotate.core.strings import read_number
from annotate.quality import FASTEST_READING
from annotate.quality.commands import (
    decide_counting,
    describe_gold,
    finish_practice,
    mark_gold,
    practise_again,
    save_practice,
    set_practice_bar,
    settle_practice_item,
    unmark_gold,
)
from annotate.quality.forms import BarForm, CountingForm, GoldForm, MarkForm
from annotate.quality.queries import (
    SIGNALS,
    PracticeItem,
    evidence,
    gold_of,
    middle_rater,
    names_to_choose,
    practice_item_of,
    practice_of,
    practice_summary,
    raters_with_signals,
)
from annotate.questions.scale import SCALE
from annotate.rating.commands.assignments import screen_out
from annotate.rating.commands.ratings import SubmittedAnswer
from annotate.rating.forms import AnswerForm, sent_answers
from annotate.rating.queries.work import practice_rows_as_html
from annotate.results.figures import load_figures
from annotate.results.registry import result_of

# Gold items: marked, described, unmarked, and how much of practice must be right.


@login_required
@require_http_methods(["GET", "POST"])
def gold(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    form = MarkForm(request.POST or None, project=project)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            use, item = form.cleaned_data["use"], form.cleaned_data["item"]
            return redirect("gold_item", slug, mark_gold(project=project, item=item, use=use).pk)
    context = {
        "form": form,
        "bar_form": BarForm(initial={"practice_bar": project.practice_bar}),
        "gold": list(gold_of(project)),
        "frozen": is_frozen(project),
        "names": names_to_choose(project),
        "middle": middle_rater(project),
    }
    return render_in_project(request, project, "quality/gold.html", context, status=outcome.status)


@login_required
@require_http_methods(["GET", "POST"])
def gold_item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    gold = gold_in(project, pk)
    form = GoldForm(
        request.POST or None, gold=gold, dimensions=list(project.dimensions.filter(kind=SCALE.key))
    )
    with FormOutcome(request, form) as outcome:
        if "unmark" in request.POST:
            unmark_gold(project=project, gold=gold)
            messages.success(request, gettext("The item is an ordinary one again."))
            return redirect("gold", slug)
        if form.is_valid():
            explanation = form.cleaned_data["explanation"]
            describe_gold(project=project, gold=gold, explanation=explanation, values=form.right_values)
            messages.success(request, gettext("The right values are saved."))
            return redirect("gold", slug)
    item = gold.item
    page = {"title": item.document.title, "parts": item.document.parts}
    context = {"gold": gold, "form": form, "page": page, "frozen": is_frozen(project)}
    return render_in_project(request, project, "quality/gold_item.html", context, status=outcome.status)


@login_required
@require_POST
def practice_bar(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    form = BarForm(request.POST)
    with MessageOutcome(request):
        if form.is_valid():
            set_practice_bar(project=project, bar=form.cleaned_data["practice_bar"])
            messages.success(request, gettext("The bar of practice is saved."))
        else:
            messages.error(
                request, gettext("The bar is a percentage from 0 to 100, or empty for no practice.")
            )
    return redirect("gold", slug)


# Practice: the next item, its right values, and whether the bar is passed.


@login_required
@require_GET
def practice(request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect to the next practice item, or show the result of practice by the current bar."""
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    if membership.project.practice_bar is None:
        return redirect("rate", slug)
    state = practice_of(membership)
    if state.next:
        return redirect("practice_item", slug, state.next.pk)
    # By the present bar, which an admin may have changed since the last answer.
    membership = finish_practice(membership=membership)
    if membership.practised_at is None and screen_out(membership=membership):
        return redirect("outside_end", slug)
    context = {
        "membership": membership,
        "practice": state,
        "summary": practice_summary(membership),
        "round": round_one(membership.project),
    }
    return render_in_project(request, membership.project, "quality/practice_end.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def practice_item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership, gold = _practice_item(access.membership(request.user, slug, Role.ANNOTATOR), pk)
    shown, refusals = practice_item_of(gold, membership), []
    if request.method == "POST" and not shown.is_settled:
        refusals = _save_all(request, membership, shown)
        if not refusals:
            return redirect("practice_feedback", slug, pk)
        shown = practice_item_of(gold, membership)
    if shown.is_settled:
        return redirect("practice_feedback", slug, pk)
    return _render_practice(request, membership, shown, refusals)


@login_required
@require_GET
def practice_feedback(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the right values of an item next to the answers, which then become final.

    Writes although it is a GET: annotators cannot answer independently after seeing the reference values.
    """
    membership, gold = _practice_item(access.membership(request.user, slug, Role.ANNOTATOR), pk)
    try:
        settle_practice_item(membership=membership, gold=gold)
    except NotReadyError:
        return redirect("practice_item", slug, pk)
    return _render_practice(request, membership, practice_item_of(gold, membership), [])


@require_POST
@refusals_as_json
def save_practice_answer(request: HttpRequest, slug: str, pk: int, key: str) -> HttpResponse:
    membership, gold = _sender(request, slug, pk)
    (reply,) = _save_sent(
        membership, gold, request.POST.get("assignment", ""), [{**request.POST.dict(), "key": key}]
    )
    if isinstance(reply, InvalidValueError):
        raise reply
    return JsonResponse(reply)


@require_POST
@refusals_as_json
def save_practice_answers(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership, gold = _sender(request, slug, pk)
    sent = sent_answers(request.POST.get("answers", ""))
    replies = _save_sent(membership, gold, request.POST.get("assignment", ""), sent)
    answers = [error_content(each) if isinstance(each, InvalidValueError) else each for each in replies]
    return JsonResponse({"answers": answers})


@login_required
@require_POST
def practice_again(request: HttpRequest, slug: str) -> HttpResponse:
    practise_again(membership=access.membership(request.user, slug, Role.ANNOTATOR))
    return redirect("practice", slug)


def _practice_item(membership: Membership, pk: int) -> tuple[Membership, GoldItem]:
    if membership.project.practice_bar is None:
        raise Http404(gettext("There is no practice in this project."))
    return membership, access.practice_item_for(membership, pk)


def _sender(request: HttpRequest, slug: str, pk: int) -> tuple[Membership, GoldItem]:
    return _practice_item(access.sending_annotator(request.user, slug, request.POST.get("annotator", "")), pk)


def _save_sent(
    membership: Membership, gold: GoldItem, token: str, sent: list[dict[str, Any]]
) -> list[dict[str, object] | InvalidValueError]:
    shown = practice_item_of(gold, membership)
    read = [_read_answer(shown, each) for each in sent]
    given = [each for each in read if isinstance(each, SubmittedAnswer)]
    # Replies are in the order in which answers were sent: each readable answer takes the next result.
    stored = iter(save_practice(membership=membership, gold=gold, attempt=_attempt_in(token), given=given))
    problems = [next(stored) if isinstance(each, SubmittedAnswer) else each for each in read]
    complete = practice_item_of(gold, membership).is_answered
    return [each or {"revision": 0, "complete": complete} for each in problems]


def _attempt_in(token: str) -> int:
    return read_number(token.rpartition("-")[2]) or 0


def _read_answer(
    shown: PracticeItem, sent: Mapping[str, Any], prefix: str | None = None
) -> SubmittedAnswer | InvalidValueError:
    dimension = shown.guideline.dimension(str(sent.get("key", prefix)))
    form = AnswerForm(sent, prefix=prefix)
    if dimension is None:
        return InvalidValueError(gettext("Practice does not ask for this dimension."))
    if not form.is_valid():
        fields = {name: str(errors[0]) for name, errors in form.errors.items()}
        return InvalidValueError(next(iter(fields.values())), fields=fields)
    return SubmittedAnswer(dimension, form.answer(), form.to_sent())


def _save_all(request: HttpRequest, membership: Membership, shown: PracticeItem) -> list[str]:
    read = [_read_answer(shown, request.POST, row.dimension.key) for row in shown.page.rows]
    given = [each for each in read if isinstance(each, SubmittedAnswer)]
    attempt = _attempt_in(request.POST.get("assignment", ""))
    try:
        problems = save_practice(membership=membership, gold=shown.gold, attempt=attempt, given=given)
        wrong = [each.message for each in (*read, *problems) if isinstance(each, InvalidValueError)]
        if not wrong:
            settle_practice_item(membership=membership, gold=shown.gold)
    except NotReadyError as error:
        return [error.message]
    return wrong


def _render_practice(
    request: HttpRequest, membership: Membership, shown: PracticeItem, refusals: list[str]
) -> HttpResponse:
    address = reverse("practice_item", args=[membership.project.slug, shown.gold.pk])
    context = {
        "layout": "rating/ahead.html" if "Concord-Ahead" in request.headers else "base.html",
        "project": membership.project,
        "membership": membership,
        "round": shown.page.assignment.round,
        "token": shown.token,
        "page": shown.page,
        "practised": shown,
        "rows_html": practice_rows_as_html(membership.project, shown.page, f"{address}answer/"),
        "guideline": shown.guideline,
        "refusals": refusals,
        "key_map": key_map_of(request.user),
        "key_actions": ACTIONS,
    }
    return render(request, "rating/item.html", context, status=422 if refusals else 200)


# Annotator quality: signals worth a look, and whose ratings count. Nothing here decides by itself.


@login_required
@require_GET
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_of_watching_admin(request.user, slug)
    kept = load_figures(project, result_of(project, SIGNALS))
    context = {
        "raters": raters_with_signals(project, kept),
        "fastest": FASTEST_READING,
        "kept": kept,
        "part": SIGNALS,
    }
    return render_in_project(request, project, "quality/raters.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def quality_rater(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership = membership_in(project_of_watching_admin(request.user, slug), pk)
    if membership.role != Role.ANNOTATOR:
        raise Http404(gettext("Only annotators rate."))
    form = CountingForm(request.POST or None)
    if form.is_valid():
        try:
            decided = decide_counting(membership=membership, by=request_user(request), **form.cleaned_data)
        except DomainError as error:
            messages.error(request, error.message)
        else:
            message = (
                gettext("Statistics include the ratings of {label} again.")
                if decided.counted
                else gettext("Statistics exclude the ratings of {label} now.")
            )
            messages.success(request, message.format(label=membership.label))
        return redirect("quality_rater", slug, pk)
    kept = load_figures(membership.project, result_of(membership.project, SIGNALS))
    context = {
        "evidence": evidence(membership, kept),
        "form": form,
        "fastest": FASTEST_READING,
        "kept": kept,
        "part": SIGNALS,
    }
    status = 422 if form.is_bound else 200
    return render_in_project(request, membership.project, "quality/rater.html", context, status=status)
