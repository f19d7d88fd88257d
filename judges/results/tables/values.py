"""A judge's values against people's, item by item, counted."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement.comparison import Scores
from annotate.core.guideline import FrozenDimension
from annotate.core.scale import normalize
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

Pairs = Sequence[tuple[FrozenDimension, Scores]]

_COUNTED = gettext_lazy("Counts of items with a value of the judge and one of people; nothing is estimated.")


def scatter(key: str, name: str, pairs: Pairs) -> Table:
    """Return how many items have which mean of people and which value of the judge."""
    rows = [
        [
            text(dimension.name, key=dimension.key),
            Cell(people, how=str(_COUNTED)),
            Cell(judge, how=str(_COUNTED)),
            Cell(number),
        ]
        for dimension, scores in pairs
        for (people, judge), number in sorted(_points(scores).items())
    ]
    columns = [
        DIMENSION,
        Column("people", gettext("mean of people"), decimals=2),
        Column("judge", gettext("judge"), decimals=2),
        Column("items", gettext("items"), ColumnKind.COUNT),
    ]
    title = gettext("The judge’s values against means of people ({name})").format(name=name)
    return Table(f"{key}-scatter", title, columns, rows, plot="scatter")


def confusion(key: str, name: str, pairs: Pairs) -> Table:
    """Return how often the judge said what where a person said what: a row for each value of people.

    The judge's value is rounded to a point of the scale, halves to the even one, and each rating counts once.
    """
    values = sorted({value for dimension, _ in pairs for value in dimension.values})
    rows = []
    for dimension, scores in pairs:
        given = _count_pairs(dimension, scores)
        for person in dimension.values:
            counts = [given[person, judge] if judge in dimension.values else "" for judge in values]
            rows.append(
                [
                    text(dimension.name, key=dimension.key),
                    text(str(person)),
                    *(Cell(count, how=str(_COUNTED)) for count in counts),
                ]
            )
    columns = [
        DIMENSION,
        Column("person", gettext("a person said"), ColumnKind.TEXT),
        *(
            Column(f"judge_{value}", gettext("judge said {value}").format(value=value), ColumnKind.COUNT)
            for value in values
        ),
    ]
    return Table(
        f"{key}-confusion",
        gettext("Confusion of judge and people ({name})").format(name=name),
        columns,
        rows,
        heads=2,
        says=gettext("Every rating of a person once; the judge’s value is rounded to a point of the scale."),
    )


def named_confusion(key: str, name: str, pairs: Pairs) -> Table:
    """Return how often the judge gave which category where a person gave which, those that occur together."""
    rows = [
        [
            text(dimension.name, key=dimension.key),
            *(text(dimension.name_of(value), key=str(value)) for value in both),
            Cell(number, how=str(_COUNTED)),
        ]
        for dimension, scores in pairs
        for both, number in sorted(_count_pairs(dimension, scores).items())
    ]
    columns = [
        DIMENSION,
        Column("person", gettext("a person said"), ColumnKind.TEXT),
        Column("judge", gettext("the judge said"), ColumnKind.TEXT),
        Column("ratings", gettext("ratings"), ColumnKind.COUNT),
    ]
    title = gettext("Confusion of judge and people, by name ({name})").format(name=name)
    says = gettext("Every rating of a person once; pairs that never occurred are omitted.")
    return Table(f"{key}-named-confusion", title, columns, rows, heads=3, says=says)


def _points(scores: Scores) -> Counter[tuple[float, float]]:
    people, judge = np.round(scores.human_means, 4), np.round(scores.judge, 4)
    both = ~np.isnan(people) & ~np.isnan(judge)
    return Counter(zip(people[both].tolist(), judge[both].tolist(), strict=True))


def _count_pairs(dimension: FrozenDimension, scores: Scores) -> Counter[tuple[float, float]]:
    lowest, step = dimension.scale_minimum, dimension.scale_step
    places = np.round((scores.judge - lowest) / step + lowest) - lowest  # halves to even values, not places
    rounded = np.broadcast_to(lowest + places * step, scores.human.shape)
    both = ~np.isnan(scores.human) & ~np.isnan(rounded)
    pairs = zip(scores.human[both].tolist(), rounded[both].tolist(), strict=True)
    return Counter((normalize(person), normalize(judge)) for person, judge in pairs)
