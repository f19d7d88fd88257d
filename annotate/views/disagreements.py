"""The explorer: from a figure to the units behind it, and to what was said about each."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotate import access
from annotate.forms.disagreements import DisagreementForm
from annotate.queries.results.disagreements import disagreements as units_apart
from annotate.queries.results.disagreements import shows_systems, unit_page
from annotate.unit_parts import UNIT_PARTS
from annotate.views.page import render_in_project

PER_PAGE = 50


@login_required
@require_GET
def disagreements(request: HttpRequest, slug: str) -> HttpResponse:
    """List rated units by how far apart raters are."""
    project = access.project_for_reader(request.user, slug)
    shown = shows_systems(project)
    form = DisagreementForm(request.GET, project=project, shows_systems=shown)
    found = Paginator(units_apart(project, form.meant), PER_PAGE).get_page(request.GET.get("page"))
    context = {"form": form, "units": found, "shows_systems": shown}
    return render_in_project(request, project, "results/disagreements.html", context)


@login_required
@require_GET
def disagreement(request: HttpRequest, slug: str, pk: int, key: str) -> HttpResponse:
    """Show one unit: its texts, every rater's value with its reason, the thread, and what judges said."""
    project = access.project_for_reader(request.user, slug)
    page = unit_page(project, pk, key)
    if page is None:
        raise Http404(gettext("There is no such unit, or Round I has not been opened."))
    context = {"page": page, "shows_systems": shows_systems(project), "unit_parts": UNIT_PARTS}
    return render_in_project(request, project, "results/disagreement.html", context)
