"""Agreement of a judge with itself, and the useful number of samples."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy, ngettext

from agreement.comparison import (
    CORRELATIONS,
    LEAST_GAIN,
    ConfidenceCalibration,
    CurvePoint,
    Level,
    SampleCurve,
    SampleDistance,
    SampleDistributions,
    bin_values,
    confidence_calibration,
    confidence_of_samples,
    correlation_with_other_raters,
    equals_mode,
    is_within_one,
    sample_curve,
    sample_distributions,
    share_repeated,
)
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.results.answers import amounts_of, column_of
from annotate.results.registry import Chosen, Tables
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text
from judges.results.tables.columns import JUDGE, add_correction_count, difference_cell, number_or_reason
from judges.results.tables.compared import ComparedJudges, PeopleOnDimension, Scored, compared_values
from judges.results.tables.parameters import chosen_judge
from judges.results.tables.together import LEVELS

_SELF = gettext_lazy(
    "Alpha over the samples of a judge, each treated as a rater, compared with alpha among people"
    " on the same items. If it is below people’s, the judge agrees less with itself than people "
    "with each other."
)
_CURVE = gettext_lazy(
    "The correlation with people of the mean of this number of samples, averaged over random choices of "
    "them; intervals resample documents. Gain: the gain of all samples. Enough: from this number on the gain "
    "is significantly below {gain:g}."
)
_RATERS = gettext_lazy(
    "Compare the results of judges with these: each rater against the mean of the other raters "
    "(one rater fewer than judges are compared with). “All raters” includes the rater’s own "
    "values in the mean, as in Gao and others (2023, table 6); this is higher than any judge of "
    "the same quality could reach."
)
_NO_RATERS = gettext_lazy("Needs two raters on a dimension with numeric values.")
_NO_SAMPLES = gettext_lazy(
    "The judge has no two samples of an item. Give a judge several samples at a temperature above"
    " 0, and run it on some items."
)


def self_consistency_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return a judge's agreement with itself, the curve of samples, and raters compared like judges.

    Raises NoJudgesError if no judge has values. Nine queries.
    """
    found = compared_values(project, chosen, [chosen_judge(project, chosen)])
    itself = [_self_agreement(found.scored)] if found.scored else []
    measure, level = CORRELATIONS[chosen["coefficient"]], Level(chosen["level"])
    points = [
        (each, sample_curve(each.scores, each.said.as_read, measure, level, generator=each.stream))
        for each in found.amount_scores
        if each.samples.shape[1] > 1
    ]
    curves = [_enough(points), _curve(points)] if points else []
    raters = _raters(found.people, chosen["coefficient"])
    sections = [
        Section(gettext("Agreement with itself"), str(_SELF), itself, "self-agreement"),
        Section(
            gettext("Number of samples"),
            _CURVE.format(gain=LEAST_GAIN) if curves else str(_NO_SAMPLES),
            curves,
            "samples",
        ),
        *sample_sections(found),
        Section(gettext("Raters as judges"), str(_RATERS) if raters else str(_NO_RATERS), raters, "raters"),
    ]
    return add_correction_count(sections, found.judges, chosen)


def answer_self_consistency(tables: Tables) -> str:
    """Return a judge's agreement with itself, and the number of samples worth their cost."""
    alphas, people = (amounts_of(tables.get("self-agreement"), key) for key in ("alpha", "among_people"))
    if not alphas:
        return gettext("This judge has one sample of each item, so its agreement with itself is unknown.")
    says = gettext("Alpha over the judge’s samples is {own}, among people {people}.").format(
        own=_range(alphas), people=_range(people) if people else gettext("undefined")
    )
    needed = [cell.value for cell in column_of(tables["samples"], "enough")] if "samples" in tables else []
    known = [each for each in needed if isinstance(each, int)]
    if known:
        enough = ngettext(
            "{most} sample is enough on {known} of {total} dimensions.",
            "{most} samples are enough on {known} of {total} dimensions.",
            max(known),
        )
        says += " " + enough.format(most=max(known), known=len(known), total=len(needed))
    # Without a number, even all samples may not be enough.
    if len(known) < len(needed):
        says += " " + gettext("Elsewhere, more samples may still improve agreement with people.")
    return says


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else gettext("{low} to {high}").format(low=low, high=high)


def _self_agreement(scored: Sequence[Scored]) -> Table:
    columns = [
        Column("samples", gettext("samples"), ColumnKind.COUNT),
        Column("alpha", gettext("alpha over samples")),
        Column("among_people", gettext("alpha among people")),
        Column("repeated", gettext("same value twice"), ColumnKind.SHARE),
    ]
    rows = [
        [
            *each.names,
            Cell(each.samples.shape[1]),
            figure(each.self_consistency),
            figure(each.alpha.among_people),
            figure(share_repeated(each.samples, documents=each.scores.documents, generator=each.stream)),
        ]
        for each in scored
    ]
    title = gettext("Agreement between samples")
    return Table("self-agreement", title, [JUDGE, DIMENSION, *columns], rows, heads=2)


def _enough(curves: Sequence[tuple[Scored, SampleCurve]]) -> Table:
    columns = [
        JUDGE,
        DIMENSION,
        Column("samples", gettext("samples"), ColumnKind.COUNT),
        Column("one", gettext("with one")),
        Column("all", gettext("with all")),
        Column("gain", gettext("gain of all over one")),
        Column("enough", gettext("enough"), ColumnKind.COUNT),
    ]
    unknown = gettext("Unknown: more samples than these may still improve agreement with people.")
    rows = [
        [
            *each.names,
            Cell(curve.points[-1].samples),
            figure(curve.points[0].quality),
            figure(curve.points[-1].quality),
            _gain(curve.points[0]),
            Cell(curve.enough, reason="" if curve.enough else unknown),
        ]
        for each, curve in curves
        if curve.points
    ]
    return Table("samples", gettext("Number of samples needed"), columns, rows, heads=2)


def _gain(point: CurvePoint) -> Cell:
    what = gettext("Difference of correlations with people (function sample_curve)")
    return difference_cell(point.gain, what, nothing=gettext("These are all samples."))


def _curve(curves: Sequence[tuple[Scored, SampleCurve]]) -> Table:
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(point.samples),
            figure(point.quality),
            _gain(point),
        ]
        for each, curve in curves
        for point in curve.points
    ]
    columns = [
        DIMENSION,
        Column("number", gettext("samples"), ColumnKind.COUNT),
        Column("quality", gettext("correlation with people")),
        Column("gain", gettext("gain of all samples")),
    ]
    title = gettext("Agreement with people by number of samples")
    return Table("curve", title, columns, rows, heads=2, plot="curve")


def _raters(people: Sequence[PeopleOnDimension], coefficient: str) -> list[Table]:
    """Return each rater compared with the mean of the others, empty if raters share no units."""
    measure = CORRELATIONS[coefficient]
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(name),
            Cell(int((~np.isnan(each.scores.human[rater])).sum())),
            *(
                figure(
                    correlation_with_other_raters(
                        each.scores, rater, measure, level, with_own=with_own, generator=each.stream
                    )
                )
                for with_own in (False, True)
                for level in Level
            ),
        ]
        for each in people
        if not each.dimension.is_named and len(each.raters) > 1
        for rater, name in enumerate(each.raters)
    ]
    columns = [
        DIMENSION,
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        *(Column(f"{level}", gettext("others, {level}").format(level=LEVELS[level])) for level in Level),
        *(
            Column(f"{level}_with_own", gettext("all raters, {level}").format(level=LEVELS[level]))
            for level in Level
        ),
    ]
    title = gettext("Each rater and the mean of raters: {coefficient}").format(
        coefficient=measure.estimator.label
    )
    return [Table("raters", title, columns, rows, heads=2)] if rows else []


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
_NO_COMPARISON = gettext_lazy(
    "The judge has no two samples of an item with people’s values. Give a judge several samples at a "
    "temperature above 0."
)
_NO_ORDER = gettext_lazy("Categories without an order have no distances.")
_NO_ERROR = gettext_lazy("Needs items with two samples of the judge and a value of a person.")
_BY_CHANCE = gettext_lazy("Mean of 400 simulated calibrated judges (function confidence_calibration).")


def sample_sections(found: ComparedJudges) -> list[Section]:
    """Return the distribution of judges' samples, and the calibration of their confidence. No query."""
    scored = [each for each in found.scored if each.samples.shape[1] > 1]
    compared = [
        (
            each,
            sample_distributions(
                each.samples,
                each.scores.human,
                _points_of(each.dimension),
                documents=each.scores.documents,
                generator=each.stream,
            ),
        )
        for each in scored
    ]
    # Judges without an item that has two samples and ratings show nothing.
    compared = [(each, own) for each, own in compared if own.items]
    calibrated = [(each, _calibrate(each)) for each, _ in compared]
    says = str(_NO_COMPARISON)
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
            [_confidences(calibrated), *([_calibration_curves(curves)] if curves else [])]
            if calibrated
            else [],
            "confidence",
        ),
    ]


def _points_of(dimension: FrozenDimension) -> npt.NDArray[np.float64]:
    points = np.asarray(dimension.values, dtype=float)
    return points if len(points) <= MOST_POINTS else np.linspace(points[0], points[-1], MOST_POINTS)


def _calibrate(each: Scored) -> tuple[ConfidenceCalibration, ConfidenceCalibration | None]:
    """Return the calibration against people's mode, and within a point of their mean unless of names."""
    points = _points_of(each.dimension)
    modes, confidence = confidence_of_samples(bin_values(each.samples, points), points)
    # In the same bins as the samples, so that both have the same possible modes.
    human = bin_values(each.scores.human, points)
    # Two meanings of right: people's most frequent value, and within a point of their mean.
    rights = [equals_mode(modes, human, points)]
    if not each.dimension.is_named:
        rights.append(is_within_one(modes, each.scores.human))
    found = [
        confidence_calibration(
            confidence, right, documents=each.scores.documents, generator=each.stream.of(name)
        )
        # Names of categories have the first meaning only.
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


def _calibration_curves(calibrated: Sequence[tuple[Scored, ConfidenceCalibration]]) -> Table:
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
