"""Versions of the guideline after a round was opened, and asking raters again."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from annotate.access import dimension_in, project_for_admin
from annotate.commands.wording import ask_again
from annotate.queries.rounds import round_one
from annotate.queries.wording import wording
from annotate.views.page import refusal_told, render_in_project


@login_required
@require_GET
def versions(request: HttpRequest, slug: str) -> HttpResponse:
    """List the versions with what each changed and how many ratings were given under it."""
    project = project_for_admin(request.user, slug)
    return render_in_project(request, project, "guidelines/versions.html", {"wording": wording(project)})


@login_required
@require_POST
def ask(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """Ask the raters of a dimension again."""
    project = project_for_admin(request.user, slug)
    dimension, round = dimension_in(project, key), round_one(project)
    if round is None:
        raise Http404(gettext("Round I has not been opened."))
    with refusal_told(request):
        asked = ask_again(round=round, dimension=dimension)
        messages.success(
            request,
            gettext("Raters are asked again: {asked:,} of their ratings of {name} wait.").format(
                asked=asked, name=dimension.name
            ),
        )
    return redirect("guideline_versions", slug)
