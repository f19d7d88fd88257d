"""A judge's values against people's, item by item, counted."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from agreement.comparison import Scores
from annotate.core.guideline import FrozenDimension
from annotate.core.scale import normalize
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text

Pairs = Sequence[tuple[FrozenDimension, Scores]]

_COUNTED = "Counts of items with a value of the judge and one of people; nothing is estimated."


def scatter(key: str, name: str, pairs: Pairs) -> Table:
    """Return how many items have which mean of people and which value of the judge."""
    rows = [
        [
            text(dimension.name, key=dimension.key),
            Cell(people, how=_COUNTED),
            Cell(judge, how=_COUNTED),
            Cell(number),
        ]
        for dimension, scores in pairs
        for (people, judge), number in sorted(_points(scores).items())
    ]
    columns = [
        DIMENSION,
        Column("people", "mean of people", decimals=2),
        Column("judge", "judge", decimals=2),
        Column("items", "items", ColumnKind.COUNT),
    ]
    title = f"The judge’s values against means of people ({name})"
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
                    *(Cell(count, how=_COUNTED) for count in counts),
                ]
            )
    columns = [
        DIMENSION,
        Column("person", "a person said", ColumnKind.TEXT),
        *(Column(f"judge_{value}", f"judge said {value}", ColumnKind.COUNT) for value in values),
    ]
    return Table(
        f"{key}-confusion",
        f"Confusion of judge and people ({name})",
        columns,
        rows,
        heads=2,
        says="Every rating of a person once; the judge’s value is rounded to a point of the scale.",
    )


def named_confusion(key: str, name: str, pairs: Pairs) -> Table:
    """Return how often the judge gave which category where a person gave which, those that occur together."""
    rows = [
        [
            text(dimension.name, key=dimension.key),
            *(text(dimension.name_of(value), key=str(value)) for value in both),
            Cell(number, how=_COUNTED),
        ]
        for dimension, scores in pairs
        for both, number in sorted(_count_pairs(dimension, scores).items())
    ]
    columns = [
        DIMENSION,
        Column("person", "a person said", ColumnKind.TEXT),
        Column("judge", "the judge said", ColumnKind.TEXT),
        Column("ratings", "ratings", ColumnKind.COUNT),
    ]
    title = f"Confusion of judge and people, by name ({name})"
    says = "Every rating of a person once; pairs that never occurred are omitted."
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
