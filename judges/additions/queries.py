"""The benchmark's route for an addition, and the steps missing before it applies."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models.functions import Length
from django.utils.translation import gettext

from agreement import SystemRange, compare_with_systems
from annotate.additions.registry import AdditionPart
from annotate.core.guidelines import guideline_at
from annotate.core.models import Addition, Dimension, Item, Project
from annotate.core.rounds import round_one
from judges.core.access import OF_JUDGES
from judges.core.judge_settings import BOUND_SETTINGS
from judges.core.material import outputs_of
from judges.core.models import Calibration, Judge, RoutingPolicy
from judges.core.stages import JudgeStage, JudgeToAsk, judges_to_ask, stages_of
from judges.results.queries.scores import material_of, mean_of_samples, samples_of
from judges.routing.queries.calibration_state import RunToAsk, asking_of
from judges.routing.queries.route_by_certificates import refusal_where_learned
from judges.routing.queries.state import describe_stops


@dataclass(frozen=True)
class BenchmarkRoute:
    """The certificates that a benchmark can lend, and the policy that follows them there, if any.

    refusal: the reason why there are none or they may not be used.
    """

    calibration: Calibration | None = None
    policy: RoutingPolicy | None = None
    refusal: str = ""


def route_of(benchmark: Project) -> BenchmarkRoute:
    """Return the benchmark's routed policy by certificates, or else its last certificates."""
    policy = (
        RoutingPolicy.objects.filter(
            project=benchmark, status=RoutingPolicy.Status.ROUTED, calibration__isnull=False
        )
        .select_related("calibration")
        .first()
    )
    certified = Calibration.objects.filter(
        project=benchmark, status=Calibration.Status.CERTIFIED, certificates__threshold__isnull=False
    ).select_related("project", *OF_JUDGES)
    # Units of the benchmark follow the certificates of its policy, so the addition does, too.
    if policy and policy.calibration_id:
        certified = certified.filter(pk=policy.calibration_id)
    calibration = certified.order_by("-pk").first()
    if calibration is None:
        reason = gettext("The benchmark has no certificate, so people rate every unit of the addition.")
        return BenchmarkRoute(refusal=reason)
    return BenchmarkRoute(calibration, policy, refusal_where_learned(calibration))


def settings_by_key(judge: Judge) -> dict[str, Any]:
    """Return the judge's settings that certificates bind, with dimension keys instead of ids."""
    keys = dict(Dimension.objects.filter(project=judge.project_id).values_list("pk", "key"))
    found: dict[str, Any] = {each.key: each.read(judge) for each in BOUND_SETTINGS}
    # Values with ids of dimensions are replaced, since these differ between the two projects.
    found["asked_together"] = [keys[pk] for pk in judge.asked_together if pk in keys]
    if judge.template:
        wordings = {keys[int(pk)]: text for pk, text in judge.template.wordings.items() if int(pk) in keys}
        # Texts by key instead of the digest, which contains ids.
        found["prompt_digest"] = [judge.template.text, judge.template.pattern, sorted(wordings.items())]
    return found


def own_stages(addition: Addition, calibration: Calibration) -> list[JudgeStage]:
    """Return the stages of the benchmark's calibration with the addition's judges; empty if one lacks."""
    judges = Judge.objects.filter(project=addition.project).select_related(
        "endpoint", "template", "reference"
    )
    # Copies have the names of their originals.
    copies = {judge.name: judge for judge in judges}
    stages = stages_of(calibration)
    if any(judge.name not in copies for stage in stages for judge in stage.judges):
        return []
    return [
        JudgeStage(each.position, copies[each.judge.name], each.other and copies[each.other.name])
        for each in stages
    ]


def waiting_judges(addition: Addition, calibration: Calibration) -> list[JudgeToAsk]:
    """Return the first-stage judges that lack answers about the addition."""
    keys = calibration.certificates.filter(threshold__isnull=False).values("dimension__key")
    dimensions = addition.project.dimensions.filter(key__in=keys).values_list("pk", flat=True)
    items = list(outputs_of(addition.project).values_list("pk", flat=True))
    units = {(item, dimension) for dimension in dimensions for item in items}
    return judges_to_ask(own_stages(addition, calibration)[:1], units)


@dataclass(frozen=True)
class OutsideFinding:
    system: str
    about: str
    found: SystemRange
    decimals: int

    @property
    def sentence(self) -> str:
        found, decimals = self.found, self.decimals
        if found.mean is None or found.lowest is None or found.highest is None or found.beyond is None:
            return f"{self.system}, {self.about}: {found.reason}"
        says = gettext(
            "{system}: its mean of {about} is {mean}; those of the calibrated systems are {lowest} to "
            "{highest}. {beyond} % of its outputs lie beyond all calibrated outputs."
        ).format(
            system=self.system,
            about=self.about,
            mean=f"{found.mean:.{decimals}f}",
            lowest=f"{found.lowest:.{decimals}f}",
            highest=f"{found.highest:.{decimals}f}",
            beyond=round(100 * found.beyond),
        )
        if not found.is_outside:
            return says
        return f"{says} {gettext('The certificate does not speak of such texts.')}"


def find_outside(addition: Addition, calibration: Calibration) -> list[OutsideFinding]:
    """Compare the addition's systems with the calibrated ones by length and by the first judge's values.

    The calibrated outputs are the benchmark's outputs for documents of the addition, without gold items. Nine
    queries.
    """
    length = gettext("characters")
    outputs = Item.objects.filter(document__project=addition.project, gold__isnull=True)
    keys = set(outputs.order_by().values_list("document__key", flat=True))
    # Lengths of outputs by system: of the benchmark first, then of the addition.
    lengths: list[dict[str, list[float]]] = []
    for project in (calibration.project, addition.project):
        own: dict[str, list[float]] = {}
        # Without gold items: the bridging ones of an addition are outputs of the benchmark.
        rows = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT, gold__isnull=True)
        counted = rows.order_by("pk").values_list("document__key", "system__name", Length("text"))
        for key, name, characters in counted.iterator(1_000):
            # On the same documents, because lengths and values differ between documents.
            if key in keys or project == addition.project:
                own.setdefault(name, []).append(characters)
        lengths.append(own)
    old, new = lengths
    findings = [OutsideFinding(name, length, _compare(own, old), 0) for name, own in sorted(new.items())]
    stages = own_stages(addition, calibration)
    # Without copies of the judges there are no values to compare, only lengths.
    if not stages:
        return findings
    before = _values(calibration.project, calibration.judge, keys)
    for key, (dimension, by_system) in _values(addition.project, stages[0].judge).items():
        if key not in before or key not in calibration.grids:
            continue
        about = gettext("{judge}’s values on {dimension}").format(
            judge=calibration.judge, dimension=dimension
        )
        findings += [
            OutsideFinding(name, about, _compare(own, before[key][1]), 2)
            for name, own in sorted(by_system.items())
        ]
    return findings


def _values(
    project: Project, judge: Judge, keys: Collection[str] | None = None
) -> dict[str, tuple[str, dict[str, list[float]]]]:
    """Return name and values by system for each dimension key. keys: restrict to these documents."""
    material = material_of(project, None, guideline_at(project, round_one(project)))
    samples = samples_of([judge], material)
    found: dict[str, tuple[str, dict[str, list[float]]]] = {}
    for each in material.dimensions:
        means = mean_of_samples(samples[judge.pk, each.key].as_read)
        by_system: dict[str, list[float]] = {}
        rows = zip(material.document_keys, material.systems, means.tolist(), strict=True)
        for document, system, value in rows:
            if keys is None or document in keys:
                by_system.setdefault(system, []).append(value)
        found[each.key] = (each.name, by_system)
    return found


def _compare(own: Sequence[float], calibrated: Mapping[str, Sequence[float]]) -> SystemRange:
    values = [value for each in calibrated.values() for value in each]
    systems = [name for name, each in calibrated.items() for _ in each]
    return compare_with_systems(own, values, systems)


@dataclass(frozen=True)
class AdditionRoute:
    """How far an addition is scored by judges.

    learned_on: the systems of the benchmark. without: dimensions that no judge decides. has_copies: whether
    the addition has the judges. asking: what it takes to ask them. policy: what routes the addition.
    stopped: what its audit stopped, with the reasons. is_rated_by_people: whether Round I asks for every
    unit, so that nothing is left for judges.
    """

    addition: Addition
    route: BenchmarkRoute
    learned_on: Sequence[str]
    without: Sequence[str] = ()
    has_copies: bool = False
    asking: RunToAsk | None = None
    policy: RoutingPolicy | None = None
    is_rated_by_people: bool = False
    stopped: Sequence[str] = ()
    outside: Sequence[OutsideFinding] = field(default_factory=list)

    @property
    def judges(self) -> str:
        calibration = self.route.calibration
        stages = stages_of(calibration) if calibration else []
        return ", ".join(str(judge) for stage in stages for judge in stage.judges)


def addition_route(addition: Addition) -> AdditionRoute:
    """Return the state of the addition's route. About 70 queries."""
    route = route_of(addition.benchmark)
    outputs = outputs_of(addition.benchmark).order_by("system__name")
    learned_on = list(outputs.values_list("system__name", flat=True).distinct())
    policies = RoutingPolicy.objects.filter(
        project=addition.project, calibration__learned_in__isnull=False
    ).exclude(status=RoutingPolicy.Status.WITHDRAWN)
    policy = policies.order_by("-pk").first()
    stopped = describe_stops(policy) if policy else ()
    if route.calibration is None:
        return AdditionRoute(addition, route, learned_on, policy=policy, stopped=stopped)
    # People rate the dimensions without a certified threshold.
    certified = route.calibration.certificates.filter(threshold__isnull=False)
    without = addition.project.dimensions.exclude(key__in=certified.values("dimension__key"))
    stages, round = own_stages(addition, route.calibration), round_one(addition.project)
    return AdditionRoute(
        addition=addition,
        route=route,
        learned_on=learned_on,
        without=list(without.values_list("name", flat=True)),
        has_copies=bool(stages),
        asking=asking_of(addition.project, waiting_judges(addition, route.calibration)) if stages else None,
        policy=policy,
        stopped=stopped,
        is_rated_by_people=round is not None and round.every_item,
        outside=find_outside(addition, route.calibration),
    )


def route_section(addition: Addition) -> AdditionPart:
    return AdditionPart("judges/additions/_route.html", addition_route(addition))
