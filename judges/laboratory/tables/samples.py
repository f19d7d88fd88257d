"""A judge's samples compared with people: their distribution, and whether their confidence is calibrated."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from agreement.comparison import (
    ConfidenceCalibration,
    SampleDistance,
    SampleDistributions,
    bin_values,
    confidence_calibration,
    confidence_of_samples,
    equals_mode,
    is_within_one,
    sample_distributions,
)
from annotate.core.guideline import FrozenDimension
from annotate.results.page import Section
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.results.tables.columns import JUDGE, number_or_reason
from judges.results.tables.compared import ComparedJudges, Scored

MOST_POINTS = 11
"""Values on longer scales are taken at this many points, since few people give the same of a hundred."""
_DISTRIBUTIONS = gettext_lazy(
    "Total variation of a judge’s samples, of other people’s values and of all values (control), each in the "
    "number of half the people, from the other people. With three people a half is one person, and a judge "
    "that always gives the most common value looks close. The energy distance has no such preference: it is "
    "0 if the samples are distributed as people’s values are."
)
_CONFIDENCE = gettext_lazy(
    "Confidence: the share of samples at the judge’s most frequent value. Error: the difference between "
    "confidence and the share right, averaged over ten bins; a calibrated judge has the error by chance."
)
_NO_SAMPLES = gettext_lazy(
    "The judge has no two samples of an item with people’s values. Give a judge several samples at a "
    "temperature above 0."
)
_NO_ORDER = gettext_lazy("Categories without an order have no distances.")
_NO_ERROR = gettext_lazy("Needs items with two samples of the judge and a value of a person.")
_BY_CHANCE = gettext_lazy("Mean of 400 simulated calibrated judges (function confidence_calibration).")


def sample_sections(found: ComparedJudges) -> list[Section]:
    """Return how judges' samples are distributed, and how well their confidence is calibrated. No query."""
    scored = [each for each in found.scored if each.samples.shape[1] > 1]
    compared = [(each, _compare(each)) for each in scored]
    compared = [(each, own) for each, own in compared if own.items]
    calibrated = [(each, _calibrate(each)) for each, _ in compared]
    says = str(_NO_SAMPLES)
    curves = [(each, own[0]) for each, own in calibrated if own[0].items]
    return [
        Section(
            gettext("Distribution of samples"),
            str(_DISTRIBUTIONS) if compared else says,
            [_distributions(compared)] if compared else [],
            "distributions",
        ),
        Section(
            gettext("Confidence of samples"),
            str(_CONFIDENCE) if calibrated else says,
            [_confidences(calibrated), *([_curve(curves)] if curves else [])] if calibrated else [],
            "confidence",
        ),
    ]


def _points_of(dimension: FrozenDimension) -> npt.NDArray[np.float64]:
    points = np.asarray(dimension.values, dtype=float)
    return points if len(points) <= MOST_POINTS else np.linspace(points[0], points[-1], MOST_POINTS)


def _compare(each: Scored) -> SampleDistributions:
    return sample_distributions(
        each.samples,
        each.scores.human,
        _points_of(each.dimension),
        documents=each.scores.documents,
        generator=each.stream,
    )


def _calibrate(each: Scored) -> tuple[ConfidenceCalibration, ConfidenceCalibration | None]:
    """Return the calibration against people's mode, and within a point of their mean unless of names."""
    points = _points_of(each.dimension)
    modes, confidence = confidence_of_samples(bin_values(each.samples, points), points)
    human = bin_values(each.scores.human, points)
    rights = [equals_mode(modes, human, points)]
    if not each.dimension.is_named:
        rights.append(is_within_one(modes, each.scores.human))
    found = [
        confidence_calibration(
            confidence, right, documents=each.scores.documents, generator=each.stream.of(name)
        )
        for name, right in zip(("mode", "within one"), rights, strict=False)
    ]
    return found[0], found[1] if len(found) > 1 else None


def _distributions(compared: Sequence[tuple[Scored, SampleDistributions]]) -> Table:
    columns = [
        JUDGE,
        DIMENSION,
        Column("samples", gettext("samples"), ColumnKind.COUNT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        *_distance_columns("tv", gettext("total variation")),
        *_distance_columns("js", gettext("Jensen-Shannon distance")),
        Column("energy", gettext("energy distance"), decimals=2),
        Column("energy_control", gettext("energy distance, control"), decimals=2),
    ]
    rows = [
        [
            *each.names,
            Cell(own.samples),
            Cell(own.items),
            *_distance_cells(own.total_variation),
            *_distance_cells(own.jensen_shannon),
            *(
                [Cell(reason=str(_NO_ORDER))] * 2
                if each.dimension.is_named
                else [figure(own.energy), figure(own.energy_control)]
            ),
        ]
        for each, own in compared
    ]
    title = gettext("Distribution of samples and of people’s values")
    return Table("distributions", title, columns, rows, heads=2, plot="intervals")


def _distance_columns(key: str, name: str) -> list[Column]:
    parts = {
        "judge": gettext("judge"),
        "people": gettext("people"),
        "control": gettext("control"),
        "difference": gettext("judge minus people"),
        "whole": gettext("all samples and all people"),
    }
    return [Column(f"{key}_{part}", f"{name}, {label}") for part, label in parts.items()]


def _distance_cells(found: SampleDistance) -> list[Cell]:
    listed = (found.judge, found.people, found.control, found.difference, found.whole)
    return [figure(each) for each in listed]


Calibrated = Sequence[tuple[Scored, tuple[ConfidenceCalibration, ConfidenceCalibration | None]]]


def _confidences(calibrated: Calibrated) -> Table:
    names = {"mode": gettext("equals people’s mode"), "within": gettext("within one of their mean")}
    columns = [
        JUDGE,
        DIMENSION,
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("confidence", gettext("mean confidence"), ColumnKind.SHARE),
        *(
            column
            for key, name in names.items()
            for column in (
                Column(f"{key}_right", name, ColumnKind.SHARE),
                Column(f"{key}_error", gettext("calibration error")),
                Column(f"{key}_chance", gettext("error by chance")),
                Column(f"{key}_over", gettext("overconfidence")),
            )
        ),
    ]
    rows = [
        [*each.names, Cell(mode.items), figure(mode.confidence), *_error_cells(mode), *_error_cells(within)]
        for each, (mode, within) in calibrated
    ]
    title = gettext("Confidence of judges and how often they are right")
    return Table("confidence", title, columns, rows, heads=2, plot="intervals")


def _error_cells(found: ConfidenceCalibration | None) -> list[Cell]:
    if found is None:
        return [Cell(reason=str(_NO_ORDER))] * 4
    by_chance = number_or_reason(found.by_chance, str(_NO_ERROR), str(_BY_CHANCE))
    return [figure(found.accuracy), figure(found.error), by_chance, figure(found.overconfidence)]


def _curve(calibrated: Sequence[tuple[Scored, ConfidenceCalibration]]) -> Table:
    columns = [
        DIMENSION,
        Column("confidence", gettext("confidence"), decimals=2),
        Column("accuracy", gettext("share equal to people’s mode"), ColumnKind.SHARE),
        Column("items", gettext("items"), ColumnKind.COUNT),
    ]
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(round(one.confidence, 3)),
            figure(one.accuracy),
            Cell(one.items),
        ]
        for each, own in calibrated
        for one in own.bins
    ]
    title = gettext("Reliability curve")
    return Table("reliability-curve", title, columns, rows, heads=2, plot="calibration")
