"""Projects made from the public release of a paper."""

from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import DomainError
from annotate.core.models import Project, Role, User
from annotate.material.commands.imports import import_file
from annotate.material.reading.mappings import Mapping
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.report import ImportReport
from annotate.material.reading.source import Source
from annotate.people.commands import add_member
from annotate.results.reproduction.papers import BEGUN, Paper, paper_of, release_files
from annotate.setup.commands import create_project


class ReleaseRefusedError(DomainError):
    code = "release_refused"


def import_release(
    *, paper: Paper, folder: Path, admin: User | None, on_progress: OnProgress = silent
) -> Project:
    """Return the project of a paper with all data of its release; existing data are not created again.

    admin: the admin of the project; without one, no person sees it in a browser. Raises
    MissingReleaseFileError before any write, and ReleaseRefusedError if another project has its name or a
    line is invalid.
    """
    # The search for all files comes first, so a missing one leaves no project behind.
    paths = release_files(paper, folder)
    project = _project(paper, admin)
    for file, path in zip(paper.files, paths, strict=True):
        if refused := file.bring(project, path, on_progress):
            says = gettext("{name} differs from the released file: {refused}")
            raise ReleaseRefusedError(says.format(name=path.name, refused=refused))
    return project


def items_of_release(mapping: Mapping, project: Project, path: Path, on_progress: OnProgress) -> str:
    """Import a file's documents and items under a mapping; return the first error, if any."""
    source = Source(path, path.name, mapping, items=True, ratings=False)
    return _first_refusal(import_file(project=project, source=source, by=None, on_progress=on_progress))


def ratings_of_release(mapping: Mapping, project: Project, path: Path, on_progress: OnProgress) -> str:
    """Import a file's recorded ratings under a mapping; return the first error, if any."""
    source = Source(path, path.name, mapping, items=False, ratings=True)
    return _first_refusal(import_file(project=project, source=source, by=None, on_progress=on_progress))


def _first_refusal(report: ImportReport) -> str:
    return str(report.refused[0]) if report.is_refused else ""


@transaction.atomic
def _project(paper: Paper, admin: User | None) -> Project:
    project = Project.objects.filter(slug=paper.key).first()
    if project is None:
        project = create_project(user=admin, name=paper.name, template=paper.template)
        record(project, BEGUN, paper.key, by=admin)
    elif paper_of(project) != paper:
        says = gettext("The project “{paper}” was not made for this paper: use another installation.")
        raise ReleaseRefusedError(says.format(paper=paper.key))
    elif admin:
        add_member(project=project, role=Role.ADMIN, user=admin)
    return project
