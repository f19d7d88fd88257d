"""Decisions of a routing policy on units: the units for people, with reasons and grounds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from agreement import Coefficient
from agreement.comparison import Scores, alpha_with_people, correlation_called, correlation_with_humans
from agreement.reliability import (
    CellDecision,
    KnownErrors,
    Loss,
    Validity,
    another_point,
    more_than_one_point,
)
from annotate.core.guideline import FrozenDimension
from annotate.rating.queries.assignments import Unit
from judges.core.models import Certificate, Judge, RoutedUnit, RoutingPolicy
from judges.core.stages import JudgeToAsk
from judges.results.queries.scores import Material
from judges.routing.queries.audit import AuditCell, draw_audit


@dataclass(frozen=True)
class KeptAgreement:
    """People compared with the judge on the `rated` of some units of one dimension.

    among_people: alpha of the people who rated these units. with_judge: the same with the judge as one more
    rater. exact: the share on which the judge gives the point nearest to people's mean. within_one: the share
    on which it is a point away or less.
    """

    dimension: FrozenDimension
    units: int
    rated: int
    among_people: Coefficient
    with_judge: Coefficient
    spearman: Coefficient
    exact: float
    within_one: float


def measure_kept_agreement(
    dimension: FrozenDimension, scores: Scores, chosen: npt.NDArray[np.bool_]
) -> KeptAgreement | None:
    """Return the agreement on the chosen items (items,), None if people have rated no judged item."""
    kept = scores.of_items(chosen)
    # Alpha, rho and the shares are about the same units: the ones that both rated.
    both = ~np.isnan(kept.judge) & ~np.isnan(kept.human_means)
    if not both.any():
        return None
    rated = kept.of_items(both)
    alphas = alpha_with_people(rated, measurement_level=dimension.measurement_level)
    return KeptAgreement(
        dimension=dimension,
        units=int(chosen.sum()),
        rated=int(both.sum()),
        among_people=alphas.among_people,
        with_judge=alphas.with_judge,
        spearman=correlation_with_humans(rated, correlation_called("spearman", named=dimension.is_named)),
        exact=1 - float(np.mean(another_point(rated.judge, rated.human_means))),
        within_one=1 - float(np.mean(more_than_one_point(rated.judge, rated.human_means))),
    )


@dataclass(frozen=True)
class PartOfUnits:
    """Units with a value of the judge, the number that people rated, and the number of judge errors.

    Error: more than a point away from people's mean, or wrong by the calibration's criterion. expected_wrong:
    of all these units, each as likely as the rated units of its system in this part. of_dimension: units of
    systems without ratings in this part, which are as likely as the rated units of the whole dimension.
    without_forecast: units of dimensions without ratings, which do not count in `expected_wrong`.
    """

    units: int = 0
    rated: int = 0
    wrong: int = 0
    expected_wrong: float = 0.0
    of_dimension: int = 0
    without_forecast: int = 0

    def __add__(self, other: "PartOfUnits") -> "PartOfUnits":
        return PartOfUnits(*(own + others for own, others in zip(astuple(self), astuple(other), strict=True)))

    @property
    def expected_share(self) -> float | None:
        """Return the expected share of wrong units; None if some units have no forecast."""
        return None if self.without_forecast or not self.units else self.expected_wrong / self.units

    def errors(self, accepted: float) -> KnownErrors | None:
        """Return the errors among the rated units, with the accepted share; None without ratings."""
        return KnownErrors(self.rated, self.wrong, accepted) if self.rated else None


def sum_parts(parts: Iterable[PartOfUnits]) -> PartOfUnits:
    return sum(parts, PartOfUnits())


@dataclass(frozen=True)
class ExpectedGain:
    sent: PartOfUnits
    kept: PartOfUnits

    @property
    def says(self) -> str:
        sent, kept = self.sent, self.kept
        both = sent + kept
        found = [
            gettext(
                "Forecast: people correct about {corrected:,} wrong values, and about {left:,} stay. Where "
                "people have rated, the judge is more than a point off on {wrong:,} of {rated:,} units that "
                "go to them, and on {kept_wrong:,} of {kept_rated:,} that stay."
            ).format(
                corrected=round(sent.expected_wrong),
                left=round(kept.expected_wrong),
                wrong=sent.wrong,
                rated=sent.rated,
                kept_wrong=kept.wrong,
                kept_rated=kept.rated,
            )
        ]
        # Two remarks on the forecast: borrowed error rates, and units without any.
        if both.of_dimension:
            message = gettext(
                "The forecast uses the error rate of the dimension for {units:,} units of systems without "
                "ratings."
            )
            found.append(message.format(units=both.of_dimension))
        if both.without_forecast:
            message = gettext(
                "The forecast omits {units:,} units ({kept:,} of them stay): their dimensions have no "
                "ratings."
            )
            found.append(message.format(units=both.without_forecast, kept=kept.without_forecast))
        return " ".join(found)


def part_of(scores: Scores, chosen: npt.NDArray[np.bool_], loss: Loss = more_than_one_point) -> PartOfUnits:
    return sum_parts(parts_by_system(scores, chosen, loss).values())


def parts_by_system(
    scores: Scores, chosen: npt.NDArray[np.bool_], loss: Loss = more_than_one_point
) -> dict[str, PartOfUnits]:
    # NaN without a value of both, so known losses mark the rated units.
    losses = loss(scores.judge, scores.human_means)
    is_rated, judged = ~np.isnan(losses), chosen & ~np.isnan(scores.judge)
    found = {}
    for index, system in enumerate(scores.system_names):
        own = judged & (scores.systems == index)
        rated = own & is_rated
        units = int(own.sum())
        # A system without ratings in this part has the error rate of the whole dimension.
        known = rated if rated.any() else is_rated
        share = float(losses[known].mean()) if known.any() else 0.0
        found[system] = PartOfUnits(
            units=units,
            rated=int(rated.sum()),
            wrong=int(losses[rated].sum()),
            expected_wrong=units * share,
            of_dimension=units if known.any() and not rated.any() else 0,
            without_forecast=0 if known.any() else units,
        )
    return found


Why = RoutedUnit.Why


@dataclass(frozen=True)
class Grounds:
    """The numbers behind a decision: R with its interval and items against r, or a confidence, as stored."""

    indicator: float | None = None
    low: float | None = None
    high: float | None = None
    items: int | None = None
    confidence: float | None = None
    threshold: float | None = None


class PlannedUnit(NamedTuple):
    item: int
    dimension: int
    why: RoutedUnit.Why
    reason: str
    grounds: Grounds
    inclusion_probability: float

    @property
    def unit(self) -> Unit:
        return self.item, self.dimension


class KeptUnit(NamedTuple):
    """A unit that stays with the judge. distance: |RTS - MCQ|; larger if errors are likelier."""

    unit: Unit
    reason: str
    grounds: Grounds
    distance: float


class Decider(NamedTuple):
    judge: Judge
    confidence: float


@dataclass(frozen=True)
class PolicyCell:
    """One system on one dimension: R, its decision, and the number of its units for people.

    audited_share: of the staying units, on average; None if none stays. errors: on units with a value.
    """

    system: str
    dimension: FrozenDimension
    decision: CellDecision
    units: int
    sent: int
    audited: int
    audited_share: float | None
    errors: PartOfUnits

    @property
    def indicator(self) -> Coefficient:
        return self.decision.indicator


@dataclass(frozen=True)
class CertifiedDimension:
    """One dimension under a certificate, or under none:

    the numbers of units that stay and go to people, and the reason.

    audited_share: of the staying units, on average; None if none stays.
    """

    dimension: FrozenDimension
    certificate: Certificate | None
    reason: str
    units: int
    sent: int
    audited: int
    audited_share: float | None

    @property
    def kept(self) -> int:
        return self.units - self.sent


@dataclass(frozen=True)
class Decided:
    """The decisions of a rule. cells: by R; certified: by certificates; the other one is empty.

    agreement: people compared with the judge on the staying units, by dimension; empty without ratings of
    these. kept: by dimension key, the errors of the judge on the units that stay. gain: the errors that
    people are expected to correct, by R; None without ratings of judged units. validities: by dimension, the
    relation of R to the judge's agreement with people over systems. refusal: the reason why it cannot route,
    or empty. audit: of the staying units, by system and dimension. lapses: changes since a certificate's
    sampling. deciders: with several judges, the decider of each staying unit. to_ask: the judges of the next
    stage that lack answers.
    """

    units: Sequence[PlannedUnit]
    agreement: Sequence[KeptAgreement]
    refusal: str
    audit: Sequence[AuditCell]
    cells: Sequence[PolicyCell] = ()
    certified: Sequence[CertifiedDimension] = ()
    validities: Sequence[Validity] = ()
    kept: Mapping[str, PartOfUnits] = field(default_factory=dict)
    gain: ExpectedGain | None = None
    lapses: Sequence[str] = ()
    deciders: Mapping[Unit, Decider] = field(default_factory=dict)
    to_ask: Sequence[JudgeToAsk] = ()

    @property
    def judges(self) -> list[tuple[Judge, int]]:
        counts = Counter(each.judge.pk for each in self.deciders.values())
        by_key = {each.judge.pk: each.judge for each in self.deciders.values()}
        return [(by_key[pk], count) for pk, count in counts.items()]

    def judges_of(self, dimension: int) -> list[Judge]:
        found = {
            decider.judge.pk: decider.judge for (_, of), decider in self.deciders.items() if of == dimension
        }
        return list(found.values())


def audit_of(
    policy: RoutingPolicy, material: Material, kept: Sequence[KeptUnit]
) -> tuple[list[PlannedUnit], list[AuditCell]]:
    """Return the audited units among the staying ones, and their share of each system.

    Units of development documents are not audited: judges may have learned from them, so all statistics
    exclude them.
    """
    in_development = set(material.items[material.in_development].tolist())
    kept = [each for each in kept if each.unit[0] not in in_development]
    distances = np.array([each.distance for each in kept], dtype=float)
    found = []
    drawn, cells = draw_audit(policy, material, [each.unit for each in kept], distances)
    for index, probability in drawn:
        each = kept[index]
        reason = gettext("Sampled with probability {probability:.3g} to audit the judge’s units.").format(
            probability=probability
        )
        reason = f"{each.reason} {reason}"
        found.append(PlannedUnit(*each.unit, Why.AUDIT, reason, each.grounds, probability))
    return found, cells
