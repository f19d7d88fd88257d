"""How people rate: signs worth a look, and whose ratings count. Nothing here decides by itself."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.access import place_in, project_of_watching_admin
from annotate.commands.quality import decide_counting
from annotate.errors import DomainError
from annotate.forms.quality import CountingForm
from annotate.models import Role
from annotate.quality import FASTEST_READING
from annotate.queries.quality import evidence, raters_with_signs
from annotate.views.page import render_in_project, request_user


@login_required
@require_GET
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every annotator's signs side by side."""
    project = project_of_watching_admin(request.user, slug)
    context = {"raters": raters_with_signs(project), "fastest": FASTEST_READING}
    return render_in_project(request, project, "quality/quality.html", context)


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
