"""Why a calibration cannot be drawn, in a sentence each."""

from collections.abc import Mapping, Sequence

import numpy as np

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
        return "Choose a dimension or more to calibrate on."
    for each in dimensions:
        if found := _refused_dimension(calibration, each, evidence[each.key]):
            return found
    reason = next((each.reason for each in needed.values() if each.reason), None)
    if reason and spec.size is None:
        return f"{reason} Or enter yourself how many units shall calibrate."
    return ""


def _refused_dimension(calibration: Calibration, dimension: FrozenDimension, evidence: Evidence) -> str:
    name, judge = dimension.name, calibration.judge
    if dimension.measurement_level == "nominal":
        return f"{name} has named categories, which have no mean to hold a judge against; leave it out."
    cut = calibration.cut
    if cut is not None and not dimension.scale_minimum < cut <= dimension.scale_maximum:
        return (
            f"A cut at {cut:g} parts nothing on {name}, whose scale is {dimension.scale_minimum} to "
            f"{dimension.scale_maximum}; choose another cut, or leave {name} out."
        )
    values = evidence.scores.judge[~np.isnan(evidence.scores.judge)]
    if not len(values):
        return f"{judge} has no judgments of {name}; let it judge them, or leave {name} out."
    if not evidence.usable.any():
        return _no_confidence(calibration, name)
    if len(np.unique(values)) == 1:
        return (
            f"{judge} gives {values[0]:g} to every unit of {name}. What is right of that says something "
            f"about the scale and nothing about the judge; leave {name} out."
        )
    return ""


def _no_confidence(calibration: Calibration, name: str) -> str:
    if calibration.confidence in (Kind.STEADINESS, Kind.LARGEST_PROBABILITY):
        return (
            f"{calibration.judge} was asked once for each unit of {name}, which tells nothing of its "
            "steadiness; choose another confidence, or a judge with several samples."
        )
    return f"{calibration.other} has no judgments of {name} that {calibration.judge} has too."


def refused_by_round(
    calibration: Calibration, round: Round | None, units: Sequence[Unit], places: PlacesByUnit
) -> str:
    """Return why nothing can be drawn now, or nothing. One query."""
    waiting = Calibration.objects.filter(judge=calibration.judge, status=Calibration.Status.DRAWN).first()
    if waiting is not None:
        return (
            f"{waiting} has drawn a sample for {calibration.judge} that is not computed yet; compute or "
            "withdraw it first."
        )
    if round is not None and not round.is_open:
        never = sum(not places.count(unit) for unit in units)
        if never:
            return (
                f"Round I is closed, and nobody was asked for {never} of the {len(units)} units that would "
                "be drawn; a calibration needs an open round, or one in which everything was rated."
            )
    return ""


def check_spec(project: Project, spec: CalibrationSpec) -> None:
    """Raise InvalidValueError, beside its field, where a calibration does not fit together. One query."""
    if Calibration.objects.filter(project=project, name=spec.name).exists():
        raise _invalid("name", f"The project has a calibration {spec.name} already; choose another name.")
    for field, judge in (("judge", spec.judge), ("other", spec.other)):
        if judge is not None and judge.project_id != project.pk:
            raise _invalid(field, f"{judge} is no judge of this project.")
    if spec.confidence == Calibration.Confidence.CLOSENESS and spec.other is None:
        raise _invalid("other", "Closeness needs a second judge, by MCQ; choose one or another confidence.")
    if spec.other == spec.judge:
        raise _invalid("other", "A judge is always close to itself; choose another second judge.")
    if (spec.cut is None) is (spec.loss == Calibration.Loss.OTHER_SIDE):
        raise _invalid("cut", "A cut is needed for sides of it, and for nothing else.")


def _invalid(field: str, message: str) -> InvalidValueError:
    return InvalidValueError(message, fields={field: message})
