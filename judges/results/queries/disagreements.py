"""Units on which judges and people differ most."""

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from annotate.core.models import Project
from annotate.core.rounds import rounds_of
from annotate.core.scale import normalize
from annotate.results.queries.disagreements import (
    Disagreement,
    DisagreementSource,
    PagedUnits,
    RaterValue,
    UnitApart,
    items_with_texts,
)
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import Chosen, ResultsPage
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text
from judges.core.models import Judge
from judges.results.queries.scores import material_of, mean_of_samples, samples_of, value_of_samples
from judges.results.tables.columns import JUDGE, SYSTEM
from judges.results.tables.parameters import values_of, version_of_judges

MOST_UNITS = 200
"""Maximum number of stored units per judge and dimension, the largest differences first."""
_COLUMNS = [
    JUDGE,
    DIMENSION,
    Column("item", lambda: gettext("Item"), ColumnKind.COUNT),
    SYSTEM,
    Column("document", lambda: gettext("Document"), ColumnKind.TEXT),
    Column("judge_value", lambda: gettext("judge"), decimals=2),
    Column("people", lambda: gettext("mean of people"), decimals=2),
    Column("difference", lambda: gettext("difference"), decimals=2),
    Column("ratings", lambda: gettext("ratings"), ColumnKind.COUNT),
]


def judge_difference_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Five queries. Documents in development are excluded, as from all results."""
    judges = [each for each in Judge.objects.filter(project=project).order_by("name") if not each.asks_pairs]
    rounds = rounds_of(project)
    round = rounds.get(max(rounds, default=0))
    if not judges or round is None:
        return []
    material = material_of(project, round)
    samples = samples_of(judges, material)
    rows = []
    for judge in judges:
        for dimension in material.dimensions:
            # Names of categories have no difference.
            if dimension.is_named:
                continue
            own = value_of_samples(dimension, samples[judge.pk, dimension.key].values)
            human = material.human(dimension.key)
            ratings, means = (~np.isnan(human)).sum(axis=0), mean_of_samples(human.T)
            both = np.flatnonzero(~np.isnan(own) & ~np.isnan(means))
            # A stable sort keeps units with equal differences in the order of items, at each computation.
            largest = both[np.argsort(-np.abs(own[both] - means[both]), kind="stable")][:MOST_UNITS]
            rows += [
                [
                    text(judge.name, key=str(judge.pk)),
                    text(dimension.name, key=dimension.key),
                    Cell(int(material.items[at])),
                    text(material.systems[at]),
                    text(material.document_keys[at]),
                    Cell(float(own[at])),
                    Cell(float(means[at])),
                    Cell(float(own[at] - means[at])),
                    Cell(int(ratings[at])),
                ]
                for at in largest.tolist()
            ]
    # Pages read slices of the rows, so the largest differences of all judges come first.
    rows.sort(key=lambda row: -abs(float(row[7].value or 0)))
    title = gettext("Differences between judges and people")
    return [Section(title, "", [Table("units", title, _COLUMNS, rows, heads=2)])]


class JudgeDifferences(PagedUnits):
    def __init__(self, project: Project, meant: Disagreement, kept: KeptPage) -> None:
        self._dimensions = {each.key: each for each in project.dimensions.all()}
        table = kept.table("units")
        self._rows = [
            row
            for row in (table.rows if table else ())
            if abs(float(row[7].value or 0)) >= meant.apart
            and meant.dimension in ("", row[1].key)
            and meant.system in ("", row[3].value)
            and meant.document in ("", row[4].value)
            # A dimension may have been deleted since the computation.
            and row[1].key in self._dimensions
        ]

    def __len__(self) -> int:
        return len(self._rows)

    def read(self, part: slice) -> list[UnitApart]:
        """Return some units with their names, in one query."""
        chosen = self._rows[part]
        items = items_with_texts([int(row[2].value or 0) for row in chosen])
        found = []
        for row in chosen:
            item = items.get(int(row[2].value or 0))
            judge, people = float(row[5].value or 0), float(row[6].value or 0)
            if item is None:
                continue  # deleted since the differences were computed
            found.append(
                UnitApart(
                    item=item,
                    dimension=self._dimensions[row[1].key],
                    lowest=normalize(round(min(judge, people), 2)),
                    highest=normalize(round(max(judge, people), 2)),
                    ratings=int(row[8].value or 0),
                    apart=normalize(round(abs(judge - people), 2)),
                    given=(
                        RaterValue(str(row[0].value), normalize(round(judge, 2))),
                        RaterValue(gettext("mean of people"), normalize(round(people, 2))),
                    ),
                )
            )
        return found


JUDGES_AND_PEOPLE = DisagreementSource(
    "judges",
    gettext_lazy("Judges and people"),
    gettext_lazy("Units with the largest difference between a judge and the mean of people come first."),
    ResultsPage(
        "judge-differences",
        gettext_lazy("Differences between judges and people"),
        gettext_lazy("Values of each judge minus the mean of people, the largest differences first."),
        judge_difference_sections,
        version_of_judges,
        values_of,
        shown_on="disagreements",
    ),
    JudgeDifferences,
)
