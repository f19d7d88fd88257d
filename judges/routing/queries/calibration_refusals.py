"""Why a calibration cannot be drawn, in a sentence each."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.utils.translation import gettext

from agreement.reliability import CalibrationPlan
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, Round
from annotate.rating.queries.assigned import PlacesByUnit, Unit
from judges.core.models import Calibration
from judges.core.specification import CalibrationSpec
from judges.results.queries.confidences import Evidence, Kind


def refusal_of(
    calibration: Calibration,
    spec: CalibrationSpec,
    dimensions: Sequence[FrozenDimension],
    evidence: Mapping[str, Evidence],
    needed: Mapping[str, CalibrationPlan],
) -> str:
    """Return why the test cannot be planned as asked, or nothing."""
    if not dimensions:
        return gettext("Choose a dimension or more to calibrate on.")
    for each in dimensions:
        if found := _refused_dimension(calibration, each, evidence[each.key]):
            return found
    reason = next((each.reason for each in needed.values() if each.reason), None)
    if reason and spec.size is None:
        return f"{reason} {gettext('Or enter yourself how many units shall calibrate.')}"
    return ""


def _refused_dimension(calibration: Calibration, dimension: FrozenDimension, evidence: Evidence) -> str:
    name, judge = dimension.name, calibration.judge
    if dimension.measurement_level == "nominal":
        return gettext(
            "{dimension} has named categories, which have no mean to hold a judge against; leave it out."
        ).format(dimension=name)
    cut = calibration.cut
    if cut is not None and not dimension.scale_minimum < cut <= dimension.scale_maximum:
        return gettext(
            "A cut at {cut:g} parts nothing on {dimension}, whose scale is {least} to "
            "{most}; choose another cut, or leave {dimension} out."
        ).format(cut=cut, dimension=name, least=dimension.scale_minimum, most=dimension.scale_maximum)
    values = evidence.scores.judge[~np.isnan(evidence.scores.judge)]
    if not len(values):
        return gettext(
            "{judge} has no judgments of {dimension}; let it judge them, or leave {dimension} out."
        ).format(judge=judge, dimension=name)
    if not evidence.usable.any():
        return _no_confidence(calibration, name)
    if len(np.unique(values)) == 1:
        return gettext(
            "{judge} gives {value:g} to every unit of {dimension}. What is right of that says something "
            "about the scale and nothing about the judge; leave {dimension} out."
        ).format(judge=judge, value=values[0], dimension=name)
    return ""


def _no_confidence(calibration: Calibration, name: str) -> str:
    if calibration.confidence in (Kind.STEADINESS, Kind.LARGEST_PROBABILITY):
        return gettext(
            "{judge} was asked once for each unit of {dimension}, which tells nothing of its "
            "steadiness; choose another confidence, or a judge with several samples."
        ).format(judge=calibration.judge, dimension=name)
    return gettext("{other} has no judgments of {dimension} that {judge} has too.").format(
        other=calibration.other, dimension=name, judge=calibration.judge
    )


def refused_by_round(
    calibration: Calibration, round: Round | None, units: Sequence[Unit], places: PlacesByUnit
) -> str:
    """Return why nothing can be drawn now, or nothing. One query."""
    waiting = Calibration.objects.filter(judge=calibration.judge, status=Calibration.Status.DRAWN).first()
    if waiting is not None:
        return gettext(
            "{calibration} has drawn a sample for {judge} that is not computed yet; compute or "
            "withdraw it first."
        ).format(calibration=waiting, judge=calibration.judge)
    if round is not None and not round.is_open:
        never = sum(not places.count(unit) for unit in units)
        if never:
            return gettext(
                "Round I is closed, and nobody was asked for {missing} of the {count} units that would "
                "be drawn; a calibration needs an open round, or one in which everything was rated."
            ).format(missing=never, count=len(units))
    return ""


def check_spec(project: Project, spec: CalibrationSpec) -> None:
    """Raise InvalidValueError, beside its field, where a calibration does not fit together. One query."""
    if Calibration.objects.filter(project=project, name=spec.name).exists():
        raise _invalid(
            "name",
            gettext("The project has a calibration {name} already; choose another name.").format(
                name=spec.name
            ),
        )
    for field, judge in (("judge", spec.judge), ("other", spec.other)):
        if judge is not None and judge.project_id != project.pk:
            raise _invalid(field, gettext("{judge} is no judge of this project.").format(judge=judge))
    if spec.confidence == Calibration.Confidence.CLOSENESS and spec.other is None:
        raise _invalid(
            "other", gettext("Closeness needs a second judge, by MCQ; choose one or another confidence.")
        )
    if spec.other == spec.judge:
        raise _invalid("other", gettext("A judge is always close to itself; choose another second judge."))
    if (spec.cut is None) is (spec.loss == Calibration.Loss.OTHER_SIDE):
        raise _invalid("cut", gettext("A cut is needed for sides of it, and for nothing else."))


def _invalid(field: str, message: str) -> InvalidValueError:
    return InvalidValueError(message, fields={field: message})
