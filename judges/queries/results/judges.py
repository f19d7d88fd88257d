"""Judges beside people, as tables: one section for all of them, and one for each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotate.agreement import (
    Coefficient,
    Resampling,
    bias,
    mean,
    mean_absolute_error,
    root_mean_squared_error,
    spearman,
)
from annotate.generators import generator_for
from annotate.guideline import FrozenDimension
from annotate.models import Project
from annotate.queries.rounds import rounds_of
from annotate.results.page import Section
from annotate.results.table import Cell, Column, Kind, Table, figure, text
from judges.comparison import (
    CORRELATIONS,
    Level,
    Scores,
    alpha_beside_people,
    correlation_by_system,
    correlation_with_humans,
    meta_correlation,
)
from judges.errors import NoJudgesError
from judges.models import Judge
from judges.queries.comparison import guideline_of
from judges.queries.pairings import measured_judges, usual_pairing
from judges.queries.results.values import confusion, scatter
from judges.queries.scores import material_of, samples_of, scores_of
from judges.reliability import indicator

_JUDGE, _DIMENSION = Column("judge", "Judge", Kind.TEXT), Column("dimension", "Dimension", Kind.TEXT)
_SYSTEM = Column("system", "System", Kind.TEXT)
_LEVELS = {Level.DATASET: "all items", Level.SYSTEM: "systems", Level.DOCUMENT: "within documents"}
_BY_DOCUMENTS = Resampling(by="documents")


@dataclass(frozen=True)
class Beside:
    """One judge beside people on one dimension."""

    judge: Judge
    dimension: FrozenDimension
    scores: Scores
    seed: int

    @property
    def names(self) -> list[Cell]:
        """The cells that name it."""
        return [text(self.judge.name), text(self.dimension.name)]

    def generator(self) -> np.random.Generator:
        """Return the generator of an interval: the same whenever it is computed."""
        return generator_for(self.seed, self.judge.name, self.dimension.key)


def judges_sections(project: Project) -> list[Section]:
    """Return all tables about judges that give scores, none without values of any. Seven queries."""
    judges = measured_judges(project)
    if not judges:
        return []
    besides = _besides(project, judges)
    own = {judge: [each for each in besides if each.judge == judge] for judge in judges}
    together = Section(
        "All judges",
        "Against the mean of what people hold at the end of the last round. Alpha of a judge with the mean "
        "is read beside alpha among people.",
        [_correlations(besides), _alphas(besides), _differences(besides), *_indicator(judges, besides)],
    )
    return [together, *(Section(judge.name, "", _of_one(own[judge])) for judge in judges)]


def _besides(project: Project, judges: Sequence[Judge]) -> list[Beside]:
    rounds = rounds_of(project)
    round = rounds.get(max(rounds, default=0))
    material = material_of(project, round, guideline_of(project, round))
    samples = samples_of(judges, material)
    found = [
        Beside(judge, each, scores_of(material, each.key, samples[judge.pk, each.key]), project.seed)
        for judge in judges
        for each in material.dimensions
    ]
    return [each for each in found if not np.isnan(each.scores.judge).all()]


def _correlations(besides: Sequence[Beside]) -> Table:
    rows = [
        [
            *each.names,
            *(
                figure(correlation_with_humans(each.scores, measure, level, generator=each.generator()))
                for measure in CORRELATIONS.values()
                for level in Level
            ),
        ]
        for each in besides
    ]
    columns = [
        Column(f"{name}_{level}", f"{measure.estimator.label}, {_LEVELS[level]}")
        for name, measure in CORRELATIONS.items()
        for level in Level
    ]
    title = "Correlation of judges with mean human scores"
    return Table("correlations", title, [_JUDGE, _DIMENSION, *columns], rows, heads=2)


def _alphas(besides: Sequence[Beside]) -> Table:
    rows = []
    for each in besides:
        level = each.dimension.measurement_level
        found = alpha_beside_people(each.scores, measurement_level=level, generator=each.generator())
        alphas = (found.among_people, found.with_judge, found.with_mean)
        rows.append([*each.names, *(figure(alpha) for alpha in alphas)])
    columns = [
        Column("among_people", "among people"),
        Column("with_judge", "with the judge as one more rater"),
        Column("with_mean", "judge and mean of people"),
    ]
    title = "Krippendorff’s alpha among people and with judges"
    return Table("alphas", title, [_JUDGE, _DIMENSION, *columns], rows, heads=2)


def _differences(besides: Sequence[Beside]) -> Table:
    measures = (bias, mean_absolute_error, root_mean_squared_error)
    rows = [
        [
            *each.names,
            *(
                figure(
                    measure(
                        each.scores.judge,
                        each.scores.human_means,
                        documents=each.scores.documents,
                        generator=each.generator(),
                        resampling=_BY_DOCUMENTS,
                    )
                )
                for measure in measures
            ),
        ]
        for each in besides
    ]
    columns = [Column(each.estimator.name, each.estimator.label, decimals=2) for each in measures]
    return Table(
        "differences",
        "How far judges are from people",
        [_JUDGE, _DIMENSION, *columns],
        rows,
        heads=2,
        says="The judge’s value minus the mean of people, in points of the scale; bias above 0 is generous.",
    )


def _indicator(judges: Sequence[Judge], besides: Sequence[Beside]) -> list[Table]:
    """Return R of the usual pair of judges by system and dimension, none where there is no pair."""
    try:
        pairing = usual_pairing(judges)
    except NoJudgesError:
        return []
    other = {each.dimension: each.scores.judge for each in besides if each.judge == pairing.mcq}
    both = [each for each in besides if each.judge == pairing.rts and each.dimension in other]
    if not both:
        return []
    by_dimension = [
        indicator(each.scores, other[each.dimension], spearman, generator=np.random.default_rng(each.seed))
        for each in both
    ]
    rows = [
        [text(cells[0].system), *(figure(cell.coefficient) for cell in cells)]
        for cells in zip(*by_dimension, strict=True)
    ]
    says = (
        f"Spearman’s rho of {pairing.rts.name} with {pairing.mcq.name} over each system’s items: where the "
        f"model agrees with itself, not how right it is. {pairing.warning}"
    ).strip()
    columns = [Column(each.dimension.key, each.dimension.name) for each in both]
    title = "Reliability indicator R"
    return [Table("indicator", title, [_SYSTEM, *columns], rows, says=says, plot="heat")]


def _of_one(besides: Sequence[Beside]) -> list[Table]:
    if not besides:
        return []
    key, name = f"judge-{besides[0].judge.pk}", besides[0].judge.name
    pairs = [(each.dimension, each.scores) for each in besides]
    return [scatter(key, name, pairs), confusion(key, name, pairs), _quality(key, name, besides)]


def _quality(key: str, name: str, besides: Sequence[Beside]) -> Table:
    """Return every system's mean human score beside the judge's agreement with people on it."""
    rows = [
        [text(each.dimension.name), text(one.system), _mean(each, index), figure(one.coefficient)]
        for each in besides
        for index, one in enumerate(correlation_by_system(each.scores, spearman, generator=each.generator()))
    ]
    metas = [(each, meta_correlation(each.scores, spearman)) for each in besides]
    told = "; ".join(f"{each.dimension.name} {_said(found)}" for each, found in metas)
    columns = [
        _DIMENSION,
        _SYSTEM,
        Column("quality", "mean human score", decimals=2),
        Column("agreement", "Spearman with people"),
    ]
    return Table(
        f"{key}-quality",
        f"Quality of systems against agreement with people ({name})",
        columns,
        rows,
        heads=2,
        says=f"Where agreement falls as quality rises, the judge fails on good systems. M: {told}.",
        plot="quality",
    )


def _mean(beside: Beside, system: int) -> Cell:
    """Return a system's mean human score; its interval resamples its items."""
    own = beside.scores.human_means[beside.scores.systems == system]
    found = mean(own, generator=beside.generator())
    return figure(found, count=found.counts.ratings)


def _said(coefficient: Coefficient) -> str:
    return "undefined" if coefficient.value is None else f"{coefficient.value:.2f}".replace("-", "−")
