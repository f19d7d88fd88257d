"""What results pages of the laboratory let an admin start."""

from django.template.loader import render_to_string

from annotate.core.models import Project
from annotate.core.page import Request
from judges.core.access import may_change_judges
from judges.core.models import Judge
from judges.laboratory.forms import ExperimentForm


def experiment_form(request: Request, project: Project) -> str:
    """Return the form of a new experiment as HTML, open before there is anything to compare.

    Only admins get it.
    """
    if not may_change_judges(request.user, project):
        return ""
    context = {
        "project": project,
        "form": ExperimentForm(None, project=project),
        "is_open": Judge.objects.filter(project=project, judgments__isnull=False).distinct().count() < 2,
    }
    return render_to_string("judges/laboratory/_experiment_form.html", context, request)
