"""Commands that copy a benchmark's judges to an addition, run them and route its units."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from agreement.reliability import LEAST_RATINGS
from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.guidelines import guideline_at
from annotate.core.models import Addition, User
from annotate.core.rounds import round_one
from judges.additions.queries import own_stages, route_of, settings_by_key, waiting_judges
from judges.core.access import OF_JUDGES
from judges.core.errors import CalibrationRefusedError, RoutingRefusedError
from judges.core.judge_settings import names_of_settings
from judges.core.models import (
    Calibration,
    CalibrationStage,
    Certificate,
    CertifiedStage,
    DevelopmentDocument,
    Endpoint,
    EndpointKey,
    Judge,
    PromptTemplate,
    RoutingPolicy,
    Run,
)
from judges.core.specification import EndpointSpec, JudgeSpec, policy_from_certificates
from judges.core.stages import stages_of
from judges.endpoints.commands import add_endpoint, add_judge
from judges.endpoints.keys import key_of
from judges.results.queries.scores import material_of, samples_of
from judges.routing.commands.certificates import ask_waiting_judges
from judges.routing.commands.policies import make_policy
from judges.routing.queries.learn_certificates import (
    LoadedCalibration,
    all_lapses,
    batch_of,
    bound_now,
    decide_items,
    load_calibration,
    population_of,
)
from judges.runs.queries.drift import answering_models, is_same_model


@transaction.atomic
def copy_judges(*, addition: Addition, by: User | None) -> list[Judge]:
    """Copy the judges of the benchmark's route with their prompts, endpoints, keys and prices.

    Judges of the same name stay, if they have the same settings. Locks the addition's project. Raises
    CalibrationRefusedError, InvalidValueError.
    """
    calibration = _calibration_of(addition)
    lock_project(addition.project)
    # Reserve the benchmark's development documents here too: its judges may have learned from
    # them.
    own = dict(addition.project.documents.values_list("key", "pk"))
    drawn = DevelopmentDocument.objects.filter(document__project=addition.benchmark, document__key__in=own)
    DevelopmentDocument.objects.bulk_create(
        [
            DevelopmentDocument(document_id=own[key], part=part)
            for key, part in drawn.order_by("pk").values_list("document__key", "part")
        ],
        # A repeated call finds the rows of the first one.
        ignore_conflicts=True,
    )
    judges = {judge.pk: judge for stage in stages_of(calibration) for judge in stage.judges}
    return [_copy_judge(judge, addition, by) for judge in judges.values()]


def ask_copies(*, addition: Addition, by: User | None) -> Run:
    """Start a run of the first-stage judges on every unit that the route may leave to them.

    Raises CalibrationRefusedError, RunRefusedError.
    """
    waiting = waiting_judges(addition, _calibration_of(addition))
    return ask_waiting_judges(project=addition.project, waiting=waiting, by=by)


@transaction.atomic
def follow_route(*, addition: Addition, by: User | None) -> RoutingPolicy:
    """Copy the benchmark's certificates to the addition and create a policy that follows them.

    Returns the existing policy if there is one. Locks the addition's project. Raises CalibrationRefusedError
    unless the judges have answered with the settings that the certificates bind. Raises RoutingRefusedError.
    """
    project = lock_project(addition.project)
    # Safe to repeat: an addition follows one route at a time.
    existing = RoutingPolicy.objects.filter(project=project, calibration__learned_in__isnull=False)
    if policy := existing.exclude(status=RoutingPolicy.Status.WITHDRAWN).order_by("-pk").first():
        return policy
    round = round_one(project)
    if round is not None and round.every_item:
        raise RoutingRefusedError(gettext("Round I of the addition asks people for every unit already."))
    learned = _calibration_of(addition)
    made = Calibration.objects.filter(learned_in=learned, project=project).select_related(
        "project", *OF_JUDGES
    )
    # The newest copied certificates that still hold for the judges of the addition.
    holding = (each for each in made.order_by("-pk") if not all_lapses(load_calibration(each)))
    calibration = next(holding, None) or _learn(addition, learned, by)
    follows = route_of(addition.benchmark).policy
    spec = policy_from_certificates(
        calibration,
        name=gettext("Route of the benchmark"),
        raters=follows.raters if follows else project.raters_per_item,
        audit_share=follows.audit_share if follows else 0.05,
        # No certificate speaks of the new systems, so each has an audit of a minimum size.
        audit_least=max(LEAST_RATINGS, follows.audit_least if follows else 0),
        confidence_level=follows.confidence_level if follows else 0.95,
    )
    # A withdrawn policy keeps its name, which is unique in a project.
    number = RoutingPolicy.objects.filter(project=project).count()
    return make_policy(project=project, spec=replace(spec, name=f"{spec.name} {number + 1}"), by=by)


def _calibration_of(addition: Addition) -> Calibration:
    route = route_of(addition.benchmark)
    if route.refusal or route.calibration is None:
        raise CalibrationRefusedError(route.refusal)
    return route.calibration


def _copy_judge(judge: Judge, addition: Addition, by: User | None) -> Judge:
    project = addition.project
    found = (
        Judge.objects.filter(project=project, name=judge.name).select_related("endpoint", "template").first()
    )
    if found is None:
        # A reference is a system of the benchmark, and an addition has other systems.
        if judge.reference_id or judge.endpoint is None or judge.template is None:
            message = gettext(
                "{judge} cannot be asked in the addition: it has no server, or needs a reference."
            )
            raise CalibrationRefusedError(message.format(judge=judge))
        # Ids of dimensions differ between the two projects; their keys are the same.
        keys = dict(judge.project.dimensions.values_list("pk", "key"))
        ids = dict(project.dimensions.values_list("key", "pk"))
        settings: dict[str, Any] = {name: getattr(judge, name) for name in names_of_settings()}
        settings["asked_together"] = [keys[pk] for pk in judge.asked_together if pk in keys]
        template = judge.template
        wordings = {
            str(ids[keys[int(pk)]]): text
            for pk, text in template.wordings.items()
            if keys.get(int(pk)) in ids
        }
        # Several judges may share a version, which is copied once.
        copy, _ = PromptTemplate.objects.get_or_create(
            project=project,
            name=template.name,
            version=template.version,
            defaults={
                **{name: getattr(template, name) for name in ("method", "text", "pattern")},
                "wordings": wordings,
                "created_by": by,
            },
        )
        original = judge.endpoint
        endpoint = Endpoint.objects.filter(project=project, name=original.name).first()
        if endpoint is None:
            values = {each.name: getattr(original, each.name) for each in fields(EndpointSpec)}
            # An encrypted key is valid for its endpoint only, so it is decrypted and encrypted again.
            key = key_of(original) if EndpointKey.objects.filter(endpoint=original).exists() else ""
            endpoint = add_endpoint(project=project, spec=EndpointSpec(**values), key=key, by=by)
            for price in original.model_prices.order_by("pk"):
                # Without an id, saving makes a copy of the row.
                price.pk, price.endpoint = None, endpoint
                price._state.adding = True
                price.save()
        spec = JudgeSpec(judge.name, endpoint, judge.model, copy, **settings)
        found = add_judge(project=project, judge=spec, by=by)
    _refuse_other_settings(found, judge)
    return found


def _refuse_other_settings(judge: Judge, original: Judge) -> None:
    if settings_by_key(judge) != settings_by_key(original):
        message = gettext("{judge} has other settings in the addition, so no certificate speaks of it.")
        raise CalibrationRefusedError(message.format(judge=judge))


def _learn(addition: Addition, learned: Calibration, by: User | None) -> Calibration:
    """Create a calibration of the addition with the benchmark's certificates, without a sample."""
    project, stages = addition.project, own_stages(addition, learned)
    if not stages:
        raise CalibrationRefusedError(gettext("Copy the judges of the benchmark first."))
    if waiting := waiting_judges(addition, learned):
        message = gettext("{judge} has to judge {count:,} units first.")
        raise CalibrationRefusedError(message.format(judge=waiting[0].judge, count=len(waiting[0].units)))
    # A certificate binds the settings of its judges, and the models that answer for them.
    for mine, theirs in zip(stages, stages_of(learned), strict=True):
        for judge, original in zip(mine.judges, theirs.judges, strict=True):
            _refuse_other_settings(judge, original)
            # A server may answer with another model under the same name.
            known, answered = answering_models(original), answering_models(judge)
            other = [model for model in answered if not any(is_same_model(model, each) for each in known)]
            if known and other:
                message = gettext(
                    "{judge} answered as {model} here and as {known} in the benchmark, so no certificate "
                    "speaks of it."
                )
                raise CalibrationRefusedError(message.format(judge=judge, model=other[0], known=known[-1]))
    guideline = guideline_at(project, round_one(project))
    # The calibration of the addition: the same test, bound to its own judges and units.
    material = material_of(project, None, guideline)
    dimensions = [each for each in guideline.scales if each.key in learned.grids]
    samples = samples_of([judge for stage in stages for judge in stage.judges], material)
    population = population_of(project, material)
    now = timezone.now()
    # Columns that describe the test, which is the same in the addition.
    same = (
        *("loss", "cut", "risk", "significance_level", "confidence", "expected_error", "accepted_share"),
        *("raters", "size", "fitting", "grids", "seed"),
    )
    # A name is unique in its project and has up to 80 characters, so the number needs room.
    number = Calibration.objects.filter(project=project, name__startswith=learned.name[:70]).count() + 1
    # The state `drawn`, because the database freezes a calibration in any other state.
    made = Calibration.objects.create(
        project=project,
        name=learned.name if number == 1 else f"{learned.name[:70]} ({number})",
        judge=stages[0].judge,
        other=stages[0].other,
        bound=bound_now(stages, dimensions, material, samples, population),
        drawn_at=now,
        drawn_by=by,
        learned_in=learned,
        **{name: getattr(learned, name) for name in same},
    )
    CalibrationStage.objects.bulk_create(
        CalibrationStage(calibration=made, position=each.position, judge=each.judge, other=each.other)
        # The first stage is in the columns of the calibration.
        for each in stages[1:]
    )
    loaded = load_calibration(Calibration.objects.select_related("project", *OF_JUDGES).get(pk=made.pk))
    judges = {each.position: each.judge for each in stages}
    ids = dict(project.dimensions.values_list("key", "pk"))
    originals = learned.certificates.select_related("dimension").prefetch_related("stages")
    for each in originals.order_by("dimension__position"):
        _copy_certificate(each, loaded, ids[each.dimension.key], judges)
    made = loaded.calibration
    made.status, made.ended_at, made.ended_by = Calibration.Status.CERTIFIED, now, by
    made.save(update_fields=["status", "ended_at", "ended_by"])
    facts = {"learned_in": learned.project.slug, "calibration": learned.name}
    record(project, "calibration.copied", made, after=facts, by=by)
    return made


def _copy_certificate(
    original: Certificate, loaded: LoadedCalibration, dimension: int, judges: Mapping[int, Judge]
) -> None:
    """Copy a certificate's threshold to the addition; no unit of the addition is in its sample."""
    # The result of the test; counts of ratings are 0, since the addition drew no sample.
    same = (
        *("significance_level", "threshold", "reason", "upper_bound", "steps", "controls", "error_model"),
        *("ceiling", "ceiling_units", "ceiling_reason"),
    )
    copy = Certificate(
        calibration=loaded.calibration,
        dimension_id=dimension,
        rated=0,
        missing=0,
        # The ratings of the benchmark's sample are about other systems, so none is copied.
        accepted=None if original.threshold is None else 0,
        errors=None if original.threshold is None else 0,
        **{name: getattr(original, name) for name in same},
    )
    key = original.dimension.key
    copy.units = int(batch_of(loaded.evidence[key][0], loaded.fits[key]).sum())
    if copy.threshold is not None:
        constant = original.controls["constant"]
        as_good = constant["threshold"] is not None and constant["kept_share"] >= original.kept_share
        # A constant judge that does less well was weighed there; its share here is unknown.
        copy.controls = {**original.controls, "constant": {**constant, "threshold": None}}
        if loaded.is_cascade:
            # Later judges are not asked yet, so the share in the benchmark is the estimate.
            copy.kept = round(copy.units * original.kept_share)
        else:
            copy.kept = int((decide_items(loaded, key, copy).deciding < len(loaded.stages)).sum())
        # Reasons against the certificate in the addition: its units then all go to people.
        if as_good:
            _abstain(copy, gettext("A judge that always gives one value is certified as well."))
        elif not copy.units:
            _abstain(copy, gettext("The judge has no confidence on any unit."))
        elif copy.kept == copy.units and not loaded.is_cascade:
            _abstain(copy, gettext("The judge would decide every unit, which a certificate does not allow."))
    copy.save()
    if copy.threshold is not None:
        CertifiedStage.objects.bulk_create(
            CertifiedStage(
                certificate=copy,
                position=each.position,
                judge=judges[each.position],
                threshold=each.threshold,
                accepted=0,
                errors=0,
                error_model=each.error_model,
            )
            for each in original.stages.all()
        )


def _abstain(certificate: Certificate, why: str) -> None:
    certificate.threshold, certificate.kept, certificate.upper_bound = None, 0, None
    certificate.accepted = certificate.errors = None
    certificate.reason = f"{why} {gettext('All units go to humans.')}"
