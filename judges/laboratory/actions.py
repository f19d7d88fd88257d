"""What results pages of the laboratory let an admin start."""

from django.template.loader import render_to_string

from annotate.core.models import Project
from annotate.core.page import Request
from judges.core.access import may_change_judges
from judges.core.models import Experiment
from judges.laboratory.forms import ExperimentForm


def experiment_form(request: Request, project: Project) -> str:
    """Return the form of a new experiment as HTML, open before the first; nothing for who is no admin."""
    if not may_change_judges(request.user, project):
        return ""
    context = {
        "project": project,
        "form": ExperimentForm(None, project=project),
        "is_open": not Experiment.objects.filter(run__project=project).exists(),
    }
    return render_to_string("judges/laboratory/_experiment_form.html", context, request)
