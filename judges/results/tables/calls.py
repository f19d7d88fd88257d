"""Effects of the order of dimensions in a call: the previous score, and the position in the call."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from agreement import Resampling, kendall_tau_b, pearson
from agreement.biases import Range, ranges_of, scores_given_before
from agreement.comparison import Scores, correlation_with_humans
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.core.models import Judge, Judgment
from judges.results.tables.columns import number_or_reason
from judges.results.tables.compared import Scored, align_raters


@dataclass(frozen=True, eq=False)
class CallPositions:
    """Positions of a dimension in the calls about items, each (items,).

    places: 0 for the first position, NaN if the call had no other dimensions. before: the id of the dimension
    before it, 0 if there is none.
    """

    positions: npt.NDArray[np.float64]
    before: npt.NDArray[np.int64]


def load_call_positions(
    judges: Sequence[Judge], items: Sequence[int]
) -> Mapping[tuple[int, int], CallPositions]:
    """Return positions by judge and dimension id for judges with several dimensions per call. One query."""
    index = {pk: index for index, pk in enumerate(items)}
    found: defaultdict[tuple[int, int], CallPositions] = defaultdict(
        lambda: CallPositions(np.full(len(items), np.nan), np.zeros(len(items), dtype=np.int64))
    )
    done = Judgment.objects.filter(judge__in=judges, other__isnull=True, status=Judgment.Status.DONE)
    # Rotated orders depend on the item, so all samples of an item have the same.
    calls = done.exclude(asked_dimensions=[]).order_by("judge", "item")
    for judge, item, asked in calls.values_list("judge", "item", "asked_dimensions").distinct():
        for position, (before, dimension) in enumerate(zip([0, *asked], asked, strict=False)):
            own = found[judge, dimension]
            own.positions[index[item]], own.before[index[item]] = position, before
    return dict(found)


BEFORE = [
    Column("before", lambda: gettext("dimension before"), ColumnKind.TEXT),
    Column("items", lambda: gettext("items"), ColumnKind.COUNT),
    Column("judge_r", lambda: gettext("Pearson, judge"), decimals=2),
    Column("people_r", lambda: gettext("Pearson, people"), decimals=2),
]
"""The columns of `Following.beside`."""
ABOUT_SCORES_BEFORE = gettext_lazy(
    "Each row is for a score on the dimension before in the same call (every sample counts): it has the "
    "shares of the judge’s next scores. A row of people has each person’s values of the same items. Scores "
    "that never occurred before have no row. If the judge’s rows differ more than people’s, its next score "
    "follows the one before."
)
_OTHER_SCALE = gettext_lazy("This dimension has another scale.")


@dataclass(frozen=True, eq=False)
class Following:
    """A judge's scores on a dimension and on the one before it in the same calls.

    chosen: (items,), True for items in this order, and with values of people on both if there are any.
    """

    before: Scored
    after: Scored
    chosen: npt.NDArray[np.bool_]

    @property
    def scores(self) -> list[Scores]:
        """Both as scores of the chosen items by the same raters, the dimension before first."""
        return [each.of_items(self.chosen) for each in align_raters((self.before, self.after))]

    @property
    def beside(self) -> list[Cell]:
        """The dimension before, the number of items, and r of both dimensions of judge and people."""
        first, second = (each.scores.of_items(self.chosen) for each in (self.before, self.after))
        named = self.before.dimension
        return [
            text(named.name, key=named.key),
            Cell(int(self.chosen.sum())),
            self._correlate(first.as_read, second.as_read, "judge"),
            self._correlate(first.human_means, second.human_means, "people"),
        ]

    def _correlate(self, first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], who: str) -> Cell:
        documents = self.after.scores.documents[self.chosen]
        stream = self.after.stream.of("before", self.before.dimension.key, who)
        by_documents = Resampling(by="documents")
        return figure(pearson(first, second, documents=documents, generator=stream, resampling=by_documents))

    def distribution(self, columns: Sequence[Range]) -> Iterator[list[Cell]]:
        ranges_before, ranges = (ranges_of(each.dimension.values) for each in (self.before, self.after))
        samples = [each.said.values[self.chosen] for each in (self.before, self.after)]
        judge = scores_given_before(samples[0], samples[1], ranges_before, ranges)
        rated_before, rated = (each.human for each in self.scores)
        people = scores_given_before(rated_before, rated, ranges_before, ranges)
        names = [self.after.dimension.name, self.before.dimension.name]
        for index, range_before in enumerate(ranges_before):
            before = [text(each) for each in [*names, name_of_range(range_before)]]
            for who, counts in (("judge", judge[index]), ("people", people[index])):
                if total := int(counts.sum()):
                    found = dict(zip(ranges, (counts / total).tolist(), strict=True))
                    shares = [number_or_reason(found.get(each), str(_OTHER_SCALE)) for each in columns]
                    yield [*before, text(who), Cell(total), *shares]


def followings(
    scored: Sequence[Scored], positions: Mapping[tuple[int, int], CallPositions]
) -> Iterator[Following]:
    own = {(each.judge.pk, each.dimension.id): each for each in scored}
    for (judge, dimension), after in own.items():
        asked = positions.get((judge, dimension))
        for before_id in np.unique(asked.before[asked.before > 0]).tolist() if asked else []:
            before = own.get((judge, before_id))
            if asked and before:
                chosen = (asked.before == before_id) & before.said.given & after.said.given
                rated = chosen & ~np.isnan(before.scores.human_means) & ~np.isnan(after.scores.human_means)
                yield Following(before, after, rated if rated.any() else chosen)


def distribution_table(judge: Judge, following: Sequence[Following]) -> Table:
    ranges = sorted({each for pair in following for each in ranges_of(pair.after.dimension.values)})
    columns = [
        DIMENSION,
        Column("before", gettext("dimension before"), ColumnKind.TEXT),
        Column("score_before", gettext("score before"), ColumnKind.TEXT),
        Column("who", gettext("who"), ColumnKind.TEXT),
        Column("number", gettext("scores"), ColumnKind.COUNT),
        *(
            Column(f"share_{number}", name_of_range(each), ColumnKind.SHARE, decimals=2)
            for number, each in enumerate(ranges, start=1)
        ),
    ]
    rows = [row for pair in following for row in pair.distribution(ranges)]
    title = gettext("Scores by the score before ({judge})").format(judge=judge.name)
    return Table("given-before", title, columns, rows, heads=4)


def correlations_by_position(each: Scored, asked: CallPositions, most: int) -> list[Cell]:
    return [
        figure(
            correlation_with_humans(
                each.scores.of_items(asked.positions == position),
                kendall_tau_b,
                generator=each.stream.of("place", str(position)),
            )
        )
        for position in range(most)
    ]


def columns_by_position(most: int) -> list[Column]:
    return [
        Column(
            f"place_{position}", gettext("Kendall, position {position}").format(position=position), decimals=2
        )
        for position in range(1, most + 1)
    ]


def name_of_range(ends: Range) -> str:
    lowest, highest = ends
    return f"{lowest:g}" if lowest == highest else f"{lowest:g} to {highest:g}"
