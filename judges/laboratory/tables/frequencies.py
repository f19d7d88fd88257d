"""How often a judge gives each score (Stureborg and others 2024, figure 3)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from annotate.results.page import Section
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.core.models import Judge
from judges.results.tables.compared import Scored

MOST_SCORES = 101
_SAYS = gettext_lazy(
    "Shares of all answers of a judge by score, on the scale that the judge uses, compared with the "
    "shares of all ratings on the same scale. Peaks at 60, 70 or 75 show round numbers."
)
_OTHER_SCALE = gettext_lazy("The judge has another scale than people.")

_NO_RATINGS = gettext_lazy("There are no ratings yet.")


def frequencies_sections(judge: Judge, scored: Sequence[Scored]) -> list[Section]:
    """Return a table with a curve for each dimension that a judge scored; none without answers."""
    columns = [
        DIMENSION,
        Column("score", gettext("score"), decimals=2),
        Column("share", gettext("share of answers"), ColumnKind.SHARE),
        Column("answers", gettext("answers"), ColumnKind.COUNT),
        Column("people", gettext("share of ratings"), ColumnKind.SHARE),
    ]
    rows = [row for each in scored for row in _rows(each)]
    title = gettext("Frequencies of scores ({judge})").format(judge=judge.name)
    table = Table("frequencies", title, columns, rows, heads=2, plot="curve")
    return [Section(gettext("Frequencies of scores"), str(_SAYS), [table], "frequencies")] if rows else []


def _rows(each: Scored) -> list[list[Cell]]:
    answers = _round_known(each.said.as_read)
    own, ratings = each.judge.own_scale, _round_known(each.scores.human)
    points = np.arange(own.minimum, own.maximum + 1) if own else np.array(each.dimension.values)
    if len(points) > MOST_SCORES or len(np.unique(answers)) > MOST_SCORES:
        # Means of probabilities hardly ever repeat; half a point goes to the even neighbour.
        answers, ratings = np.rint(answers), np.rint(ratings)
    listed = np.unique(np.concatenate([answers, points if len(points) <= MOST_SCORES else []]))
    return [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(float(score)),
            Cell(float((answers == score).mean())),
            Cell(int((answers == score).sum())),
            _share_of_people(each, ratings, score),
        ]
        for score in listed.tolist()
    ]


def _share_of_people(each: Scored, ratings: npt.NDArray[np.float64], score: float) -> Cell:
    if each.judge.own_scale:
        return Cell(reason=str(_OTHER_SCALE))
    return Cell(float((ratings == score).mean())) if len(ratings) else Cell(reason=str(_NO_RATINGS))


def _round_known(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the values that are there, to two decimals: a third is 3.33 wherever it comes from."""
    return np.round(values[~np.isnan(values)], 2)
