from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotate.core.access import project_for_admin
from annotate.core.page import Request, request_user
from annotate.material.page import uploads_page
from judges.core.page import render_judges
from judges.metrics.commands import METRICS, remove_metric
from judges.metrics.queries import metrics_of


@login_required
@require_http_methods(["GET", "POST"])
def metrics(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    template, shown = "judges/metrics/metrics.html", metrics_of(project)
    return uploads_page(request, project, template, kind=METRICS, render=render_judges, metrics=shown)


@login_required
@require_POST
def metric_remove(request: Request, slug: str, pk: int) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    metric = get_object_or_404(metrics_of(project), pk=pk)
    remove_metric(project=project, metric=metric, by=request_user(request))
    messages.success(request, gettext("“{name}” was removed with its values.").format(name=metric.name))
    return redirect("metrics", slug)
