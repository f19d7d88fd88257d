"""Practice: the next item, what was right in it, and whether the bar is passed."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate import access
from annotate.commands.practice import answer_practice, finish_practice, practise_again
from annotate.forms.practice import PracticeForm
from annotate.models import GoldItem, Role
from annotate.queries.practice import lessons, practice_of, practice_rows
from annotate.views.page import render_in_project


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
    return render_in_project(request, place.project, "practice/end.html", context)


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
    return render_in_project(request, place.project, "practice/item.html", context, status=status)


@login_required
@require_POST
def practice_again(request: HttpRequest, slug: str) -> HttpResponse:
    """Begin practice once more."""
    practise_again(place=access.membership(request.user, slug, Role.ANNOTATOR))
    return redirect("practice", slug)


def _page(gold: GoldItem) -> dict[str, object]:
    return {"title": gold.item.document.title, "parts": gold.item.document.parts}
