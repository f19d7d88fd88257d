"""Gold items: marked, described, unmarked, and how much of practice must be right."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotate.access import gold_in, project_for_admin
from annotate.commands.gold import describe_gold, mark_gold, unmark_gold
from annotate.commands.practice import set_practice_bar
from annotate.errors import DomainError
from annotate.forms.gold import BarForm, GoldForm, MarkForm
from annotate.queries.gold import gold_of, names_to_choose
from annotate.queries.projects import is_frozen
from annotate.views.page import refusal_told, render_in_project


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
    return render_in_project(request, project, "gold/list.html", context, status=status)


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
    return render_in_project(request, project, "gold/item.html", context, status=status)


@login_required
@require_POST
def practice_bar(request: HttpRequest, slug: str) -> HttpResponse:
    """Say how much of practice must be right before Round I, or that none is asked for."""
    project = project_for_admin(request.user, slug)
    form = BarForm(request.POST)
    with refusal_told(request):
        if form.is_valid():
            set_practice_bar(project=project, bar=form.cleaned_data["practice_bar"])
            messages.success(request, gettext("The bar of practice is saved."))
        else:
            messages.error(
                request, gettext("The bar is a percentage from 0 to 100, or empty for no practice.")
            )
    return redirect("gold", slug)
