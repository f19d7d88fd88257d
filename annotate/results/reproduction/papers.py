"""Papers that can be reproduced: annotate's own, and those that other apps add."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext

from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.core.specification import ProjectTemplate
from annotate.material.reading.progress import OnProgress
from annotate.results.reproduction.figures import Computed


class MissingReleaseFileError(DomainError):
    """A folder does not hold a file of the release."""

    code = "missing_file"


@dataclass(frozen=True)
class ReleaseFile:
    """A file of a release, what is in it, and what brings it into a project.

    bring: imports the file and returns why its first refused line was refused, or nothing.
    """

    name: str
    holds: str
    bring: Callable[[Project, Path, OnProgress], str]


@dataclass(frozen=True)
class Absent:
    """What a paper reports and its release does not allow to compute, and why."""

    what: str
    reason: str


@dataclass(frozen=True)
class Paper:
    """A paper with a public release.

    key: also the slug of the project made for it. source: where it was published. template: of the project.
    files: in the order in which they are imported. tables: what each holds, by number. figures: the
    file of what it reports. reasons: of known differences. compute: the same figures from the project.
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
    """Return a release's files, each in the folder or in one below it, compressed or not, in their order.

    Raises MissingReleaseFileError with the first that is not there once.
    """
    return [_find_file(each, folder) for each in paper.files]


def _find_file(file: ReleaseFile, folder: Path) -> Path:
    names = (file.name, f"{file.name}.gz")
    for place in (folder.glob, folder.rglob):
        found = sorted({path for name in names for path in place(name) if path.is_file()})
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
