"""Reasons why a calibration cannot be sampled, one message each."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.utils.translation import gettext

from agreement.reliability import CalibrationPlan
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, Round
from annotate.rating.queries.assigned import AssignmentsByUnit, Unit
from judges.core.models import Calibration
from judges.core.specification import CalibrationSpec
from judges.core.stages import JudgeStage, units_to_ask
from judges.results.queries.confidences import Evidence, Kind
from judges.results.queries.scores import Material


def refusal_of(
    calibration: Calibration,
    spec: CalibrationSpec,
    dimensions: Sequence[FrozenDimension],
    evidence: Mapping[str, Evidence],
    needed: Mapping[str, CalibrationPlan],
) -> str:
    """Return the reason why the requested test cannot be planned, or an empty string."""
    if not dimensions:
        return gettext("Choose a dimension or more to calibrate on.")
    for each in dimensions:
        if found := _refused_dimension(calibration, each, evidence[each.key]):
            return found
    reason = next((each.reason for each in needed.values() if each.reason), None)
    if reason and spec.size is None:
        return f"{reason} {gettext('Or enter the number of calibration units yourself.')}"
    return ""


def _refused_dimension(calibration: Calibration, dimension: FrozenDimension, evidence: Evidence) -> str:
    name, judge = dimension.name, calibration.judge
    if dimension.measurement_level == "nominal":
        return gettext(
            "{dimension} has named categories, which have no mean. Remove it from the calibration."
        ).format(dimension=name)
    cut = calibration.cut
    if cut is not None and not dimension.scale_minimum < cut <= dimension.scale_maximum:
        return gettext(
            "The scale of {dimension} is {least} to {most}, so a cut at {cut:g} divides nothing. Choose "
            "another cut, or remove {dimension}."
        ).format(cut=cut, dimension=name, least=dimension.scale_minimum, most=dimension.scale_maximum)
    values = evidence.scores.judge[~np.isnan(evidence.scores.judge)]
    if not len(values):
        return gettext(
            "{judge} has no judgments of {dimension}. Run the judge, or remove {dimension}."
        ).format(judge=judge, dimension=name)
    if not evidence.usable.any():
        return _no_confidence(calibration, name)
    if len(np.unique(values)) == 1:
        return gettext(
            "{judge} gives {value:g} to every unit of {dimension}, so a calibration would test the scale and "
            "not the judge. Remove {dimension}, or change the prompt of the judge."
        ).format(judge=judge, value=values[0], dimension=name)
    return ""


def _no_confidence(calibration: Calibration, name: str) -> str:
    if calibration.confidence in (Kind.STEADINESS, Kind.LARGEST_PROBABILITY):
        return gettext(
            "{judge} has one sample for each unit of {dimension}, so its steadiness is unknown. Choose "
            "another confidence, or a judge with several samples."
        ).format(judge=calibration.judge, dimension=name)
    if calibration.confidence == Kind.CHOSEN_PROBABILITY:
        return gettext(
            "{judge} has no stored probabilities on {dimension}. Choose another confidence, or a judge that "
            "reads its score from probabilities."
        ).format(judge=calibration.judge, dimension=name)
    return gettext(
        "{other} and {judge} have no unit of {dimension} in common. Run both on the same items."
    ).format(other=calibration.other, dimension=name, judge=calibration.judge)


def refused_by_round(
    calibration: Calibration, round: Round | None, units: Sequence[Unit], assignments: AssignmentsByUnit
) -> str:
    """Return the reason why no units can be sampled now, or an empty string. One query."""
    waiting = Calibration.objects.filter(judge=calibration.judge, status=Calibration.Status.DRAWN).first()
    if waiting is not None:
        return gettext(
            "{calibration} has a sample for {judge} without certificates. Compute or withdraw it first."
        ).format(calibration=waiting, judge=calibration.judge)
    if round is not None and not round.is_open:
        never = sum(not assignments.count(unit) for unit in units)
        if never:
            return gettext(
                "Round I is closed, and {missing} of the {count} units to sample have no assignment. A "
                "calibration needs an open round, or a round with every unit rated."
            ).format(missing=never, count=len(units))
    return ""


def check_spec(project: Project, spec: CalibrationSpec) -> None:
    """Raise InvalidValueError, with its field, if a calibration is inconsistent. One query."""
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
    _check_stages(project, spec)
    if (spec.cut is None) is (spec.loss == Calibration.Loss.OTHER_SIDE):
        raise _invalid("cut", gettext("A cut is needed for sides of it, and for nothing else."))


def refused_stages(
    stages: Sequence[JudgeStage], dimensions: Sequence[FrozenDimension], material: Material
) -> str:
    """Return the reason why a later judge cannot be called, or an empty string.

    A query for each judge without an endpoint.
    """
    units = {(item, each.id) for item in material.items.tolist() for each in dimensions}
    for stage in stages[1:]:
        for judge in stage.judges:
            if judge.endpoint_id is None and units_to_ask(judge, units):
                return gettext(
                    "{judge} has no endpoint, so nobody can ask it about the rest. Choose it as the first "
                    "judge, or another judge here."
                ).format(judge=judge)
    return ""


def _check_stages(project: Project, spec: CalibrationSpec) -> None:
    before = [spec.judge]
    for number, (judge, other) in enumerate(spec.stages, start=2):
        field, compared = f"judge_{number}", f"other_{number}"
        for name, each in ((field, judge), (compared, other)):
            if each is not None and each.project_id != project.pk:
                raise _invalid(name, gettext("{judge} is no judge of this project.").format(judge=each))
        if judge in before:
            raise _invalid(
                field, gettext("{judge} is an earlier stage; choose another judge.").format(judge=judge)
            )
        if spec.confidence == Calibration.Confidence.CLOSENESS and other is None:
            raise _invalid(
                compared,
                gettext("Closeness needs a judge to compare {judge} with.").format(judge=judge),
            )
        if other == judge:
            raise _invalid(
                compared, gettext("A judge is always close to itself; choose another second judge.")
            )
        before.append(judge)


def _invalid(field: str, message: str) -> InvalidValueError:
    return InvalidValueError(message, fields={field: message})
