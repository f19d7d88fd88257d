"""Judges beside people: everything that `judges.comparison` says about a project's judges."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotate.agreement import Coefficient
from annotate.guideline import FrozenDimension, FrozenGuideline
from annotate.models import Project, Round
from annotate.queries.rounds import rounds_of
from judges.comparison import (
    CORRELATIONS,
    AlphaBesidePeople,
    CorrectPreferences,
    Level,
    PairPoints,
    PositionConsistency,
    Scores,
    SystemCoefficient,
    SystemScores,
    alpha_beside_people,
    correct_preferences,
    correct_verdicts,
    correlation_by_system,
    correlation_with_humans,
    head_to_head_points,
    human_ranking,
    meta_correlation,
    neighbours,
    position_consistency,
    scores_by_system,
    self_consistency,
)
from judges.methods import METHODS
from judges.models import Judge, Judgment
from judges.queries.scores import Material, material_of, samples_of, scores_of, verdicts_of

Samples = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ScoringFigures:
    """What one judge that gives scores says on one dimension, beside people."""

    dimension: FrozenDimension
    judged: int
    correlations: Mapping[str, Mapping[str, Coefficient]]
    meta_correlations: Mapping[str, Coefficient]
    by_system: Mapping[str, Sequence[SystemCoefficient]]
    systems: Sequence[SystemScores]
    all_pairs: CorrectPreferences
    neighbours: CorrectPreferences
    alpha: AlphaBesidePeople
    self_consistency: Coefficient | None


@dataclass(frozen=True)
class ComparingFigures:
    """What one judge that compares two texts says on one dimension, beside people."""

    dimension: FrozenDimension
    pairs: Sequence[PairPoints]
    consistency: PositionConsistency
    correct: CorrectPreferences


@dataclass(frozen=True)
class JudgeFigures:
    """One judge on all dimensions; one of the two is empty, by its method."""

    judge: Judge
    scoring: Sequence[ScoringFigures]
    comparing: Sequence[ComparingFigures]

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values, ready for JSON."""
        figures = [{**asdict(each), "dimension": each.dimension.key} for each in self.scoring]
        figures += [{**asdict(each), "dimension": each.dimension.key} for each in self.comparing]
        return {
            "judge": self.judge.name,
            "model": self.judge.model,
            "method": self.judge.method,
            "dimensions": figures,
        }


@dataclass(frozen=True)
class Comparison:
    """All judges of a project side by side, against what people hold at the end of a round (None: nobody)."""

    round: Round | None
    judges: Sequence[JudgeFigures]


def comparison(
    project: Project,
    judges: Sequence[Judge],
    *,
    round_number: int | None = None,
    seed: int | None = None,
) -> Comparison:
    """Return the judges' figures beside people's values of a round, the last one unless a number is given.

    With a seed every figure has its interval. Six queries, and one more for each judge that compares.
    """
    rounds = rounds_of(project)
    round = rounds.get(round_number or max(rounds, default=0))
    material = material_of(project, round, guideline_of(project, round))
    scoring = [judge for judge in judges if not METHODS[judge.method].asks_pairs]
    samples = samples_of(scoring, material)
    generator = None if seed is None else np.random.default_rng(seed)
    return Comparison(round, [_figures(judge, material, samples, generator) for judge in judges])


def judgments_of_unit(project: Project, item: int, key: str) -> list[Judgment]:
    """Return what judges that give scores said about a unit, by judge and sample. One query."""
    asked = Judgment.objects.filter(
        judge__project=project, item=item, dimension__key=key, other__isnull=True, status=Judgment.Status.DONE
    )
    return list(asked.select_related("judge").order_by("judge__name", "judge", "sample"))


def guideline_of(project: Project, round: Round | None) -> FrozenGuideline:
    """Return the round's guideline, before a round the latest that a run has frozen."""
    version = round.guideline if round else project.guideline_versions.order_by("-version").first()
    return FrozenGuideline.from_json(version.content) if version else NOTHING_FROZEN


NOTHING_FROZEN = FrozenGuideline("", 1, 2, 1, ())


def _figures(
    judge: Judge,
    material: Material,
    samples: Mapping[tuple[int, str], Samples],
    generator: np.random.Generator | None,
) -> JudgeFigures:
    if METHODS[judge.method].asks_pairs:
        return JudgeFigures(judge, [], _comparing(judge, material, generator))
    own = {each.key: samples[judge.pk, each.key] for each in material.dimensions}
    judged = {key: values for key, values in own.items() if not np.isnan(values).all()}
    scores = {key: scores_of(material, key, values) for key, values in judged.items()}
    ranking = human_ranking(*_people(material))
    dimensions = [each for each in material.dimensions if each.key in judged]
    return JudgeFigures(
        judge,
        [_scoring(each, scores[each.key], judged[each.key], ranking, generator) for each in dimensions],
        [],
    )


def _people(material: Material) -> list[Scores]:
    """Return people alone on every dimension, by which systems are ranked."""
    nothing = np.full((len(material.items), 1), np.nan)
    return [scores_of(material, each.key, nothing) for each in material.dimensions]


def _scoring(
    dimension: FrozenDimension,
    scores: Scores,
    samples: Samples,
    ranking: Sequence[str],
    generator: np.random.Generator | None,
) -> ScoringFigures:
    measures = CORRELATIONS.items()
    level = dimension.measurement_level
    return ScoringFigures(
        dimension=dimension,
        judged=int((~np.isnan(scores.judge)).sum()),
        correlations={
            of: {
                name: correlation_with_humans(scores, measure, of, generator=generator)
                for name, measure in measures
            }
            for of in Level
        },
        meta_correlations={
            name: meta_correlation(scores, measure, generator=generator) for name, measure in measures
        },
        by_system={
            name: correlation_by_system(scores, measure, generator=generator) for name, measure in measures
        },
        systems=scores_by_system(scores, generator=generator),
        all_pairs=correct_preferences(scores, generator=generator),
        neighbours=correct_preferences(scores, neighbours(ranking), generator=generator),
        alpha=alpha_beside_people(scores, measurement_level=level, generator=generator),
        self_consistency=(
            self_consistency(
                samples, documents=scores.documents, measurement_level=level, generator=generator
            )
            if samples.shape[1] > 1
            else None
        ),
    )


def _comparing(
    judge: Judge, material: Material, generator: np.random.Generator | None
) -> list[ComparingFigures]:
    of_dimension = verdicts_of(judge, material)
    people = _people(material)
    ranking = human_ranking(*people)
    figures = []
    for dimension, scores in zip(material.dimensions, people, strict=True):
        verdicts = of_dimension[dimension.key]
        if not len(verdicts.points):
            continue
        pairs = [_better_first(pair, ranking) for pair in verdicts.pairs]
        figures.append(
            ComparingFigures(
                dimension=dimension,
                pairs=head_to_head_points(verdicts, pairs, generator=generator),
                consistency=position_consistency(verdicts, generator=generator),
                correct=correct_verdicts(verdicts, scores, pairs, generator=generator),
            )
        )
    return figures


def _better_first(pair: tuple[str, str], ranking: Sequence[str]) -> tuple[str, str]:
    """Return the pair in the order of its systems in people's ranking."""
    first, second = sorted(pair, key=lambda name: ranking.index(name) if name in ranking else len(ranking))
    return first, second
