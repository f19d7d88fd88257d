"""Calibrations and their certificates for pages: progress, meaning and lapses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch
from django.utils.translation import gettext, gettext_noop

from agreement.reliability import KnownErrors
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Project
from annotate.core.rounds import round_one
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, CalibrationStage, Certificate, Judge
from judges.core.specification import Scope
from judges.core.stages import JudgeStage, JudgeToAsk, judges_to_ask, stages_of
from judges.results.queries.scores import material_of, samples_of
from judges.results.tables.columns import number_or_reason
from judges.routing.queries.learn_certificates import (
    bound_now,
    check_lapses,
    errors_among_kept,
    lapses_of,
    load_calibration,
    population_of,
)
from judges.runs.queries.plans import RunPlan, plan_of

Status = Calibration.Status


@dataclass(frozen=True)
class DimensionState:
    """One dimension of a calibration.

    drawn: units that calibrate; rated: the part with a rating now. lapses: changes since the sampling. known:
    the errors on the units that stay, if people have rated all of them; None otherwise.
    """

    dimension: FrozenDimension
    drawn: int
    rated: int
    certificate: Certificate | None
    lapses: Sequence[str]
    known: KnownErrors | None = None

    @property
    def missing(self) -> int:
        return self.drawn - self.rated

    @property
    def valid(self) -> bool:
        return self.certificate is not None and self.certificate.threshold is not None and not self.lapses

    @property
    def says(self) -> str:
        found = self.certificate
        if found is None:
            return ""
        if found.threshold is None:
            return f"{found.reason} {found.more_reason}".strip()
        of = found.calibration
        # Learned elsewhere, its bound is about other systems, so only the audit can test it here.
        if of.learned_in is not None and self.known is None:
            message = gettext(
                "This certificate was learned in {project}, not on these systems. It leaves {units} units to "
                "{judge}. The audit tests, after every rating, whether more than {risk} of them are {loss}."
            )
            return message.format(
                project=of.learned_in.project,
                units=found.kept,
                judge=of.judge,
                risk=_percent(of.risk),
                loss=_loss(of),
            )
        if self.known is not None:
            message = gettext(
                "People rated all {units:,} units of {judge}: {wrong:,} ({share}) are {loss}. This is the "
                "exact share, so no bound is needed; {risk} is accepted."
            )
            return message.format(
                units=self.known.rated,
                judge=of.judge,
                wrong=self.known.wrong,
                share=_percent(round(self.known.share, 3)),
                loss=_loss(of),
                risk=_percent(of.risk),
            )
        message = gettext(
            "With {confidence} confidence, up to {risk} of the {units} units of {judge} are {loss}. "
            "In the sample, {wrong} of {rated} were."
        )
        return message.format(
            confidence=_percent(1 - found.significance_level),
            risk=_percent(of.risk),
            units=found.kept,
            judge=of.judge,
            loss=_loss(of),
            wrong=found.errors,
            rated=found.accepted,
        )

    @property
    def warnings(self) -> list[str]:
        found, warnings = self.certificate, []
        if found is None:
            return []
        if found.threshold is not None:
            # A control that passes shows what the certificate does not test.
            constant, shuffled = found.controls["constant"], found.controls["shuffled"]
            if constant["threshold"] is not None:
                message = gettext(
                    "A judge that always answers {value:g} passes too, for {share} of the units. The "
                    "certificate does not test whether this judge is better."
                )
                share = _percent(constant["kept_share"])
                warnings.append(message.format(value=constant["value"], share=share))
            if shuffled["threshold"] is not None:
                warnings.append(
                    gettext(
                        "The judge’s values pass too when shuffled across units, so they show little about "
                        "single units."
                    )
                )
        if found.missing:
            message = (
                gettext("Excluded: {count} sampled units without a rating.")
                if found.threshold is None
                else gettext(
                    "Excluded: {count} sampled units without a rating. The certificate is not valid if these "
                    "are harder than the others."
                )
            )
            warnings.append(message.format(count=found.missing))
        risk = found.calibration.risk
        if found.ceiling is not None and found.ceiling > risk:
            message = gettext(
                "A single person is wrong in this sense on {ceiling} of the units, compared with the mean of "
                "the others. A limit of {risk} requires more agreement of the judge than people have with "
                "each other."
            )
            warnings.append(message.format(ceiling=_percent(found.ceiling), risk=_percent(risk)))
        return warnings


@dataclass(frozen=True)
class CalibrationState:
    """The progress of a calibration.

    fitting: sampled units that fit the error model. others: other computed calibrations of the project.
    to_ask: judges of later stages that lack answers about the sample.
    """

    calibration: Calibration
    dimensions: Sequence[DimensionState]
    fitting: int
    others: int
    stages: Sequence[JudgeStage] = ()
    to_ask: Sequence[JudgeToAsk] = ()

    @property
    def drawn(self) -> int:
        return sum(each.drawn for each in self.dimensions)

    @property
    def rated(self) -> int:
        return sum(each.rated for each in self.dimensions)

    @property
    def missing(self) -> int:
        return self.drawn - self.rated

    @property
    def lapses(self) -> list[str]:
        """Return the changes since the sampling, each message once."""
        return list(dict.fromkeys(sentence for each in self.dimensions for sentence in each.lapses))

    @property
    def can_route(self) -> bool:
        """Return True if a policy can follow it: it has a certificate, and nothing has lapsed."""
        return not self.lapses and any(each.valid for each in self.dimensions)


def calibration_state(calibration: Calibration) -> CalibrationState:
    """Return the progress of a calibration. Twelve queries; it needs its `OF_JUDGES`."""
    loaded = load_calibration(calibration)
    lapses_by_key = check_lapses(loaded)
    related = ("dimension", "calibration__judge", "calibration__learned_in__project")
    certificates = calibration.certificates.select_related(*related).prefetch_related("stages__judge")
    found = {each.dimension_id: each for each in certificates}
    dimensions = []
    for one in loaded.dimensions:
        certificate, drawn = found.get(one.id), len(loaded.sample[one.key])
        lapses, known = lapses_by_key.get(one.key, []), None
        part = errors_among_kept(loaded, one.key, certificate) if certificate else None
        # With every staying unit rated the share of errors is exact, so no bound is needed.
        if part and part.rated == part.units:
            known = part.errors(calibration.risk)
        dimensions.append(DimensionState(one, drawn, loaded.rated_of(one.key), certificate, lapses, known))
    # Calibrations do not share delta, so the page counts the others.
    others = Calibration.objects.filter(project=calibration.project_id, status=Status.CERTIFIED)
    return CalibrationState(
        calibration=calibration,
        dimensions=dimensions,
        fitting=sum(len(fits) for fits in loaded.fits.values()),
        others=others.exclude(pk=calibration.pk).count(),
        stages=loaded.stages,
        to_ask=judges_to_ask(loaded.stages[1:], loaded.sampled_units)
        if calibration.status == Status.DRAWN
        else [],
    )


def calibrations_of(project: Project) -> list[tuple[Calibration, list[Certificate], list[str]]]:
    """Return a project's calibrations, the newest first, with certificates and lapses. Up to nine queries."""
    rows = Calibration.objects.filter(project=project).select_related(*OF_JUDGES)
    further = Prefetch("stages", CalibrationStage.objects.select_related(*OF_JUDGES))
    calibrations = list(rows.prefetch_related("certificates__dimension", further).order_by("-pk"))
    # A withdrawn sample has no certificates that could lapse.
    standing = [each for each in calibrations if each.status != Status.WITHDRAWN]
    lapses: dict[int, list[str]] = {}
    if standing:
        guideline = guideline_at(project, round_one(project))
        # Certificates lapse by changes of judgments and texts, so no round is read.
        material = material_of(project, None, guideline)
        # The judgments of all calibrations in one query.
        judges = {judge.pk: judge for each in standing for stage in stages_of(each) for judge in stage.judges}
        samples = samples_of(list(judges.values()), material)
        population = population_of(project, material)
        for each in standing:
            dimensions, stages = [one for one in guideline.scales if one.key in each.grids], stages_of(each)
            now = bound_now(stages, dimensions, material, samples, population)
            changes = [sentence for own in lapses_of(each, stages, now).values() for sentence in own]
            lapses[each.pk] = list(dict.fromkeys(changes))
    return [
        # Sorted here, because `order_by` ignores prefetched rows and queries again.
        (each, sorted(each.certificates.all(), key=lambda of: of.dimension.position), lapses.get(each.pk, []))
        for each in calibrations
    ]


def _loss(calibration: Calibration) -> str:
    if calibration.loss == Calibration.Loss.OTHER_SIDE:
        return gettext("on the other side of {cut:g} than people").format(cut=calibration.cut)
    return calibration.get_loss_display()


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


@dataclass(frozen=True)
class RunToAsk:
    """A run on the pending units. units: their number."""

    scope: Scope
    plan: RunPlan
    units: int

    @property
    def names(self) -> str:
        return gettext(" and ").join(judge.name for judge in self.scope.judges)


def scope_to_ask(project: Project, waiting: Sequence[JudgeToAsk]) -> Scope:
    """Return the judges with the units that any of them lacks. Two queries."""
    units: dict[int, set[int]] = {}
    for each in waiting:
        for dimension, items in each.items_by_dimension.items():
            # One run for all judges; judgments that a judge has already are not planned again.
            units.setdefault(dimension, set()).update(items)
    keys = project.dimensions.filter(pk__in=units).order_by("position").values_list("key", flat=True)
    judges = Judge.objects.filter(pk__in=[each.judge.pk for each in waiting]).order_by("name")
    related = judges.select_related("endpoint", "template", "reference")
    return Scope(list(related), list(keys), units={key: sorted(items) for key, items in units.items()})


def asking_of(project: Project, waiting: Sequence[JudgeToAsk]) -> RunToAsk | None:
    """Return the run of the pending judges; None if no judge is pending. Up to twelve queries."""
    if not waiting:
        return None
    scope = scope_to_ask(project, waiting)
    assert scope.units is not None
    return RunToAsk(scope, plan_of(project, scope), sum(len(items) for items in scope.units.values()))


_HOW = gettext_noop(
    "Fixed-sequence testing with exact hypergeometric bounds (function certify); sources: Bauer 1991; "
    "Angelopoulos and others 2021, Learn then Test; Jung, Brahman and Choi 2025, Trust or Escalate."
)

Found = list[tuple[DimensionState, Certificate]]


def certificates_tables(state: CalibrationState) -> list[Table]:
    """Return the results of each dimension and the tested thresholds, empty before the computation."""
    found = [(each, each.certificate) for each in state.dimensions if each.certificate]
    tables = [_certificates_table(state, found), _steps(found)]
    return [table for table in tables if table.rows]


def _certificates_table(state: CalibrationState, found: Found) -> Table:
    columns = [
        DIMENSION,
        Column("status", gettext("Certificate"), ColumnKind.TEXT),
        Column("threshold", gettext("Minimum confidence")),
        Column("kept_share", gettext("Judge share"), ColumnKind.SHARE),
        Column("kept", gettext("Judge units"), ColumnKind.COUNT),
        Column("units", gettext("Units"), ColumnKind.COUNT),
        Column("errors", gettext("Wrong"), ColumnKind.COUNT),
        Column("accepted", gettext("Of rated"), ColumnKind.COUNT),
        Column("upper_bound", gettext("Upper bound")),
        Column("ceiling", gettext("One person"), ColumnKind.SHARE),
        Column("constant", gettext("Constant judge"), ColumnKind.TEXT),
        Column("shuffled", gettext("Shuffled judge"), ColumnKind.TEXT),
    ]
    of = state.calibration
    wrong = gettext("Wrong: {loss}. Limit: {risk:.4g} %.").format(
        loss=of.get_loss_display(), risk=100 * of.risk
    )
    scope = gettext(
        "A certificate covers the texts, the model and the raters of its calibration. If any of them "
        "changes, it promises nothing; the audit of a routing policy detects higher error rates."
    )
    says = " ".join([wrong, *state.lapses, scope])
    rows = []
    for each, certificate in found:
        none = certificate.reason or gettext("Not computed.")
        status = gettext("certified")
        if each.lapses:
            status = gettext("lapsed")
        elif certificate.threshold is None:
            status = gettext("all units go to people")
        rows.append(
            [
                text(each.dimension.name),
                text(status),
                number_or_reason(certificate.threshold, none, gettext(_HOW)),
                Cell(certificate.kept_share, count=certificate.units),
                Cell(certificate.kept),
                Cell(certificate.units),
                number_or_reason(certificate.errors, none),
                number_or_reason(certificate.accepted, none),
                number_or_reason(certificate.upper_bound, none, gettext(_HOW)),
                number_or_reason(certificate.ceiling, certificate.ceiling_reason or none),
                text(_control(certificate.controls["constant"])),
                text(_control(certificate.controls["shuffled"])),
            ]
        )
    return Table(
        "certificates", gettext("Certificates ({name})").format(name=of.name), columns, rows, says=says
    )


def _control(control: dict[str, Any]) -> str:
    if control["threshold"] is None:
        return gettext("not certified")
    return gettext("certified, for {share:.0f} % of the units").format(share=100 * control["kept_share"])


def _steps(found: Found) -> Table:
    columns = [
        DIMENSION,
        Column("threshold", gettext("Threshold")),
        Column("units", gettext("Units"), ColumnKind.COUNT),
        Column("rated", gettext("Rated"), ColumnKind.COUNT),
        Column("wrong", gettext("Wrong"), decimals=0),
        Column("bound", gettext("Upper bound")),
        Column("p_value", "p", ColumnKind.P_VALUE),
    ]
    rows = [
        [
            text(each.dimension.name),
            Cell(step["threshold"]),
            number_or_reason(step["units"], gettext("The batch size is unknown.")),
            Cell(step["accepted"]),
            Cell(step["lost"]),
            Cell(step["bound"], how=gettext(_HOW)),
            Cell(step["p_value"]),
        ]
        for each, certificate in found
        for step in certificate.steps
    ]
    says = gettext(
        "Concord tests thresholds from the strictest to the first failure, so the p values of a dimension "
        "need no correction. Dimensions share delta."
    )
    return Table("thresholds", gettext("Tested thresholds"), columns, rows, says=says)
