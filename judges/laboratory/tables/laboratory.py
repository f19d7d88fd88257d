"""Whether judges agree with themselves, and how many samples are worth asking for."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from agreement import Resampling, Stream, bias
from agreement.comparison import (
    CORRELATIONS,
    LEAST_GAIN,
    CurvePoint,
    Level,
    SampleCurve,
    bin_values,
    correlation_with_other_raters,
    sample_curve,
    share_repeated,
    variant_agreement,
)
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.core.models import Judge
from judges.laboratory.tables.samples import sample_sections
from judges.results.queries.variants import settings_that_differ, variants_of_models
from judges.results.tables.columns import JUDGE, difference_cell
from judges.results.tables.compared import ComparedJudges, PeopleOnDimension, Scored, compared_values
from judges.results.tables.corrected import with_count_of_corrected
from judges.results.tables.streams import stream_of_pair
from judges.results.tables.together import LEVELS

_SELF = gettext_lazy(
    "Alpha over the samples of a judge, each treated as a rater, compared with alpha among people"
    " on the same items. If it is below people’s, the judge agrees less with itself than people "
    "with each other."
)
_VARIANTS = gettext_lazy(
    "Two judges of one model with different prompts or methods, each treated as a rater: their "
    "values (the mean of several samples) at the nearest point of the dimension’s scale, on the "
    "items of both. First minus second: the mean of their differences, in points."
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
_NO_JUDGMENTS = gettext_lazy("No judge that gives values has judgments yet. Plan a run, or import judgments.")
_NO_VARIANTS = gettext_lazy(
    "This table compares judges of one model on the same items; there are no two yet."
)
_NO_SAMPLES = gettext_lazy(
    "No judge has several samples of an item. Give a judge several samples at a temperature above"
    " 0, and run it on some items."
)


def laboratory_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return self-agreement, the curve of samples, and raters held against each other as judges are.

    Raises NoJudgesError where there is no judge. Eleven queries, and one more for each judge that compares.
    """
    found = compared_values(project, chosen)
    itself = [_self_agreement(found.scored)] if found.scored else []
    variants = _variants(project, found)
    curves = _curves(found, chosen)
    raters = _raters(found.people, chosen["coefficient"])
    sections = [
        Section(
            gettext("Agreement with itself"),
            str(_SELF) if itself else str(_NO_JUDGMENTS),
            itself,
            "self-agreement",
        ),
        Section(
            gettext("Agreement of variants"),
            str(_VARIANTS) if variants else str(_NO_VARIANTS),
            variants,
            "variants",
        ),
        Section(
            gettext("Number of samples"),
            _CURVE.format(gain=LEAST_GAIN) if curves else str(_NO_SAMPLES),
            curves,
            "samples",
        ),
        *sample_sections(found),
        Section(gettext("Raters as judges"), str(_RATERS) if raters else str(_NO_RATERS), raters, "raters"),
    ]
    return with_count_of_corrected(sections, found.judges, chosen)


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
    title = gettext("Judges and themselves")
    return Table("self-agreement", title, [JUDGE, DIMENSION, *columns], rows, heads=2)


def _variants(project: Project, found: ComparedJudges) -> list[Table]:
    scored = {(each.judge.pk, each.dimension.key): each for each in found.scored}
    judges = Judge.objects.filter(pk__in=[judge.pk for judge in found.judges])
    judges = judges.select_related("endpoint", "template", "reference")
    rows = [
        _variant_row(project, first, second, settings_that_differ(one, other))
        for one, other in variants_of_models(list(judges.order_by("name")))
        for first in found.scored
        if first.judge.pk == one.pk and (second := scored.get((other.pk, first.dimension.key)))
    ]
    if not rows:
        return []
    columns = [
        JUDGE,
        Column("variant", gettext("Variant"), ColumnKind.TEXT),
        DIMENSION,
        Column("differ", gettext("differ in"), ColumnKind.TEXT),
        Column("alpha", gettext("alpha of both")),
        Column("shift", gettext("first minus second"), decimals=2),
        Column("among_people", gettext("alpha among people")),
    ]
    return [Table("variants", gettext("Variants of a model and each other"), columns, rows, heads=3)]


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
        text("; ".join(differences) or gettext("nothing but the name")),
        figure(alpha),
        _shift(first, second, stream),
        figure(first.alpha.among_people),
    ]


def _shift(first: Scored, second: Scored, stream: Stream) -> Cell:
    if first.dimension.is_named:
        return Cell(reason=gettext("Categories have no mean, so there is no shift."))
    plan = Resampling(by="documents")
    values = first.scores.judge, second.scores.judge
    return figure(bias(*values, documents=first.scores.documents, generator=stream, resampling=plan))


def _at_points(values: npt.NDArray[np.float64], of: Scored) -> npt.NDArray[np.float64]:
    return bin_values(values, of.dimension.values)


def _curves(found: ComparedJudges, chosen: Chosen) -> list[Table]:
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
        Column("samples", gettext("samples"), ColumnKind.COUNT),
        Column("one", gettext("with one")),
        Column("all", gettext("with all")),
        Column("gain", gettext("gain of all over one")),
        Column("enough", gettext("enough"), ColumnKind.TEXT),
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
    return Table("samples", gettext("Number of samples needed"), columns, rows, heads=2)


def _verdict(curve: SampleCurve) -> str:
    if curve.enough is None:
        return gettext("unknown: more than {samples} may still gain").format(samples=curve.points[-1].samples)
    return gettext("after {enough} nothing is gained").format(enough=curve.enough)


def _gain(point: CurvePoint) -> Cell:
    what = gettext("Difference of correlations with people (function sample_curve)")
    return difference_cell(point.gain, what, nothing=gettext("These are all samples."))


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
        Column("number", gettext("samples"), ColumnKind.COUNT),
        Column("quality", gettext("correlation with people")),
        Column("gain", gettext("gain of all samples")),
    ]
    title = gettext("Agreement with people by number of samples ({judge})").format(judge=judge.name)
    return Table(f"curve-{judge.pk}", title, columns, rows, heads=2, plot="curve")


def _raters(people: Sequence[PeopleOnDimension], coefficient: str) -> list[Table]:
    """Return each rater beside the mean of the others, none where nobody rated beside another."""
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
