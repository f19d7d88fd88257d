from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotate.additions.queries import addition_of
from annotate.core.access import project_for_admin
from annotate.core.errors import DomainError
from annotate.core.page import Request, request_user
from judges.additions.commands import ask_copies, copy_judges, follow_route
from judges.core.access import project_for_routing


@login_required
@require_POST
def addition_step(request: Request, slug: str, step: str) -> HttpResponse:
    """Copy the benchmark's judges, run them, or create a policy by its certificates.

    For admins of both projects, because keys are copied from one to the other.
    """
    addition = addition_of(project_for_routing(request.user, slug))
    if addition is None or step not in ("copy", "ask", "follow"):
        raise Http404(gettext("There is no such step."))
    project_for_admin(request.user, addition.benchmark.slug)
    by = request_user(request)
    try:
        if step == "ask":
            return redirect("run", slug, ask_copies(addition=addition, by=by).pk)
        if step == "follow":
            return redirect("routing_policy", slug, follow_route(addition=addition, by=by).pk)
        copy_judges(addition=addition, by=by)
        messages.success(request, gettext("The addition has the judges of the benchmark."))
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("addition", addition.benchmark.slug, addition.number)
