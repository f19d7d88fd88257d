"""The project that a command is about, by the name that its address has."""

from django.core.management.base import CommandError

from annotate.core.models import Project


def project_called(slug: str) -> Project:
    """Return the project; raises CommandError with the projects that there are."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no project {slug!r}; there are: {known}.")
    return project
