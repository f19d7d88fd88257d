"""Pages of results, stored and recomputed after a change of the data; units behind a value; reproductions."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods
from django.views.decorators.vary import vary_on_headers

from annotate.core import access
from annotate.core.errors import DomainError
from annotate.core.models import Document, Project, System
from annotate.core.page import Request, offer_choices, render_in_project
from annotate.core.rounds import uncounted_annotators
from annotate.questions.scale import SCALE
from annotate.rating.queries.own_items import has_many_documents
from annotate.results.charts import differences_chart
from annotate.results.figures import ask_worker, front_cards, load_figures, plot_of, show_figures
from annotate.results.latex import CONTENT_TYPES as TABLE_TYPES
from annotate.results.latex import table_file
from annotate.results.plots import CONTENT_TYPES, draw
from annotate.results.queries.disagreements import (
    SOURCES,
    Disagreement,
    DisagreementSource,
    UnitApart,
    shows_systems,
    unit_page,
    units_table,
)
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import (
    PAGES,
    PARTS,
    UNIT_PARTS,
    Result,
    ResultsPage,
    UnknownChoiceError,
    result_of,
)
from annotate.results.reproduction.papers import Reproduction, build_result_table, paper_of, reproduction
from annotate.results.shown import Link
from annotate.results.table import Table


class DisagreementForm(forms.Form):
    """Dimension, system, document, and minimum range; unknown values select all."""

    dimension = forms.ChoiceField(label=_("Dimension"), required=False)
    apart = forms.FloatField(label=_("Minimum difference"), min_value=0, max_value=100, required=False)
    system = forms.ChoiceField(label=_("System"), required=False)
    document = forms.ChoiceField(label=_("Document"), required=False)

    def __init__(self, asked: QueryDict, *, project: Project, shows_systems: bool) -> None:
        super().__init__({"apart": 1, **{name: asked[name] for name in asked}})
        any_of, scales = [("", gettext("any"))], project.dimensions.filter(kind=SCALE.key)
        systems = System.objects.filter(project=project, compares=False).order_by("name")
        self._documents = Document.objects.filter(project=project)
        choices: dict[str, Any] = {
            "dimension": scales.order_by("position").values_list("key", "name"),
            "system": systems.values_list("name", "name"),
        }
        if has_many_documents(project.pk):  # thousands of choices take longer than the rest of the page
            self.fields["document"] = forms.CharField(label=_("Key of the document"), required=False)
        else:
            choices["document"] = self._documents.order_by("key").values_list("key", "key")
        for name, listed in choices.items():
            offer_choices(self, name, [*any_of, *listed])
        if not shows_systems:
            del self.fields["system"]

    def clean_document(self) -> str:
        key: str = self.cleaned_data["document"]
        if key and not self._documents.filter(key=key).exists():
            raise forms.ValidationError(_("No document has this key."))
        return key

    @property
    def meant(self) -> Disagreement:
        return Disagreement(**self._chosen_values)

    @property
    def query(self) -> str:
        return urlencode(self._chosen_values)

    @property
    def _chosen_values(self) -> dict[str, Any]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}


@login_required
@vary_on_headers("HX-Request")
@require_GET
def results(request: Request, slug: str) -> HttpResponse:
    """Show the front page of results: four charts with their messages, then all pages."""
    project = access.project_for_reader(request.user, slug)
    cards = front_cards(project, reverse("disagreements", args=[slug]))
    context = {
        "cards": cards,
        "is_waiting": any(each.is_waiting for each in cards),
        "pages": [page for page in PAGES.values() if not page.shown_at and page.is_listed(project)],
        "paper": paper_of(project),
    }
    template = "results/results.html#cards" if request.htmx else "results/results.html"
    return render_in_project(request, project, template, context)


@login_required
@vary_on_headers("HX-Request")
@require_http_methods(["GET", "POST"])
def results_page(request: Request, slug: str, name: str) -> HttpResponse:
    project = access.project_for_reader(request.user, slug)
    # Parts have pages of their own; only the task of a worker is started by this URL.
    if part := PARTS.get(name):
        if request.method == "POST":
            ask_worker(project, result_of(project, part))
        return redirect(part.shown_on, slug)
    page = PAGES.get(name)
    if page is None:
        raise Http404(gettext("There is no such page of results."))
    parts = [PAGES[each] for each in page.parts if PAGES[each].is_listed(project)]
    shown = next((each for each in parts if each.name == request.GET.get("part")), page)
    try:
        result = result_of(project, shown, request.GET.dict())
        if request.method == "POST":
            ask_worker(project, result)
            return redirect(request.get_full_path())
        # Another page shows this result, with the same choices.
        if shown.shown_at and shown is page:
            return redirect(_append_query(shown.shown_at(slug, result.chosen), request))
        context = {
            "page": page,
            "parts": parts,
            "left_out": ", ".join(membership.rater_name for membership in uncounted_annotators(project)),
            # htmx replaces the results alone, and keeps the form above them.
            "action": "" if request.htmx else _action(request, project, page),
        }
        return show_figures(request, project, result, "results/page.html", context)
    except UnknownChoiceError as error:
        raise Http404(error.message) from error
    except DomainError as error:  # required data are missing; the message names them
        context = {"page": page, "problem": error.message, "action": _action(request, project, page)}
        return render_in_project(request, project, "results/page.html", context)


def _action(request: Request, project: Project, page: ResultsPage) -> str:
    return page.action(request, project) if page.action else ""


@login_required
@require_GET
def result(request: HttpRequest, slug: str, name: str, key: str) -> HttpResponse:
    """Show one complete table, with its plot; htmx gets it as a part of another page."""
    project = access.project_for_reader(request.user, slug)
    asked, kept, table = _table(request, project, name, key)
    context = {"page": asked.page, "result": asked, "kept": kept, "table": table}
    return render_in_project(request, project, "results/result.html", context)


@login_required
@require_GET
def result_file(request: HttpRequest, slug: str, name: str, key: str, format: str) -> HttpResponse:
    project = access.project_for_reader(request.user, slug)
    asked, kept, table = _table(request, project, name, key)
    file_name = f"{project.slug}-{name}-{key}"
    if format in TABLE_TYPES:
        return table_file(project, [table], key, file_name, format, request.GET)
    if format not in CONTENT_TYPES or not (table.plot and table.rows):
        raise Http404(gettext("There is no such file of this result."))
    drawn = plot_of(project, asked, kept, table) if format == "svg" else draw(table, format)
    response = HttpResponse(drawn, content_type=CONTENT_TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="{file_name}.{format}"'
    return response


@login_required
@vary_on_headers("HX-Request")
@require_GET
def so_far(request: Request, slug: str) -> HttpResponse:
    """Show alpha of Round I in the overview, polling until it is current; without htmx go to its page."""
    project = access.project_for_reader(request.user, slug)
    if not request.htmx:
        return redirect("results_page", slug, "so-far")
    result = result_of(project, "so-far")
    kept = load_figures(project, result)
    context = {"result": result, "kept": kept, "table": kept.table("alpha")}
    return render_in_project(request, project, "results/_so_far.html", context)


@login_required
@require_GET
def redirect_to_new_url(request: HttpRequest, slug: str, name: str, **_parts: str) -> HttpResponse:
    """Redirect from an earlier URL of a page of results to the present one."""
    access.project_for_reader(request.user, slug)
    return redirect(_append_query(reverse("results_page", args=[slug, name]), request))


def _append_query(url: str, request: HttpRequest) -> str:
    query = request.GET.urlencode()
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def _table(request: HttpRequest, project: Project, name: str, key: str) -> tuple[Result, KeptPage, Table]:
    try:
        if name not in PAGES:
            raise Http404(gettext("There is no such page of results."))
        asked = result_of(project, name, request.GET.dict())
        kept = load_figures(project, asked)
    except DomainError as error:
        raise Http404(error.message) from error
    table = kept.table(key)
    if table is None:
        raise Http404(gettext("There is no such table, or it is still being computed."))
    return asked, kept, table


# The explorer: from a value to the units behind it, and to all comments about each.

PER_PAGE = 10
MOST_IN_FILE = 1_000


@login_required
@vary_on_headers("HX-Request")
@require_GET
def disagreements(request: Request, slug: str) -> HttpResponse:
    """List units with their outputs by the largest difference, among people or between judges and people."""
    project = access.project_for_reader(request.user, slug)
    source, form, kept, found = _find_disagreements(request, project)
    table = kept.table("units")
    query = form.query
    context = {
        "form": form,
        "query": f"between={source.name}&{query}",
        "units": Paginator(found, PER_PAGE).get_page(request.GET.get("page")),
        "shows_systems": shows_systems(project),
        "kept": kept,
        "source": source,
        "sources": [
            Link(each.label, f"?between={each.name}&{query}", each is source) for each in SOURCES.values()
        ],
        "chart": differences_chart(table) if table else None,
        "reasons": list(dict.fromkeys(reason for each in kept.tables for reason in each.reasons)),
        "table": table,
    }
    template = "results/disagreements.html"
    if request.htmx and request.htmx.target == "view":
        template += "#view"
    return render_in_project(request, project, template, context)


@login_required
@require_GET
def disagreements_file(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.project_for_reader(request.user, slug)
    source, _form, kept, found = _find_disagreements(request, project)
    if not kept.is_there:
        raise Http404(gettext("The differences are still being computed."))
    table = units_table(found[:MOST_IN_FILE], with_systems=shows_systems(project))
    name = f"{project.slug}-disagreements-{source.name}"
    return table_file(project, [table], table.key, name, "csv", request.GET)


def _find_disagreements(
    request: HttpRequest, project: Project
) -> tuple[DisagreementSource, DisagreementForm, KeptPage, Sequence[UnitApart]]:
    source = SOURCES.get(request.GET.get("between", "")) or next(iter(SOURCES.values()))
    form = DisagreementForm(request.GET, project=project, shows_systems=shows_systems(project))
    kept = load_figures(project, result_of(project, source.part))
    return source, form, kept, source.units(project, form.meant, kept)


@login_required
@require_GET
def disagreement(request: HttpRequest, slug: str, pk: int, key: str) -> HttpResponse:
    """Show one unit: its output and document, raters' values with reasons, the thread, and judges' values."""
    project = access.project_for_reader(request.user, slug)
    page = unit_page(project, pk, key)
    if page is None:
        raise Http404(gettext("There is no such unit, or Round I has not been opened."))
    context = {"page": page, "shows_systems": shows_systems(project), "unit_parts": UNIT_PARTS.values()}
    return render_in_project(request, project, "results/disagreement.html", context)


# Reproduction: a paper's tables compared with the values from its release.


@login_required
@require_GET
def reproduction_page(request: HttpRequest, slug: str) -> HttpResponse:
    project, found = _reproduction_or_404(request, slug)
    context = {"found": found, "formats": list(TABLE_TYPES)}
    return render_in_project(request, project, "results/reproduction.html", context)


@login_required
@require_GET
def reproduction_table(request: HttpRequest, slug: str, name: str, format: str) -> HttpResponse:
    project, found = _reproduction_or_404(request, slug)
    key = f"table-{name}"
    tables = map(build_result_table, found.tables)
    return table_file(project, tables, key, f"{project.slug}-{key}", format, request.GET)


def _reproduction_or_404(request: HttpRequest, slug: str) -> tuple[Project, Reproduction]:
    project = access.project_for_reader(request.user, slug)
    paper = paper_of(project)
    if paper is None:
        raise Http404(gettext("This project was not made to reproduce a paper."))
    return project, reproduction(project, paper)
