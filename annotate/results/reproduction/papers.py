"""Reproducible papers: annotate's own, and papers added by other apps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext

from annotate.core.errors import DomainError
from annotate.core.guideline import ProjectTemplate
from annotate.core.models import Project
from annotate.material.reading.progress import OnProgress
from annotate.results.reproduction.figures import Computed


class MissingReleaseFileError(DomainError):
    code = "missing_file"


@dataclass(frozen=True)
class ReleaseFile:
    """A file of a release, its content, and the function that imports it into a project.

    bring: imports the file and returns the error of its first invalid line, or an empty string.
    """

    name: str
    holds: str
    bring: Callable[[Project, Path, OnProgress], str]


@dataclass(frozen=True)
class Absent:
    """A result of a paper that cannot be computed from its release, and the reason."""

    what: str
    reason: str


@dataclass(frozen=True)
class Paper:
    """A paper with a public release.

    key: also the slug of its project. source: of the publication. template: of the project. files: in import
    order. tables: the content of each, by number. `figures`: the file of its published values. reasons: of
    known differences. compute: the same values from the project.
    """

    key: str
    name: str
    title: str
    source: str
    template: ProjectTemplate
    files: Sequence[ReleaseFile]
    tables: Mapping[str, str]
    figures: Path
    reasons: Mapping[str, str]
    absent: Sequence[Absent]
    compute: Callable[[Project], Computed]


PAPERS: dict[str, Paper] = {}


def release_files(paper: Paper, folder: Path) -> list[Path]:
    """Return a release's files, in the folder or one below it, compressed or not, in release order.

    Raises MissingReleaseFileError with the first that does not exist exactly once.
    """
    return [_find_file(each, folder) for each in paper.files]


def _find_file(file: ReleaseFile, folder: Path) -> Path:
    names = (file.name, f"{file.name}.gz")
    for search in (folder.glob, folder.rglob):
        found = sorted({path for name in names for path in search(name) if path.is_file()})
        if len(found) == 1:
            return found[0]
        if found:
            raise MissingReleaseFileError(
                gettext(
                    "“{folder}” holds {name} more than once: name the folder of the release itself."
                ).format(folder=folder, name=found[0].name)
            )
    raise MissingReleaseFileError(
        gettext("“{folder}” does not hold {file} ({holds}), compressed or not.").format(
            folder=folder, file=file.name, holds=file.holds
        )
    )
