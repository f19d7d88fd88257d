"""SummEval-OP in the product, as an admin brings it in: a project from the template, two files imported."""

from django.core.management import call_command

from annotate.core.models import Project, User
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from tests.reference import reference_data


def imported(admin: User) -> Project:
    folder = reference_data() / "summeval_op"
    project = create_project(user=admin, name="SummEval-OP", template=TEMPLATES["opinion-summaries"])
    call_command("import_items", project.slug, str(folder / "summeval-op.jsonl"), verbosity=0)
    call_command("import_ratings", project.slug, str(folder / "summeval-op-detailed.jsonl"), verbosity=0)
    return project
