from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from annotate.core.access import project_for_admin
from annotate.core.page import Request
from annotate.material.page import uploads_page
from judges.core.page import render_judges
from judges.interchange.commands import JUDGMENTS


@login_required
@require_http_methods(["GET", "POST"])
def judgment_imports(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    template = "judges/interchange/imports.html"
    return uploads_page(request, project, template, kind=JUDGMENTS, render=render_judges)
