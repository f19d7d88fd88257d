"""May a judge be used on a dimension? What is known of it, each with what it says, and one verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotate.agreement import Coefficient
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.results.registry import Chosen
from judges.comparison import AlphaWithPeople, Level
from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, Judge
from judges.reliability import AlternativeAnnotatorTest, Verdict
from judges.results.queries.indicator import SIGNIFICANCE_LEVEL, DimensionIndicator, reliability_report
from judges.results.queries.pairings import measured_judges, of_method, usual_pairing
from judges.results.queries.replacement import replacement_report
from judges.results.tables.compared import Scored, compared_values
from judges.results.tables.parameters import counts_corrected
from judges.routing.queries.certificates import DimensionState, calibration_state

DRAW, SEE_CERTIFICATE, SEE_WHY = "Draw a calibration", "See the certificate", "See why"


@dataclass(frozen=True)
class TrustVerdict:
    """A sentence about a judge on a dimension, what to do next, and the route of the page for that."""

    says: str
    step: str
    route: str
    arguments: tuple[object, ...] = ()


@dataclass(frozen=True)
class TrustEvidence:
    """Everything that is known of a judge on one dimension.

    pair: R and whether it tells anything, None without a judge to pair it with. test: of replacement, None
    before Round I. certificate: the newest that holds, else the newest.
    """

    scored: Scored
    pair: DimensionIndicator | None
    test: AlternativeAnnotatorTest | None
    certificate: DimensionState | None
    calibration: Calibration | None

    @property
    def dimension(self) -> FrozenDimension:
        """Return the dimension that it is about."""
        return self.scored.dimension

    @property
    def correlation(self) -> Coefficient:
        """Return P: Spearman's rho with people's means over all items, on named categories undefined."""
        return self.scored.correlations["spearman", Level.DATASET]

    @property
    def alpha(self) -> AlphaWithPeople:
        """Return alpha with people's mean, and that among people."""
        return self.scored.alpha

    @property
    def is_rated(self) -> bool:
        """Whether people have rated any item here."""
        return not bool(np.isnan(self.scored.scores.human).all())

    @property
    def r_tells(self) -> bool:
        """Whether R tells on which systems the judge agrees with people."""
        if self.pair is None or self.pair.adjusted_p_value is None:
            return False
        value = self.pair.figures.validity.correlation.value
        return value is not None and value > 0 and self.pair.adjusted_p_value <= SIGNIFICANCE_LEVEL

    @property
    def constant_share(self) -> float | None:
        """Return the share for which a constant judge is certified, None where it is not."""
        found = self.certificate.certificate if self.certificate else None
        if found is None or found.controls["constant"]["threshold"] is None:
            return None
        return float(found.controls["constant"]["kept_share"])

    @property
    def verdict(self) -> TrustVerdict:
        """Return whether the judge may be used here, by the strongest evidence that there is."""
        return self._by_certificate() or self._without_certificate()

    def _by_certificate(self) -> TrustVerdict | None:
        if self.certificate is None or self.calibration is None or not self.certificate.valid:
            return None
        found = self.certificate.certificate
        assert found is not None  # it is valid
        if self.constant_share is not None and self.constant_share >= found.kept_share:
            says = (
                f"Do not rely on the certificate: a judge that always answers "
                f"{found.controls['constant']['value']:g} is certified for {self.constant_share:.0%} of the "
                f"units, this one for {found.kept_share:.0%}. The scale is certified, not the judge."
            )
        else:
            says = (
                f"It may be used for {found.kept:,} of {found.units:,} units: with a certificate, and for "
                "more than a constant answer."
            )
        return TrustVerdict(says, SEE_CERTIFICATE, "certificate", (self.calibration.pk,))

    def _without_certificate(self) -> TrustVerdict:
        if not self.is_rated:
            return TrustVerdict("Not known: nobody has rated these texts.", DRAW, "certificate_new")
        outcome = self.test.verdict if self.test else None
        if outcome is Verdict.PASSES:
            return TrustVerdict(
                "It stands in for an annotator better than a constant answer does; without a certificate "
                "nothing says for which units.",
                DRAW,
                "certificate_new",
            )
        if self.r_tells:
            return TrustVerdict(
                "R tells on which systems it agrees with people: those with a small R are for people.",
                "Send units to people",
                "routing_new",
            )
        if outcome is Verdict.LIKE_A_CONSTANT:
            return TrustVerdict(
                "Do not use it: a constant answer does as well.", SEE_WHY, "results_page", ("replacement",)
            )
        if outcome is Verdict.FAILS:
            return TrustVerdict(
                "Do not use it: it does not stand in for an annotator, and R does not tell where it errs.",
                SEE_WHY,
                "results_page",
                ("replacement",),
            )
        return TrustVerdict(
            "Not known: there are too few people or texts for the test of replacement, and R does not tell "
            "where it errs.",
            DRAW,
            "certificate_new",
        )


def trust_in(project: Project, judge: Judge, chosen: Chosen) -> Sequence[TrustEvidence]:
    """Return what is known of a judge by dimension, each figure as its own page has it.

    About as many queries as those pages take together, and twelve for each computed calibration of the judge.
    """
    compared = compared_values(project, chosen, [judge])
    pairs, tests = _pairs(project, judge, chosen), _tests(project, judge, chosen)
    certificates = _certificates(project, judge)
    found = []
    for each in compared.scored:
        key = each.dimension.key
        certificate, calibration = certificates.get(key) or (None, None)
        found.append(TrustEvidence(each, pairs.get(key), tests.get(key), certificate, calibration))
    return found


def _pairs(project: Project, judge: Judge, chosen: Chosen) -> Mapping[str, DimensionIndicator]:
    other = {"rts": "mcq", "mcq": "rts"}.get(judge.method)
    of_model = [each for each in measured_judges(project) if each.model == judge.model]
    if judge not in of_model or not of_method(of_model, str(other)):
        return {}
    pairing = usual_pairing([each for each in of_model if each == judge or each.method == other])
    report = reliability_report(
        project,
        pairing,
        compared_judge=judge,
        round_number=int(chosen["round"]) if "round" in chosen else None,
        with_corrected=counts_corrected(chosen),
    )
    return {one.dimension.key: one for one in report.dimensions}


def _tests(project: Project, judge: Judge, chosen: Chosen) -> Mapping[str, AlternativeAnnotatorTest]:
    report = replacement_report(project, judge, with_corrected=counts_corrected(chosen))
    return {one.dimension.key: one.test for one in report.dimensions} if report.round else {}


def _certificates(project: Project, judge: Judge) -> Mapping[str, tuple[DimensionState, Calibration]]:
    computed = Calibration.objects.filter(
        project=project, judge=judge, status=Calibration.Status.CERTIFIED
    ).select_related(*OF_JUDGES)
    found: dict[str, tuple[DimensionState, Calibration]] = {}
    for calibration in computed.order_by("pk"):
        for state in calibration_state(calibration).dimensions:
            before = found.get(state.dimension.key)
            if before is None or state.valid or not before[0].valid:
                found[state.dimension.key] = (state, calibration)
    return found
