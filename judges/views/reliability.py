"""Where judges can be trusted, what follows for mean scores, and whether a judge may replace an annotator."""

from collections.abc import Callable
from typing import TypeVar

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotate.access import project_for_reader
from annotate.models import Project
from annotate.views.page import Request
from judges.errors import NoJudgesError
from judges.forms.reliability import MeasuredForm, PairForm, ReplacementForm
from judges.queries.estimates import estimates_report
from judges.queries.pairings import measured_judges
from judges.queries.reliability import reliability_report
from judges.queries.replacement import replacement_report
from judges.views.page import render_judges

F = TypeVar("F", bound=forms.Form)


@login_required
@require_GET
def judge_reliability(request: Request, slug: str) -> HttpResponse:
    """Show where a pair of judges agrees with itself and with people, and whether one tells the other."""

    def report(project: Project, form: PairForm) -> object:
        return reliability_report(
            project,
            form.pairing(),
            coefficient=form.cleaned_data["coefficient"],
            beside_people=form.beside(),
            fresh=form.cleaned_data["units"] == "fresh",
        )

    return _measured(request, slug, "judges/reliability.html", PairForm, report)


@login_required
@require_GET
def judge_estimates(request: Request, slug: str) -> HttpResponse:
    """Show mean human scores by system from people, from one judge, and from both."""

    def report(project: Project, form: MeasuredForm) -> object:
        return estimates_report(project, form.chosen())

    return _measured(request, slug, "judges/estimates.html", MeasuredForm, report)


@login_required
@require_GET
def judge_replacement(request: Request, slug: str) -> HttpResponse:
    """Show whether one judge may replace an annotator, with the judges that know nothing beside it."""

    def report(project: Project, form: ReplacementForm) -> object:
        return replacement_report(project, form.chosen(), epsilon=form.cleaned_data["epsilon"])

    return _measured(request, slug, "judges/replacement.html", ReplacementForm, report)


def _measured(
    request: Request,
    slug: str,
    template: str,
    form_class: Callable[..., F],
    report: Callable[[Project, F], object],
) -> HttpResponse:
    """Show the report on the judges that were chosen, or the sentence why there is none."""
    project = project_for_reader(request.user, slug)
    try:
        form = form_class(request.GET, judges=measured_judges(project))
    except NoJudgesError as error:
        return render_judges(request, project, template, {"problem": error.message})
    if not form.is_valid():
        return render_judges(request, project, template, {"form": form}, status=422)
    return render_judges(request, project, template, {"form": form, "report": report(project, form)})
