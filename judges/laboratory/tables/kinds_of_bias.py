"""The kinds of bias on the laboratory's page: titles, measures, and what each needs.

Also the effects of the order of dimensions in a call: the previous score, and the position in the call.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from agreement import Resampling, pearson
from agreement.biases import Range, ranges_of, scores_given_before
from agreement.comparison import Scores
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.core.models import Judge, Judgment
from judges.results.tables.columns import ABOUT_INTERVALS_OF_M, number_or_reason
from judges.results.tables.compared import Scored, align_raters


@dataclass(frozen=True)
class KindOfBias:
    """A kind of bias: title and description of its section, and its measures by column."""

    key: str
    title: str | Promise
    says: str | Promise
    measures: Mapping[str, str | Promise]
    caution: str | Promise = ""


SEVERITY = KindOfBias(
    "severity",
    gettext_lazy("Severity and range"),
    gettext_lazy(
        "Severity is the judge’s mean minus people’s. The ratio of standard deviations is below 1 if "
        "a judge uses less of the range than a person. Excess of the most frequent point, and the "
        "distance of the values from people’s (Wasserstein). The control compares each person with "
        "the others: the least and the largest. A distance is found if it is surely above the largest."
    ),
    {
        "severity": "severity",
        "spread": gettext_lazy("SD ratio"),
        "modal": gettext_lazy("most frequent point"),
        "distance": "distance",
    },
)
LENGTH = KindOfBias(
    "length",
    "Length",
    gettext_lazy(
        "Points that the judge adds to an output one standard deviation longer (logarithm of its characters) "
        "than another of the same system and the same quality. Quality is estimated from two or more raters "
        "of an item, so rating errors do not bias the result. Control: what quality and length do not "
        "explain, shuffled across items."
    ),
    {"length": gettext_lazy("points for longer texts")},
)
FAMILIARITY = KindOfBias(
    "familiarity",
    "Familiarity",
    gettext_lazy(
        "Points that the judge adds to an output with a perplexity one standard deviation higher, at the "
        "same quality, within systems; below 0 it prefers outputs that are familiar to a model."
    ),
    {"familiarity": gettext_lazy("points for less familiar texts")},
)
FAMILY = KindOfBias(
    "self-preference",
    "Self-preference",
    gettext_lazy("Points that the judge adds to outputs of its own family, at the same quality."),
    {"self_preference": gettext_lazy("for its own family")},
)
ANCHORING = KindOfBias(
    "anchoring",
    gettext_lazy("Anchoring between dimensions"),
    gettext_lazy(
        "Correlation of errors: over pairs of dimensions, of what quality does not explain in the judge’s "
        "values; 0 if the judge treats each dimension separately. Beyond people: the mean correlation "
        "between dimensions, minus the one that people’s quality explains. A judge with a ceiling below "
        "people’s can show a correlation."
    ),
    {"errors": gettext_lazy("correlation of errors"), "beyond": gettext_lazy("correlation beyond people")},
)
BEFORE = KindOfBias(
    "score-before",
    gettext_lazy("Anchoring to the score before"),
    gettext_lazy(
        "For calls with several dimensions: each dimension compared with the one before it, by the "
        "measures above. Pearson of judge and people uses the same items."
    ),
    {
        "errors": gettext_lazy("errors with the dimension before"),
        "beyond": gettext_lazy("beyond people, dimension before"),
    },
)
POSITION = KindOfBias(
    "place",
    gettext_lazy("Position in a call"),
    gettext_lazy(
        "The effect of other dimensions before a dimension in the call, compared with its results as "
        "the first: its correlation with people (Pearson), and its mean error in points. Control: the"
        " positions shuffled across items. Kendall’s correlation is listed for each position."
    ),
    {
        "correlation": gettext_lazy("correlation, later minus first"),
        "shift": gettext_lazy("mean error, later minus first"),
    },
)
PAIRS = KindOfBias(
    "position",
    gettext_lazy("Position in a pair"),
    gettext_lazy(
        "Of the outcomes that change when the two outputs are swapped: 1 if all go to the second "
        "output, −1 if all to the first. p is McNemar’s exact one."
    ),
    {"place": gettext_lazy("towards the second text")},
)
OPTIONS = KindOfBias(
    "options",
    gettext_lazy("Order of options"),
    gettext_lazy(
        "The same model with the options of a multiple choice in reverse order. The shift is above 0 "
        "if it prefers the first options."
    ),
    {"shift": gettext_lazy("shift to the first option"), "changed": gettext_lazy("items that change")},
)
ROUND = KindOfBias(
    "round-numbers",
    gettext_lazy("Round numbers"),
    gettext_lazy(
        "The share of multiples of 5 and 10 among answers on a long scale, minus 1/5 and 1/10. Answers near "
        "the ends do not count: the best outputs get 100 from any judge."
    ),
    {"fives": gettext_lazy("multiples of 5"), "tens": gettext_lazy("multiples of 10")},
)
REPEATS = KindOfBias(
    "self-inconsistency",
    "Self-inconsistency",
    gettext_lazy(
        "The standard deviation of a judge’s samples of one item, in points; the control is people who rate "
        "one item. Found: surely more than theirs."
    ),
    {"samples": gettext_lazy("SD of samples")},
)
QUALITY = KindOfBias(
    "quality",
    gettext_lazy("Decline with quality"),
    gettext_lazy(
        "M: the correlation over systems of the judge’s agreement with people and the mean human score. "
        "Control: the judge’s errors shuffled across items; near the end of a scale M is below 0 for any "
        "judge."
    ),
    {"m": gettext_lazy("M, Spearman")},
    ABOUT_INTERVALS_OF_M,
)
NEEDS_PAIRS = gettext_lazy(
    "Needs a judge that compares two outputs (head to head, pairwise), in both orders."
)
NEEDS_OPTIONS = gettext_lazy(
    "Needs two judges of one model, by “Multiple choice” and by “Multiple choice, options reversed”."
)
NEEDS_PERPLEXITY = gettext_lazy(
    "Needs a metric with “perplexity” in its name: measure it with a model that returns log-"
    "probabilities (manage.py perplexity), or import the perplexity of each output (Data, "
    "Metrics)."
)
BY_RATING = gettext_lazy(
    "Mean perplexity at each rating of an output; a value between two points counts as the "
    "nearer one. Both columns use the same outputs. If a judge prefers familiar outputs, its "
    "means fall more steeply with the rating than people’s."
)
NEEDS_DIMENSIONS = gettext_lazy("A judge with values on two dimensions of the same items is needed.")
NEEDS_SEVERAL = gettext_lazy("A judge by the method “Several dimensions in one call” is needed.")
NEEDS_ROTATION = gettext_lazy(
    "A judge by the method “Several dimensions in one call”, in rotated order, is needed."
)
NAMED = gettext_lazy("Categories have no distance, so biases are not measured.")
SENSITIVITY = gettext_lazy("Experiments show the effect of wording, scale and method on the judge’s values.")


@dataclass(frozen=True, eq=False)
class CallPositions:
    """Positions of a dimension in the calls about items, each (items,).

    positions: 0 for the first one, NaN if the call had no other dimensions. before: the id of the dimension
    before it, 0 if there is none.
    """

    positions: npt.NDArray[np.float64]
    before: npt.NDArray[np.int64]


def load_call_positions(judge: Judge, items: Sequence[int]) -> Mapping[int, CallPositions]:
    """Return positions by dimension id for a judge with several dimensions per call. One query."""
    index = {pk: index for index, pk in enumerate(items)}
    # NaN and 0 stay for items about which the judge had no call with other dimensions.
    found: defaultdict[int, CallPositions] = defaultdict(
        lambda: CallPositions(np.full(len(items), np.nan), np.zeros(len(items), dtype=np.int64))
    )
    done = Judgment.objects.filter(judge=judge, other__isnull=True, status=Judgment.Status.DONE)
    # Rotated orders depend on the item, so all samples of an item have the same.
    calls = done.exclude(asked_dimensions=[]).order_by("item")
    for item, asked in calls.values_list("item", "asked_dimensions").distinct():
        # Imported judgments can be about other items: an addition's bridging items.
        if item not in index:
            continue
        # Each dimension of the call with the one before it, which is 0 for the first.
        for position, (before, dimension) in enumerate(zip([0, *asked], asked, strict=False)):
            own = found[dimension]
            own.positions[index[item]], own.before[index[item]] = position, before
    return dict(found)


COLUMNS_BEFORE = [
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
                # A score that never came before has no row, as its shares are undefined.
                if total := int(counts.sum()):
                    found = dict(zip(ranges, (counts / total).tolist(), strict=True))
                    shares = [number_or_reason(found.get(each), str(_OTHER_SCALE)) for each in columns]
                    yield [*before, text(who), Cell(total), *shares]


def followings(scored: Sequence[Scored], positions: Mapping[int, CallPositions]) -> Iterator[Following]:
    """scored: of one judge, whose positions these are."""
    own = {each.dimension.id: each for each in scored}
    for dimension, after in own.items():
        asked = positions.get(dimension)
        for before_id in np.unique(asked.before[asked.before > 0]).tolist() if asked else []:
            before = own.get(before_id)
            if asked and before:
                chosen = (asked.before == before_id) & before.said.given & after.said.given
                rated = chosen & ~np.isnan(before.scores.human_means) & ~np.isnan(after.scores.human_means)
                # With ratings only rated items count: judge and people are compared on the same ones.
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


def name_of_range(ends: Range) -> str:
    lowest, highest = ends
    return f"{lowest:g}" if lowest == highest else f"{lowest:g} to {highest:g}"
