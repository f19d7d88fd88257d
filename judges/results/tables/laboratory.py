"""Whether judges agree with themselves, and how many samples are worth asking for."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from annotate.agreement import Resampling, Stream, bias
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.registry import Chosen
from annotate.results.table import Cell, Column, Kind, Table, figure, text
from judges.comparison import (
    CORRELATIONS,
    LEAST_GAIN,
    CurvePoint,
    Level,
    SampleCurve,
    binned,
    sample_curve,
    share_repeated,
    variant_agreement,
)
from judges.core.models import Judge
from judges.results.queries.variants import differing, variants_of_models
from judges.results.tables.columns import DIMENSION, JUDGE, difference_cell
from judges.results.tables.compared import Compared, Scored, compared_values
from judges.results.tables.corrected import with_count_of_corrected
from judges.results.tables.streams import stream_of_pair

_SELF = (
    "Alpha over the samples of a judge, as if each were a rater, beside alpha among people on the items "
    "that it judged. Below people’s, the judge agrees less with itself than people with each other."
)
_VARIANTS = (
    "Two judges of one model that are asked in different ways, as if each were a rater: their values "
    "(of several samples the mean) at the nearest point of the dimension’s scale, on the "
    "items that both judged. First minus second: the mean of their differences, in points."
)
_CURVE = (
    "The correlation with people of the mean of so many samples, averaged over random choices of them; "
    "intervals draw documents. Gain: what all samples add. Enough: from there on the gain is surely below "
    f"{LEAST_GAIN:g}."
)
_NO_JUDGMENTS = "No judge that gives values has judgments yet. Plan a run, or import judgments."
_NO_VARIANTS = "Two judges of one model that judged the same items would be compared here."
_NO_SAMPLES = (
    "No judge was asked more than once about the same items. Give a judge several samples at a temperature "
    "above 0, and run it on some items."
)


def laboratory_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return self-agreement and the curve of samples.

    Raises NoJudgesError where there is no judge. Eleven queries, and one more for each judge that compares.
    """
    found = compared_values(project, chosen)
    itself = [_self_agreement(found.scored)] if found.scored else []
    variants = _variants(project, found)
    curves = _curves(found, chosen)
    sections = [
        Section("Agreement with itself", _SELF if itself else _NO_JUDGMENTS, itself, "self-agreement"),
        Section("Agreement of variants", _VARIANTS if variants else _NO_VARIANTS, variants, "variants"),
        Section("Number of samples", _CURVE if curves else _NO_SAMPLES, curves, "samples"),
    ]
    return with_count_of_corrected(sections, found.judges, chosen)


def _self_agreement(scored: Sequence[Scored]) -> Table:
    columns = [
        Column("samples", "samples", Kind.COUNT),
        Column("alpha", "alpha over samples"),
        Column("among_people", "alpha among people"),
        Column("repeated", "same value twice", Kind.SHARE),
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
    title = "Judges and themselves"
    return Table("self-agreement", title, [JUDGE, DIMENSION, *columns], rows, heads=2)


def _variants(project: Project, found: Compared) -> list[Table]:
    scored = {(each.judge.pk, each.dimension.key): each for each in found.scored}
    judges = Judge.objects.filter(pk__in=[judge.pk for judge in found.judges]).select_related("template")
    rows = [
        _variant_row(project, first, second, differing(one, other))
        for one, other in variants_of_models(list(judges.order_by("name")))
        for first in found.scored
        if first.judge.pk == one.pk and (second := scored.get((other.pk, first.dimension.key)))
    ]
    if not rows:
        return []
    columns = [
        JUDGE,
        Column("variant", "Variant", Kind.TEXT),
        DIMENSION,
        Column("differ", "differ in", Kind.TEXT),
        Column("alpha", "alpha of both"),
        Column("shift", "first minus second", decimals=2),
        Column("among_people", "alpha among people"),
    ]
    return [Table("variants", "Variants of a model and each other", columns, rows, heads=3)]


def _variant_row(project: Project, first: Scored, second: Scored, differences: Sequence[str]) -> list[Cell]:
    dimension, values = first.dimension, (first.scores.judge, second.scores.judge)
    both = values if dimension.is_named else tuple(_at_points(each, first) for each in values)
    stream = stream_of_pair(project, first.judge, second.judge, dimension)
    alpha = variant_agreement(
        both[0],
        both[1],
        documents=first.scores.documents,
        measurement_level=dimension.measurement_level,
        generator=stream,
    )
    return [
        text(first.judge.name),
        text(second.judge.name),
        text(dimension.name, key=dimension.key),
        text("; ".join(differences) or "nothing but the name"),
        figure(alpha),
        _shift(first, second, stream),
        figure(first.alpha.among_people),
    ]


def _shift(first: Scored, second: Scored, stream: Stream) -> Cell:
    if first.dimension.is_named:
        return Cell(reason="Categories have no mean to be apart.")
    plan = Resampling(by="documents")
    values = first.scores.judge, second.scores.judge
    return figure(bias(*values, documents=first.scores.documents, generator=stream, resampling=plan))


def _at_points(values: npt.NDArray[np.float64], of: Scored) -> npt.NDArray[np.float64]:
    return binned(values, of.dimension.scale_minimum, of.dimension.scale_maximum)


def _curves(found: Compared, chosen: Chosen) -> list[Table]:
    measure, level = CORRELATIONS[chosen["coefficient"]], Level(chosen["level"])
    curves = [
        (each, sample_curve(each.scores, each.said.as_read, measure, level, generator=each.stream))
        for each in found.with_amounts
        if each.samples.shape[1] > 1
    ]
    if not curves:
        return []
    judges = list(dict.fromkeys(each.judge for each, _ in curves))
    of_each = [_curve_of(judge, [pair for pair in curves if pair[0].judge == judge]) for judge in judges]
    return [_enough(curves), *of_each]


def _enough(curves: Sequence[tuple[Scored, SampleCurve]]) -> Table:
    columns = [
        JUDGE,
        DIMENSION,
        Column("samples", "samples", Kind.COUNT),
        Column("one", "with one"),
        Column("all", "with all"),
        Column("gain", "gain of all over one"),
        Column("enough", "enough", Kind.TEXT),
    ]
    rows = [
        [
            *each.names,
            Cell(curve.points[-1].samples),
            figure(curve.points[0].quality),
            figure(curve.points[-1].quality),
            _gain(curve.points[0]),
            text(_verdict(curve)),
        ]
        for each, curve in curves
        if curve.points
    ]
    return Table("samples", "How many samples are enough", columns, rows, heads=2)


def _verdict(curve: SampleCurve) -> str:
    if curve.enough is None:
        return f"unknown: more than {curve.points[-1].samples} may still gain"
    return f"after {curve.enough} nothing is gained"


def _gain(point: CurvePoint) -> Cell:
    what = "Difference of correlations with people (function sample_curve)"
    return difference_cell(point.gain, what, nothing="These are all samples.")


def _curve_of(judge: Judge, curves: Sequence[tuple[Scored, SampleCurve]]) -> Table:
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
        Column("number", "samples", Kind.COUNT),
        Column("quality", "correlation with people"),
        Column("gain", "gain of all samples"),
    ]
    title = f"Agreement with people by number of samples ({judge.name})"
    return Table(f"curve-{judge.pk}", title, columns, rows, heads=2, plot="curve")
