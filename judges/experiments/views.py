"""The page on which an experiment begins: variants are chosen, then planned as one run."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from annotate.core.access import project_for_admin
from annotate.core.errors import DomainError
from annotate.core.page import Request, request_user
from judges.core.access import project_for_judges
from judges.core.page import add_refusal, render_judges
from judges.endpoints.queries import templates_of, usable_judges
from judges.experiments.commands import make_variants
from judges.experiments.factors import spec_of, variants_of
from judges.experiments.forms import ExperimentForm, query_of_plan


@login_required
@require_http_methods(["GET", "POST"])
def experiment_new(request: Request, slug: str) -> HttpResponse:
    """Choose factors; a POST makes the variants and leads to the plan of their run, with calls and cost."""
    reads = project_for_judges if request.method == "GET" else project_for_admin
    project = reads(request.user, slug)
    form = ExperimentForm(
        request.POST if request.method == "POST" else None,
        judges=usable_judges(project),
        templates=templates_of(project),
    )
    status = 422 if form.is_bound else 200
    try:
        if form.is_valid():
            base = spec_of(form.cleaned_data["base"], list(project.dimensions.all()))
            variants = variants_of(base, form.factors())
            made = make_variants(project=project, variants=variants, by=request_user(request))
            messages.success(request, gettext("{count} variants are ready to run.").format(count=len(made)))
            query = query_of_plan(made, form.cleaned_data["documents"])
            return redirect(f"{reverse('run_plan', args=[slug])}?{query}")
    except DomainError as error:
        status = add_refusal(form, error)
    return render_judges(
        request, project, "judges/experiments/experiment.html", {"form": form}, status=status
    )
