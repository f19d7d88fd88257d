"""The pages of results: annotate's own, and those that other apps add."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from annotate.models import Project
from annotate.queries.agreement import Drawn
from annotate.results.page import Section
from annotate.version import VERSION


@dataclass(frozen=True)
class ResultsPage:
    """A page of results of every project.

    name: what its address ends with. sections: computes it. version: what changes whenever its figures might,
    in few and fast queries. size: how many values they rest on; with many a worker computes them.
    """

    name: str
    title: str
    says: str
    sections: Callable[[Project, Drawn], Sequence[Section]]
    version: Callable[[Project], Sequence[object]]
    size: Callable[[Project], int]


PAGES: dict[str, ResultsPage] = {}


def add_results_pages(*pages: ResultsPage) -> None:
    """Show these pages after those that are there."""
    PAGES.update({page.name: page for page in pages})


def version_of(page: ResultsPage, project: Project) -> str:
    """Return a word for the state of the data, and of Concord, that the page's figures follow from."""
    parts = repr([VERSION, *page.version(project)])
    return hashlib.blake2b(parts.encode(), digest_size=20).hexdigest()


def name_of(page: ResultsPage, drawn: Drawn) -> str:
    """Return under which name the page's figures are kept."""
    return f"{page.name}?drawn={drawn}"


def meant_by(name: str) -> tuple[ResultsPage, Drawn]:
    """Return which page a name that `name_of` gave is of."""
    page, _, drawn = name.partition("?drawn=")
    return PAGES[page], cast("Drawn", drawn)
