"""That a project's data were taken away."""

from annotate.commands.audit import record
from annotate.models import Project


def note_export(*, project: Project, what: str, format: str) -> None:
    """Record that someone takes a table, or everything, away."""
    record(project, "export.taken", what, after={"format": format})
