"""Plan of a calibration before sampling: its units, and the ratings that its guarantee needs."""

import hashlib
import json
from collections.abc import Iterable, Sequence
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
from annotate.rating.queries.assigned import Unit, assignments_by_unit, median_seconds
from judges.core.models import Calibration
from judges.core.specification import CalibrationSpec
from judges.core.stages import JudgeStage, number_stages
from judges.results.queries.confidences import Evidence, Kind, evidence_of
from judges.results.queries.scores import Material, material_of, samples_of
from judges.routing.queries.bindings import bound_now, population_of
from judges.routing.queries.calibration_refusals import (
    check_spec,
    refusal_of,
    refused_by_round,
    refused_stages,
)

THRESHOLDS = 50
POWER = 0.8


@dataclass(frozen=True)
class CandidateUnit:
    """A unit to sample, and whether its ratings fit the error model."""

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
        """Return the duration of the ratings at the project's own median time per rating."""
        return None if self.seconds_per_rating is None else self.seconds_per_rating * self.ratings

    @property
    def warnings(self) -> list[str]:
        """Return the warnings for admins before sampling."""
        found = [each.warning for each in self.dimensions if each.warning]
        if self.ratings and self.annotators < self.calibration.raters:
            found.append(
                gettext(
                    "A unit is to be rated by {raters} people, but the project has "
                    "{people}: invite more, or units stay incomplete."
                ).format(raters=self.calibration.raters, people=self.annotators)
            )
        return found

    @cached_property
    def digest(self) -> str:
        """Return a digest that is equal exactly for plans that sample the same units for the same test."""
        of = self.calibration
        judges = [judge.pk for stage in self.stages for judge in stage.judges]
        test = [judges, of.loss, of.cut, of.risk, of.significance_level, of.confidence]
        parts = [test, of.raters, of.grids, sorted((*unit.unit, unit.fits) for unit in self.units)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]


def draw_plan(project: Project, spec: CalibrationSpec) -> DrawPlan:
    """Return the present effect of sampling, deterministically. Up to thirteen queries.

    Raises InvalidValueError if the settings are inconsistent.
    """
    check_spec(project, spec)
    calibration = _make_unsaved(project, spec)
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
    guarantee = Guarantee(spec.risk, spec.significance_level).divide(
        max(len(dimensions), 1) * number_of_paths(spec)
    )
    batches = {each.key: int(evidence[each.key].usable.sum()) for each in dimensions}
    # A size is searched for; dimensions mostly have batches of one size, which is searched once.
    by_batch = {units: _plan_size(guarantee, spec, units) for units in set(batches.values())}
    needed = {key: by_batch[units] for key, units in batches.items()}
    _settle_size(calibration, spec, needed.values())
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
        ratings=sum(max(calibration.raters - assignments.count(unit.unit), 0) for unit in units),
        seconds_per_rating=median_seconds(project),
        annotators=Membership.objects.filter(project=project, role=Role.ANNOTATOR, active=True).count(),
        refusal=refusal or refused_by_round(calibration, round, [unit.unit for unit in units], assignments),
    )


def number_of_paths(spec: CalibrationSpec) -> int:
    """Return the number of paths of thresholds among which delta is divided, as in `paths_of`."""
    return 2 if spec.stages and spec.confidence != Kind.ERROR_MODEL else 1


def _make_unsaved(project: Project, spec: CalibrationSpec) -> Calibration:
    number = Calibration.objects.filter(project=project).count() + 1
    expected = spec.risk / 2 if spec.expected_error is None else spec.expected_error
    seed = Stream(project.seed).of("calibration", number).shuffler().randrange(2**31)
    plain = {name: getattr(spec, name) for name in spec.__dataclass_fields__}
    for name in ("dimensions", "size", "stages"):
        del plain[name]
    return Calibration(**{**plain, "project": project, "expected_error": expected, "seed": seed, "grids": {}})


def _plan_size(guarantee: Guarantee, spec: CalibrationSpec, units: int) -> CalibrationPlan:
    expected = spec.risk / 2 if spec.expected_error is None else spec.expected_error
    return plan_calibration(
        guarantee,
        expected_error=expected,
        accepted_share=spec.accepted_share,
        power=POWER,
        units=units,
    )


def _settle_size(calibration: Calibration, spec: CalibrationSpec, needed: Iterable[CalibrationPlan]) -> None:
    """Set the sizes of a calibration:

    the requested ones, or the size that the most demanding dimension needs.
    """
    sizes = [each.ratings or each.least_ratings or 0 for each in needed]
    calibration.size = spec.size or max(sizes, default=0)
    calibration.fitting = calibration.size // 2 if calibration.confidence == Kind.ERROR_MODEL else 0


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


def asks_people(plan: DrawPlan) -> bool:
    """Return True if units must be assigned to people: not in a closed round, with its fixed panel."""
    return bool(plan.ratings) and not (plan.round is not None and not plan.round.is_open)
