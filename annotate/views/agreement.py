"""Agreement: Round I reliability beside agreement after discussion, and the detail of a dimension."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotate import access
from annotate.queries.agreement import Drawn, agreement_table, dimension_details
from annotate.queries.quality import left_out
from annotate.queries.rounds import rounds_of
from annotate.views.page import render_in_project


@login_required
@require_GET
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the table of both rounds to admins and researchers."""
    project = access.project_for_reader(request.user, slug)
    context = {"table": agreement_table(project, drawn=_drawn(request)), "left_out": left_out(project)}
    return render_in_project(request, project, "agreement/agreement.html", context)


@login_required
@require_GET
def agreement_dimension(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Show one dimension: other levels and coefficients, pairs of raters, distributions, in each round."""
    project = access.project_for_reader(request.user, slug)
    details = [
        detail
        for round in rounds_of(project).values()
        for detail in dimension_details(round, keys=frozenset({key}), drawn=_drawn(request))
    ]
    if not details:
        raise Http404(gettext("There is no such dimension, or Round I has not been opened."))
    details.sort(key=lambda detail: detail.round.number)
    context = {"details": details, "drawn": _drawn(request)}
    return render_in_project(request, project, "agreement/dimension.html", context)


def _drawn(request: HttpRequest) -> Drawn:
    return "documents" if request.GET.get("drawn") == "documents" else "units"
