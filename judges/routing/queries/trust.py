"""Trust in a judge on a dimension: the available evidence, and one verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from agreement.reliability import JudgeEvidence, JudgeVerdict, judge_verdict
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.results.registry import Chosen
from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, Judge
from judges.results.queries.pairings import measured_judges, of_method, usual_pairing
from judges.results.queries.reliability import (
    DimensionIndicator,
    DimensionTest,
    r_tells,
    reliability_report,
    replacement_report,
)
from judges.results.tables.compared import Scored, compared_values
from judges.results.tables.parameters import counts_corrected
from judges.routing.queries.calibration_state import DimensionState, calibration_state
from judges.routing.queries.state import routed_policy, routing_state
from judges.routing.queries.verdicts import KeptDimension, certified_part, evidence_from


@dataclass(frozen=True)
class TrustEvidence:
    """All evidence on a judge on one dimension.

    pair: R and its predictive value, None without a judge to pair it with. tested: the replacement test, the
    error and the change of alpha with the judge, None before Round I. certificate: the newest valid one, else
    the newest. policy: the units that the judge's routed policy leaves to it, None without one.
    """

    scored: Scored
    pair: DimensionIndicator | None
    tested: DimensionTest | None
    certificate: DimensionState | None
    calibration: Calibration | None
    policy: KeptDimension | None = None

    @property
    def dimension(self) -> FrozenDimension:
        return self.scored.dimension

    @cached_property
    def known(self) -> JudgeEvidence:
        # A lapsed certificate is shown, but supports no verdict.
        found = self.certificate if self.certificate and self.certificate.valid else None
        validity = self.pair.figures.validity if self.pair else None
        return replace(
            evidence_from(self.scored, self.tested),
            r_tells=bool(self.pair and validity and r_tells(validity, self.pair.adjusted_p_value)),
            certificate=certified_part(found.certificate, found.known)
            if found and found.certificate
            else None,
            errors=self.policy.errors if self.policy else None,
            audit=self.policy.audit if self.policy else None,
        )

    @property
    def verdict(self) -> JudgeVerdict:
        return judge_verdict(self.known)


def trust_in(project: Project, judge: Judge, chosen: Chosen) -> Sequence[TrustEvidence]:
    """Return the evidence on a judge by dimension, with the same values as on the separate pages.

    About the same number of queries as those pages together, and twelve for each computed calibration of the
    judge.
    """
    routed = routed_policy(project)
    state = routing_state(routed, project) if routed and routed.rts_id == judge.pk else None
    policies = {each.dimension.key: each for each in state.kept} if state else {}
    compared = compared_values(project, chosen, [judge])
    with_corrected = counts_corrected(chosen)
    replacement = replacement_report(project, judge, with_corrected=with_corrected)
    tests = {one.dimension.key: one for one in replacement.dimensions} if replacement.round else {}
    pairs: dict[str, DimensionIndicator] = {}
    # R is a correlation of these two methods.
    other = {"rts": "mcq", "mcq": "rts"}.get(judge.method, "")
    of_model = [each for each in measured_judges(project) if each.model == judge.model]
    # R compares the two methods of one model; another model would answer another question.
    if judge in of_model and of_method(of_model, other):
        reliability = reliability_report(
            project,
            usual_pairing([each for each in of_model if each == judge or each.method == other]),
            compared_judge=judge,
            round_number=int(chosen["round"]) if "round" in chosen else None,
            with_corrected=with_corrected,
        )
        pairs = {one.dimension.key: one for one in reliability.dimensions}
    certificates = _certificates(project, judge)
    found = []
    for each in compared.scored:
        key = each.dimension.key
        certificate, calibration = certificates.get(key) or (None, None)
        found.append(
            TrustEvidence(each, pairs.get(key), tests.get(key), certificate, calibration, policies.get(key))
        )
    return found


def _certificates(project: Project, judge: Judge) -> Mapping[str, tuple[DimensionState, Calibration]]:
    computed = Calibration.objects.filter(
        project=project, judge=judge, status=Calibration.Status.CERTIFIED
    ).select_related(*OF_JUDGES)
    found: dict[str, tuple[DimensionState, Calibration]] = {}
    for calibration in computed.order_by("pk"):
        for state in calibration_state(calibration).dimensions:
            before = found.get(state.dimension.key)
            # In order of age: a later one replaces an earlier one, unless only the earlier one is valid.
            if before is None or state.valid or not before[0].valid:
                found[state.dimension.key] = (state, calibration)
    return found
