"""Published values of a paper compared with the values of a project created from its release."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotate.core.models import AuditEntry, Project
from annotate.results.reproduction.figures import (
    ComparedTable,
    FigureComparison,
    FigureMatch,
    compare,
    read_figures,
    tables_of,
)
from annotate.results.reproduction.papers import PAPERS, Paper

BEGUN = "reproduction.begun"
"""The act in the audit log that marks a project as made for a paper."""


@dataclass(frozen=True)
class Reproduction:
    paper: Paper
    project: Project
    compared: Sequence[FigureComparison]

    @cached_property
    def counts(self) -> Mapping[str, int]:
        counts = Counter(each.standing for each in self.compared)
        return {standing.value: counts[standing] for standing in FigureMatch}

    @property
    def is_reproduced(self) -> bool:
        """Whether every value is within its tolerance, or differs for a known reason."""
        return not self.counts[FigureMatch.DIFFERS] and not self.counts[FigureMatch.UNDEFINED]

    @cached_property
    def reasons(self) -> Mapping[str, int]:
        return dict(Counter(each.reason for each in self.compared if each.standing == FigureMatch.EXPLAINED))

    @cached_property
    def tables(self) -> list[ComparedTable]:
        return tables_of(self.compared, self.paper.tables)

    def to_dict(self) -> dict[str, Any]:
        return {
            "paper": self.paper.title,
            "source": self.paper.source,
            "project": self.project.slug,
            "reproduced": self.is_reproduced,
            "counts": self.counts,
            "figures": [each.to_dict() for each in self.compared],
            "not_reproducible": [vars(each) for each in self.paper.absent],
        }


def paper_of(project: Project) -> Paper | None:
    """Return the paper that a project reproduces, if any. Up to one query."""
    paper = PAPERS.get(project.slug)
    if paper and AuditEntry.objects.filter(project=project, act=BEGUN, subject=paper.key).exists():
        return paper
    return None


def reproduction(project: Project, paper: Paper) -> Reproduction:
    computed = paper.compute(project)
    compared = [
        compare(figure, computed.get(figure.key), paper.reasons) for figure in read_figures(paper.figures)
    ]
    return Reproduction(paper, project, compared)
