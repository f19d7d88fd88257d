"""Pages about quality."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core import access
from annotate.core.access import gold_in, place_in, project_for_admin, project_of_watching_admin
from annotate.core.errors import DomainError
from annotate.core.models import GoldItem, Role
from annotate.core.page import render_in_project, request_user, show_refusal
from annotate.core.projects import is_frozen
from annotate.quality import FASTEST_READING
from annotate.quality.commands import (
    answer_practice,
    decide_counting,
    describe_gold,
    finish_practice,
    mark_gold,
    practise_again,
    set_practice_bar,
    unmark_gold,
)
from annotate.quality.forms import BarForm, CountingForm, GoldForm, MarkForm, PracticeForm
from annotate.quality.queries import (
    evidence,
    gold_of,
    lessons,
    names_to_choose,
    practice_of,
    practice_rows,
    raters_with_signs,
)

# Gold items: marked, described, unmarked, and how much of practice must be right.


@login_required
@require_http_methods(["GET", "POST"])
def gold(request: HttpRequest, slug: str) -> HttpResponse:
    """List gold items; a POST marks another."""
    project = project_for_admin(request.user, slug)
    form, status = MarkForm(request.POST or None, project=project), 200
    if request.method == "POST":
        status = 422
        try:
            if form.is_valid():
                use, item = form.cleaned_data["use"], form.cleaned_data["item"]
                return redirect("gold_item", slug, mark_gold(project=project, item=item, use=use).pk)
        except DomainError as error:
            form.add_error(None, error.message)
            status = error.status
    context = {
        "form": form,
        "bar_form": BarForm(initial={"practice_bar": project.practice_bar}),
        "gold": list(gold_of(project)),
        "frozen": is_frozen(project),
        "names": names_to_choose(project),
    }
    return render_in_project(request, project, "quality/gold.html", context, status=status)


@login_required
@require_http_methods(["GET", "POST"])
def gold_item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a gold item beside its right values; a POST stores them, or gives the item back."""
    project = project_for_admin(request.user, slug)
    gold = gold_in(project, pk)
    form = GoldForm(request.POST or None, gold=gold, dimensions=list(project.dimensions.all()))
    status = 200
    if request.method == "POST":
        status = 422
        try:
            if "unmark" in request.POST:
                unmark_gold(project=project, gold=gold)
                messages.success(request, gettext("The item is an ordinary one again."))
                return redirect("gold", slug)
            if form.is_valid():
                explanation = form.cleaned_data["explanation"]
                describe_gold(project=project, gold=gold, explanation=explanation, values=form.right_values)
                messages.success(request, gettext("The right values are saved."))
                return redirect("gold", slug)
        except DomainError as error:
            form.add_error(None, error.message)
            status = error.status
    item = gold.item
    page = {"title": item.document.title, "parts": item.document.parts}
    context = {"gold": gold, "form": form, "page": page, "frozen": is_frozen(project)}
    return render_in_project(request, project, "quality/gold_item.html", context, status=status)


@login_required
@require_POST
def practice_bar(request: HttpRequest, slug: str) -> HttpResponse:
    """Say how much of practice must be right before Round I, or that none is asked for."""
    project = project_for_admin(request.user, slug)
    form = BarForm(request.POST)
    with show_refusal(request):
        if form.is_valid():
            set_practice_bar(project=project, bar=form.cleaned_data["practice_bar"])
            messages.success(request, gettext("The bar of practice is saved."))
        else:
            messages.error(
                request, gettext("The bar is a percentage from 0 to 100, or empty for no practice.")
            )
    return redirect("gold", slug)


# Practice: the next item, what was right in it, and whether the bar is passed.


@login_required
@require_GET
def practice(request: HttpRequest, slug: str) -> HttpResponse:
    """Go to the next item to practise on, or say how practice ended, by the bar as it is now."""
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    if place.project.practice_bar is None:
        return redirect("rate", slug)
    state = practice_of(place)
    if state.next:
        return redirect("practice_item", slug, state.next.pk)
    context = {"place": finish_practice(place=place), "practice": state}
    return render_in_project(request, place.project, "quality/practice_end.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def practice_item(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show an item to practise on; once answered, what is right and why. The first answer stands."""
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    if place.project.practice_bar is None:
        raise Http404(gettext("There is no practice in this project."))
    gold = access.practice_item_for(place, pk)
    learnt = lessons(gold, place)
    form = PracticeForm(
        request.POST if request.method == "POST" else None, rows=practice_rows(gold, place.project)
    )
    if not learnt and form.is_valid():
        answer_practice(place=place, gold=gold, values=form.values)
        return redirect("practice_item", slug, pk)
    context = {
        "page": _page(gold),
        "text": gold.item.text,
        "form": form,
        "lessons": learnt,
        "explanation": gold.explanation if learnt else "",
        "practice": practice_of(place),
    }
    status = 422 if form.is_bound and not learnt else 200
    return render_in_project(request, place.project, "quality/practice_item.html", context, status=status)


@login_required
@require_POST
def practice_again(request: HttpRequest, slug: str) -> HttpResponse:
    """Begin practice once more."""
    practise_again(place=access.membership(request.user, slug, Role.ANNOTATOR))
    return redirect("practice", slug)


def _page(gold: GoldItem) -> dict[str, object]:
    return {"title": gold.item.document.title, "parts": gold.item.document.parts}


# How people rate: signs worth a look, and whose ratings count. Nothing here decides by itself.


@login_required
@require_GET
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every annotator's signs side by side."""
    project = project_of_watching_admin(request.user, slug)
    context = {"raters": raters_with_signs(project), "fastest": FASTEST_READING}
    return render_in_project(request, project, "quality/raters.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def quality_rater(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show one annotator's signs with the items behind them; a POST decides whether the ratings count."""
    place = place_in(project_of_watching_admin(request.user, slug), pk)
    if place.role != Role.ANNOTATOR:
        raise Http404(gettext("Only annotators rate."))
    form = CountingForm(request.POST or None)
    if form.is_valid():
        try:
            decided = decide_counting(place=place, by=request_user(request), **form.cleaned_data)
        except DomainError as error:
            messages.error(request, error.message)
        else:
            counts = "count in the statistics again" if decided.counted else "are left out of the statistics"
            messages.success(
                request, gettext("The ratings of {label} {counts}.").format(label=place.label, counts=counts)
            )
        return redirect("quality_rater", slug, pk)
    context = {"evidence": evidence(place), "form": form, "fastest": FASTEST_READING}
    status = 422 if form.is_bound else 200
    return render_in_project(request, place.project, "quality/rater.html", context, status=status)
