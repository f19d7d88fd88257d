"""Plan of a calibration before sampling: its units, and the ratings that its guarantee needs."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from agreement import Stream
from agreement.reliability import CalibrationPlan, Guarantee, draw_sample, grid_of, plan_calibration
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Membership, Project, Role, Round
from annotate.core.rounds import round_one
from annotate.rating.queries.assignments import AssignmentsByUnit, Unit, assignments_by_unit, median_seconds
from judges.core.errors import invalid_field
from judges.core.models import Calibration, Judge
from judges.core.specification import CalibrationSpec
from judges.core.stages import JudgeStage, number_stages, units_to_ask
from judges.results.queries.confidences import Evidence, Kind, evidence_of
from judges.results.queries.scores import Material, material_of, samples_of
from judges.routing.queries.learn_certificates import bound_now, population_of

THRESHOLDS = 50
# The planned size certifies a judge of the expected quality in four of five samples.
POWER = 0.8


@dataclass(frozen=True)
class CandidateUnit:
    item: int
    dimension: int
    fits: bool
    inclusion_probability: float

    @property
    def unit(self) -> Unit:
        return self.item, self.dimension


@dataclass(frozen=True)
class DimensionPlan:
    """The sample of one dimension.

    units: of the batch; left_out: units without a value or a confidence, which always go to humans. rated:
    sampled units that have a rating already. warning: a message, or empty.
    """

    dimension: FrozenDimension
    units: int
    left_out: int
    drawn: int
    rated: int
    needed: CalibrationPlan
    warning: str


@dataclass(frozen=True)
class DrawPlan:
    """The effect of sampling. ratings: the number of ratings still required from people."""

    calibration: Calibration
    stages: Sequence[JudgeStage]
    round: Round | None
    guarantee: Guarantee
    dimensions: Sequence[DimensionPlan]
    units: Sequence[CandidateUnit]
    ratings: int
    seconds_per_rating: float | None
    annotators: int
    refusal: str

    @property
    def items(self) -> int:
        return len({unit.item for unit in self.units})

    @property
    def seconds(self) -> float | None:
        return None if self.seconds_per_rating is None else self.seconds_per_rating * self.ratings

    @property
    def warnings(self) -> list[str]:
        found = [each.warning for each in self.dimensions if each.warning]
        if self.ratings and self.annotators < self.calibration.raters:
            found.append(warn_of_few(self.annotators, self.calibration.raters))
        return found

    @cached_property
    def digest(self) -> str:
        """Return a digest that is equal exactly for plans that sample the same units for the same test."""
        of = self.calibration
        judges = [judge.pk for stage in self.stages for judge in stage.judges]
        test = [judges, of.loss, of.cut, of.risk, of.significance_level, of.confidence]
        parts = [test, of.raters, of.grids, sorted((*unit.unit, unit.fits) for unit in self.units)]
        # 80 bits are short enough for a form, and no two plans share them by chance.
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]


def warn_of_few(annotators: int, raters: int) -> str:
    return gettext(
        "A unit is to be rated by {raters} people, but the project has {people}: invite more, or units stay "
        "incomplete."
    ).format(raters=raters, people=annotators)


def ratings_asked(units: Iterable[Unit], raters: int, assignments: AssignmentsByUnit) -> int:
    """Return the number of ratings required until each unit has its raters."""
    return sum(max(raters - assignments.count(unit), 0) for unit in units)


def draw_plan(project: Project, spec: CalibrationSpec) -> DrawPlan:
    """Return the present effect of sampling, deterministically. Up to thirteen queries.

    Raises InvalidValueError if the settings are inconsistent.
    """
    check_spec(project, spec)
    number = Calibration.objects.filter(project=project).count() + 1
    # The settings that are fields of a calibration; the others are decided or stored below.
    plain = {name: getattr(spec, name) for name in spec.__dataclass_fields__}
    for name in ("dimensions", "size", "stages"):
        del plain[name]
    expected = spec.risk / 2 if spec.expected_error is None else spec.expected_error
    # The number gives every calibration a sample of its own, the same at each preview.
    seed = Stream(project.seed).of("calibration", number).shuffler().randrange(2**31)
    plain |= {"project": project, "expected_error": expected, "seed": seed, "grids": {}}
    calibration = Calibration(**plain)
    round = round_one(project)
    guideline = guideline_at(project, round)
    material = material_of(project, round, guideline)
    dimensions = [each for each in guideline.scales if each.key in spec.dimensions]
    stages = number_stages(spec.judge, spec.other, spec.stages)
    samples = samples_of([judge for stage in stages for judge in stage.judges], material)
    # Only the first judge needs judgments now; a run asks the others about the sample.
    evidence = {
        each.key: evidence_of(spec.confidence, stages[0], material, samples, each.key) for each in dimensions
    }
    # Delta is divided among the paths of thresholds, too, as in `paths_of`.
    paths = 2 if spec.stages and spec.confidence != Kind.ERROR_MODEL else 1
    # A plan without a dimension is rejected below, and must not divide by 0 here.
    guarantee = Guarantee(spec.risk, spec.significance_level).divide(max(len(dimensions), 1) * paths)
    # Units without a value or a confidence always go to people, so no guarantee covers them.
    batches = {each.key: int(evidence[each.key].usable.sum()) for each in dimensions}
    # A size is searched for; dimensions mostly have batches of one size, which is searched once.
    by_batch = {
        units: plan_calibration(
            guarantee, expected_error=expected, accepted_share=spec.accepted_share, power=POWER, units=units
        )
        for units in set(batches.values())
    }
    needed = {key: by_batch[units] for key, units in batches.items()}
    # Without a requested size, the one that the most demanding dimension needs.
    sizes = [each.ratings or each.least_ratings or 0 for each in needed.values()]
    calibration.size = spec.size or max(sizes, default=0)
    # Half of the size is a third of the whole sample, as for a batch that is too small.
    calibration.fitting = calibration.size // 2 if calibration.confidence == Kind.ERROR_MODEL else 0
    # The sample, the grid of thresholds, and what the certificates will be bound to.
    drawn = {each.key: _units_to_draw(calibration, each, material, evidence[each.key]) for each in dimensions}
    calibration.grids = {
        each.key: _grid(calibration, evidence[each.key], is_cascade=bool(spec.stages)) for each in dimensions
    }
    calibration.bound = bound_now(stages, dimensions, material, samples, population_of(project, material))
    units = [unit for each in drawn.values() for unit in each]
    assignments = assignments_by_unit(round)
    refusal = refusal_of(calibration, spec, dimensions, evidence, needed)
    refusal = refusal or refused_stages(stages, dimensions, material)
    return DrawPlan(
        calibration=calibration,
        stages=stages,
        round=round,
        guarantee=guarantee,
        dimensions=[
            _plan_dimension(each, evidence[each.key], material.items, drawn[each.key], needed[each.key])
            for each in dimensions
        ],
        units=units,
        ratings=ratings_asked((each.unit for each in units), calibration.raters, assignments),
        seconds_per_rating=median_seconds(project),
        annotators=Membership.objects.filter(project=project, role=Role.ANNOTATOR, active=True).count(),
        refusal=refusal or refused_by_round(calibration, round, [unit.unit for unit in units], assignments),
    )


def _units_to_draw(
    calibration: Calibration,
    dimension: FrozenDimension,
    material: Material,
    evidence: Evidence,
) -> list[CandidateUnit]:
    """Return the sampled units of a dimension.

    An item's number depends on the seed and the item's name alone. So all dimensions sample the same items if
    possible, and raters of an output score all of them. If the batch is too small, a third fits the model and
    the rest calibrates.
    """
    # Sampling by name gives a copy of the project the same sample, whatever its keys are.
    items: list[int] = material.items[evidence.usable].tolist()
    by_name = {material.item_names[item]: item for item in items}
    batch = list(by_name)
    fitting, size = calibration.fitting, calibration.size
    if size + fitting > len(batch):
        fitting = len(batch) // 3 if fitting else 0
        size = len(batch) - fitting
    everything = draw_sample(batch, size=size + fitting, seed=calibration.seed)
    fits = {
        each.unit
        for each in draw_sample([e.unit for e in everything], size=fitting, seed=calibration.seed + 1)
    }
    return [
        CandidateUnit(by_name[str(each.unit)], dimension.id, each.unit in fits, each.probability)
        for each in everything
    ]


def _grid(calibration: Calibration, evidence: Evidence, *, is_cascade: bool) -> list[float]:
    # Cascades take their thresholds from answers to come, and models of errors from a fit to come.
    if is_cascade or calibration.confidence == Kind.ERROR_MODEL or not evidence.usable.any():
        return []
    found: list[float] = grid_of(evidence.confidences[evidence.usable], thresholds=THRESHOLDS).tolist()
    return found


def _plan_dimension(
    dimension: FrozenDimension,
    evidence: Evidence,
    items: npt.NDArray[np.int64],
    drawn: Sequence[CandidateUnit],
    needed: CalibrationPlan,
) -> DimensionPlan:
    usable, calibrating = evidence.usable, sum(not unit.fits for unit in drawn)
    chosen = np.searchsorted(items, [unit.item for unit in drawn])
    warning = ""
    if needed.least_ratings is not None and calibrating < needed.least_ratings:
        warning = gettext(
            "{dimension}: {count} units calibrate, but with fewer than {least} "
            "not even a judge without an error is certified."
        ).format(dimension=dimension.name, count=calibrating, least=needed.least_ratings)
    # A model of errors has no confidences before it is fitted.
    elif evidence.features is None and len(np.unique(evidence.confidences[usable])) == 1:
        warning = gettext(
            "{dimension}: every unit has the same confidence, so the certificate covers all units or none. "
            "Choose another confidence to keep a part."
        ).format(dimension=dimension.name)
    return DimensionPlan(
        dimension=dimension,
        units=int(usable.sum()),
        left_out=int((~usable).sum()),
        drawn=len(drawn),
        rated=int((~np.isnan(evidence.scores.human_means[chosen])).sum()) if drawn else 0,
        needed=needed,
        warning=warning,
    )


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
        if calibration.confidence in (Kind.STEADINESS, Kind.LARGEST_PROBABILITY):
            message = gettext(
                "{judge} has one sample for each unit of {dimension}, so its steadiness is unknown. Choose "
                "another confidence, or a judge with several samples."
            )
        elif calibration.confidence == Kind.CHOSEN_PROBABILITY:
            message = gettext(
                "{judge} has no stored probabilities on {dimension}. Choose another confidence, or a judge "
                "that reads its score from probabilities."
            )
        else:
            message = gettext(
                "{other} and {judge} have no unit of {dimension} in common. Run both on the same items."
            )
        return message.format(judge=judge, dimension=name, other=calibration.other)
    if len(np.unique(values)) == 1:
        return gettext(
            "{judge} gives {value:g} to every unit of {dimension}, so a calibration would test the scale and "
            "not the judge. Remove {dimension}, or change the prompt of the judge."
        ).format(judge=judge, value=values[0], dimension=name)
    return ""


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
        raise invalid_field(
            "name",
            gettext("The project has a calibration {name} already; choose another name.").format(
                name=spec.name
            ),
        )
    before: list[Judge] = []
    for number, (judge, other) in enumerate([(spec.judge, spec.other), *spec.stages], start=1):
        names = ("judge", "other") if number == 1 else (f"judge_{number}", f"other_{number}")
        for name, each in zip(names, (judge, other), strict=True):
            if each is not None and each.project_id != project.pk:
                raise invalid_field(name, gettext("{judge} is no judge of this project.").format(judge=each))
        if judge in before:
            message = gettext("{judge} is an earlier stage; choose another judge.").format(judge=judge)
            raise invalid_field(names[0], message)
        if spec.confidence == Calibration.Confidence.CLOSENESS and other is None:
            message = (
                gettext("Closeness needs a judge to compare {judge} with.")
                if before
                else gettext("Closeness needs a second judge, by MCQ; choose one or another confidence.")
            )
            raise invalid_field(names[1], message.format(judge=judge))
        if other == judge:
            message = gettext("A judge is always close to itself; choose another second judge.")
            raise invalid_field(names[1], message)
        before.append(judge)
    # True if a needed cut is missing, and if one is given that the loss does not use.
    if (spec.cut is None) is (spec.loss == Calibration.Loss.OTHER_SIDE):
        raise invalid_field("cut", gettext("A cut is needed for sides of it, and for nothing else."))


def refused_stages(
    stages: Sequence[JudgeStage], dimensions: Sequence[FrozenDimension], material: Material
) -> str:
    """Return why a later judge cannot be called, or empty. A query for each judge without an endpoint."""
    units = {(item, each.id) for item in material.items.tolist() for each in dimensions}
    for stage in stages[1:]:
        for judge in stage.judges:
            if judge.endpoint_id is None and units_to_ask(judge, units):
                return gettext(
                    "{judge} has no endpoint, so nobody can ask it about the rest. Choose it as the first "
                    "judge, or another judge here."
                ).format(judge=judge)
    return ""
