"""Values of judges and people on the same items; every statistic is computed once.

Categorical dimensions have tables without means and correlations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient, Stream
from agreement.comparison import (
    CORRELATIONS,
    AlphaWithPeople,
    CategoryAgreement,
    CorrectPreferences,
    HumanScores,
    Level,
    PairPoints,
    PositionConsistency,
    Scores,
    Strengths,
    SystemCoefficient,
    SystemScores,
    TextPreferences,
    Verdicts,
    alpha_with_people,
    category_agreement,
    correct_preferences,
    correct_verdicts,
    correlation_with_humans,
    head_to_head_points,
    human_ranking,
    human_scores_by_system,
    neighbours,
    position_consistency,
    scores_by_system,
    self_consistency,
    system_strengths,
    text_preferences_of_scores,
    text_preferences_of_verdicts,
)
from agreement.reliability import agreement_with_humans, meta_correlation
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, Round
from annotate.core.rounds import rounds_of
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.core.errors import NoJudgesError
from judges.core.models import Judge
from judges.results.queries.scores import (
    Material,
    Samples,
    material_of,
    samples_of,
    scores_of,
    stream_of_judge,
    stream_of_people,
    verdicts_of,
)
from judges.results.tables.columns import JUDGE, count_judged, warning_of_gaps
from judges.results.tables.parameters import SHARED, counts_corrected


@dataclass(frozen=True, eq=False)
class PeopleOnDimension:
    """People's values on one dimension, the same for every judge.

    scores: without a judge. raters: names of the rows of its human scores.
    """

    dimension: FrozenDimension
    scores: Scores
    stream: Stream
    raters: Sequence[str]

    @cached_property
    def systems(self) -> Sequence[HumanScores]:
        scale = self.dimension.scale_minimum, self.dimension.scale_maximum
        return human_scores_by_system(self.scores, generator=self.stream, scale=scale)


@dataclass(frozen=True, eq=False)
class _Compared:
    """A judge and people on one dimension.

    asked, read: the number of items (comparisons) that it answered about, and of these with a parsed value.
    """

    judge: Judge
    dimension: FrozenDimension
    stream: Stream
    people: PeopleOnDimension
    asked: int
    read: int

    @property
    def names(self) -> list[Cell]:
        gaps = warning_of_gaps(self.judge.name, self.dimension.name, self.asked, self.read)
        dimension = text(self.dimension.name, key=self.dimension.key)
        return [text(self.judge.name, warning=gaps), dimension]


@dataclass(frozen=True, eq=False)
class Scored(_Compared):
    """A judge that gives scores.

    said: all its samples. ranking: the systems by people's scores, the best first.
    """

    scores: Scores
    said: Samples
    ranking: Sequence[str]

    @property
    def samples(self) -> npt.NDArray[np.float64]:
        return self.said.values

    @property
    def items(self) -> int:
        return int((~np.isnan(self.scores.judge)).sum())

    @cached_property
    def correlations(self) -> Mapping[tuple[str, Level], Coefficient]:
        return {
            (name, level): correlation_with_humans(self.scores, measure, level, generator=self.stream)
            for name, measure in CORRELATIONS.items()
            for level in Level
        }

    @cached_property
    def alpha(self) -> AlphaWithPeople:
        level = self.dimension.measurement_level
        # With people's own stream, alpha among people has one interval for all judges and pages.
        return alpha_with_people(
            self.scores, measurement_level=level, generator=self.stream, people=self.people.stream
        )

    @cached_property
    def self_consistency(self) -> Coefficient:
        return self_consistency(
            self.samples.T,
            documents=self.scores.documents,
            measurement_level=self.dimension.measurement_level,
            generator=self.stream,
        )

    @cached_property
    def categories(self) -> CategoryAgreement:
        return category_agreement(self.scores, self.dimension.whole_values, generator=self.stream)

    @cached_property
    def by_system(self) -> Mapping[str, Sequence[SystemCoefficient]]:
        return {
            name: agreement_with_humans(self.scores, measure, generator=self.stream)
            for name, measure in CORRELATIONS.items()
        }

    @cached_property
    def meta_correlations(self) -> Mapping[str, Coefficient]:
        return {
            name: meta_correlation(self.scores, measure, generator=self.stream)
            for name, measure in CORRELATIONS.items()
        }

    @cached_property
    def systems(self) -> Sequence[SystemScores]:
        # People's part is the same for every judge, so it is computed once.
        return scores_by_system(self.scores, generator=self.stream, people=self.people.systems)

    @cached_property
    def all_pairs(self) -> CorrectPreferences:
        return correct_preferences(self.scores, generator=self.stream)

    @cached_property
    def texts(self) -> TextPreferences:
        """Return the pairs of outputs for one document in which the judge prefers the same one as people."""
        return text_preferences_of_scores(self.scores)

    @cached_property
    def neighbours(self) -> CorrectPreferences:
        return correct_preferences(self.scores, neighbours(self.ranking), generator=self.stream)


def align_raters(scored: Sequence[Scored]) -> list[Scores]:
    """Return the scores with the same rows of people; raters of one dimension alone have gaps."""
    # In the order of first appearance, so that the rows are the same at each computation.
    raters = list(dict.fromkeys(rater for each in scored for rater in each.people.raters))
    found = []
    for each in scored:
        human = np.full((len(raters), len(each.scores.judge)), np.nan)
        human[[raters.index(rater) for rater in each.people.raters]] = each.scores.human
        found.append(each.scores.beside(human, each.scores.judge))
    return found


@dataclass(frozen=True, eq=False)
class Versus(_Compared):
    """A judge that compares two outputs; the better system of a pair, by people, is its first."""

    verdicts: Verdicts
    scores: Scores
    pairs: Sequence[tuple[str, str]]

    @cached_property
    def points(self) -> Sequence[PairPoints]:
        return head_to_head_points(self.verdicts, self.pairs, generator=self.stream)

    @cached_property
    def consistency(self) -> PositionConsistency:
        return position_consistency(self.verdicts, generator=self.stream)

    @cached_property
    def strengths(self) -> Strengths:
        return system_strengths(self.verdicts)

    @cached_property
    def texts(self) -> TextPreferences:
        """Return the pairs of outputs for one document in which the judge prefers the same one as people."""
        return text_preferences_of_verdicts(self.verdicts, self.scores)

    @cached_property
    def correct(self) -> CorrectPreferences:
        return correct_verdicts(self.verdicts, self.scores, self.pairs, generator=self.stream)


@dataclass(frozen=True)
class ComparedJudges:
    """All judges of a project and people's values at the end of a round (None: no values)."""

    project: Project
    round: Round | None
    judges: Sequence[Judge]
    people: Sequence[PeopleOnDimension]
    scored: Sequence[Scored]
    versus: Sequence[Versus]

    @property
    def amount_scores(self) -> list[Scored]:
        return [each for each in self.scored if not each.dimension.is_named]

    @property
    def name_scores(self) -> list[Scored]:
        return [each for each in self.scored if each.dimension.is_named]

    @property
    def pairs_by_dimension(self) -> list[tuple[FrozenDimension, list[tuple[Scored, Scored]]]]:
        """Return every two judges with scores on a dimension, for the dimensions with two or more."""
        found: dict[str, list[Scored]] = {}
        for each in self.scored:
            found.setdefault(each.dimension.key, []).append(each)
        pairs = [(own[0].dimension, list(combinations(own, 2))) for own in found.values()]
        return [each for each in pairs if each[1]]

    def scored_by(self, judge: Judge) -> list[Scored]:
        return [each for each in self.scored if each.judge == judge]

    def compared_by(self, judge: Judge) -> list[Versus]:
        return [each for each in self.versus if each.judge == judge]


def compared_values(
    project: Project, chosen: Chosen, judges: Sequence[Judge] | None = None
) -> ComparedJudges:
    """Return a project's judges and people's values of a round, the last one if none is chosen.

    judges: only these, all if omitted.

    Raises NoJudgesError if there is no judge. Eight queries, and one more for each judge that compares.
    """
    if judges is None:
        judges = list(Judge.objects.filter(project=project).order_by("name"))
    if not judges:
        raise NoJudgesError(gettext("There is no judge yet; add one and plan a run, or import judgments."))
    rounds = rounds_of(project)
    round = rounds.get(int(chosen.get("round") or max(rounds, default=0)))
    material = material_of(project, round)
    people = _people(project, material)
    # One ranking over all scales, so that the neighbours are the same pairs on every dimension.
    ordered = [people[each.key].scores for each in material.dimensions if not each.is_named]
    ranking = human_ranking(*ordered) if ordered else ()
    places = {name: place for place, name in enumerate(ranking)}
    giving = [judge for judge in judges if not judge.asks_pairs]
    with_corrected = counts_corrected(chosen)
    # Judges that give scores, on every dimension with a value.
    samples = samples_of(giving, material, with_corrected=with_corrected)
    counts = count_judged(giving, chosen)
    scored = [
        Scored(
            judge,
            each,
            stream_of_judge(project, judge, each),
            people[each.key],
            *counts[judge.pk, each.key],
            scores_of(material, each.key, own),
            own,
            ranking,
        )
        for judge in giving
        for each in material.dimensions
        if (own := samples[judge.pk, each.key]).given.any()
    ]
    if chosen.get("units") == SHARED:
        scored = on_shared_items(scored)
    # Judges that compare two outputs.
    versus = []
    for judge in judges:
        if not judge.asks_pairs:
            continue
        for key, verdicts in verdicts_of(judge, material, with_corrected=with_corrected).items():
            one = people[key]
            if len(verdicts.points):
                # Unreadable verdicts are gaps, so points count what has been asked.
                read = int((~np.isnan(verdicts.points)).sum())
                # A system without ratings has no rank and comes last.
                ordered_pairs = (
                    sorted(pair, key=lambda name: places.get(name, len(places))) for pair in verdicts.pairs
                )
                better_first = [(better, worse) for better, worse in ordered_pairs]
                stream = stream_of_judge(project, judge, one.dimension)
                asked = len(verdicts.points)
                versus.append(
                    Versus(judge, one.dimension, stream, one, asked, read, verdicts, one.scores, better_first)
                )
    return ComparedJudges(project, round, judges, list(people.values()), scored, versus)


def shared_items(scored: Sequence[Scored]) -> dict[str, npt.NDArray[np.bool_]]:
    """Return by dimension key (items,): whether each of its judges has a value."""
    found: dict[str, npt.NDArray[np.bool_]] = {}
    for each in scored:
        key = each.dimension.key
        # `True` lets the first judge start the intersection.
        found[key] = found.get(key, True) & each.said.given
    return found


def on_shared_items(scored: Sequence[Scored]) -> list[Scored]:
    """Return the scores on the items with values of all judges of a dimension; none without any."""
    shared = shared_items(scored)
    return [
        # Only the judge loses values: systems and ranking stay the ones of all people's ratings.
        replace(each, scores=each.scores.without_judge(~items), said=each.said.of_items(items))
        for each in scored
        if (items := shared[each.dimension.key]).any()
    ]


def _people(project: Project, material: Material) -> dict[str, PeopleOnDimension]:
    """Return people alone on every dimension, for ranking the systems."""
    # A judge without values, since scores are always of people and a judge.
    gap = np.full((len(material.items), 1), np.nan)
    nothing = Samples(gap, gap)
    return {
        each.key: PeopleOnDimension(
            each,
            scores_of(material, each.key, nothing),
            stream_of_people(project, each),
            material.raters(each.key),
        )
        for each in material.dimensions
    }


_SAYS = gettext_lazy(
    "Categories have no order and no distance, so there is no correlation and no bias. Accuracy: the share "
    "of people’s ratings that equal the judge’s category. F1 compares how frequently both give a category "
    "with how frequently either does; macro-F1 is its mean over categories. An item counts once, divided "
    "among its raters. Intervals resample documents; the intervals of one category’s F1 are Wilson’s."
)
_COUNTED = gettext_lazy(
    "Items with a value of the judge and of a person; people’s are divided among an item’s raters."
)


Named = Sequence[tuple[Sequence[Cell], FrozenDimension, CategoryAgreement]]
"""The first cells of a row, its dimension of categories, and the judge's agreement there."""


def category_tables(scored: Sequence[Scored]) -> list[Table]:
    named = [(each.names, each.dimension, each.categories) for each in scored]
    alphas = [[figure(each.alpha.among_people), figure(each.alpha.with_judge)] for each in scored]
    table = accuracy_table(named, [JUDGE, DIMENSION])
    beside = [
        Column("among_people", gettext("alpha among people")),
        Column("with_judge", gettext("alpha with the judge as one more rater")),
    ]
    rows = [[*row, *own] for row, own in zip(table.rows, alphas, strict=True)]
    limit = gettext("No judge reaches 1 if people differ: compare it with alpha among people.")
    says = f"{_SAYS} {limit}"
    together = replace(table, columns=[*table.columns, *beside], rows=rows, says=says)
    return [together, f1_table(named, [JUDGE, DIMENSION])]


def accuracy_table(named: Named, heads: Sequence[Column]) -> Table:
    rows = [
        [*names, Cell(of.accuracy.counts.pairable_units), figure(of.accuracy), figure(of.macro_f1)]
        for names, _, of in named
    ]
    columns = [
        *heads,
        Column("items", gettext("items with both"), ColumnKind.COUNT),
        Column("accuracy", gettext("accuracy"), ColumnKind.SHARE),
        Column("macro_f1", gettext("macro-F1")),
    ]
    title = gettext("Judges and people on named categories")
    return Table("categories", title, columns, rows, heads=len(heads), says=str(_SAYS))


def f1_table(named: Named, heads: Sequence[Column]) -> Table:
    rows = [
        [
            *names,
            text(dimension.name_of(category), key=str(category)),
            figure(f1),
            Cell(judged, how=str(_COUNTED)),
            Cell(people, how=str(_COUNTED)),
        ]
        for names, dimension, of in named
        for category, f1, judged, people in zip(
            dimension.whole_values, of.f1, of.judged, of.people, strict=True
        )
    ]
    columns = [
        *heads,
        Column("category", gettext("Category"), ColumnKind.TEXT),
        Column("f1", "F1"),
        Column("judged", gettext("items by the judge"), ColumnKind.COUNT),
        Column("people", gettext("items by people"), decimals=1),
    ]
    return Table("category-f1", gettext("F1 of each category"), columns, rows, heads=len(heads) + 1)
