from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.additions.commands import add_systems, invite_first_raters
from annotate.additions.forms import OutputsForm
from annotate.additions.queries import (
    addition_state,
    additions_of,
    explain_unfinished,
    new_systems,
    round_states,
)
from annotate.additions.registry import SECTIONS
from annotate.core.access import (
    project_for_admin,
    project_for_reader,
    projects_with_open_results,
    reads_results,
    roles_in,
)
from annotate.core.models import Role
from annotate.core.page import FormOutcome, Request, render_in_project, request_user


@login_required
@require_http_methods(["GET", "POST"])
def additions(request: Request, slug: str) -> HttpResponse:
    # Readers see the additions, but only admins make one.
    find = project_for_admin if request.method == "POST" else project_for_reader
    project = find(request.user, slug)
    form = OutputsForm(request.POST or None, request.FILES or None)
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            data, by = form.cleaned_data, request_user(request)
            # One transaction, so that no addition remains without the annotators that the admin wanted.
            with transaction.atomic():
                made = add_systems(project=project, outputs=data["outputs"], bridging=data["bridging"], by=by)
                if data["with_annotators"]:
                    invite_first_raters(addition=made, by=by)
            messages.success(request, gettext("{name} was made.").format(name=made.project.name))
            return redirect("addition", slug, made.number)
    found = list(additions_of(project))
    systems = new_systems(found)
    # A reader of the benchmark may rate in an addition, or have no role in it.
    readable = projects_with_open_results(request.user, [each.project for each in found])
    states = round_states(found)
    listed = [
        (each, systems[each.pk] if each.project_id in readable else [], states[each.pk]) for each in found
    ]
    context = {
        "form": form,
        "additions": listed,
        "unfinished_reason": explain_unfinished(project),
        "is_admin": Role.ADMIN in roles_in(request.user, project),
    }
    return render_in_project(request, project, "additions/additions.html", context, status=outcome.status)


@login_required
@require_GET
def addition(request: Request, slug: str, number: int) -> HttpResponse:
    project = project_for_reader(request.user, slug)
    found = additions_of(project).filter(number=number).first()
    if found is None:
        raise Http404(gettext("There is no such addition."))
    may_read = reads_results(request.user, found.project)
    context = {
        "state": addition_state(found),
        "may_read": may_read,
        "is_admin": Role.ADMIN in roles_in(request.user, project) & roles_in(request.user, found.project),
        "sections": [make(found) for make in SECTIONS.values()] if may_read else [],
    }
    return render_in_project(request, project, "additions/addition.html", context)
