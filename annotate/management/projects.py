"""The subject of a command: a project by the slug in its URL."""

from django.core.management.base import CommandError

from annotate.core.models import Project


def project_called(slug: str) -> Project:
    """Return the project. Raises CommandError with a list of the existing projects."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no project {slug!r}; there are: {known}.")
    return project
