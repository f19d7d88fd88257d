"""Decisions of a routing policy on units: the units for people, with reasons and grounds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from django.utils.translation import gettext

from agreement import Coefficient
from agreement.reliability import CellDecision, Validity
from annotate.core.guideline import FrozenDimension
from annotate.rating.queries.assigned import Unit
from judges.core.models import Certificate, Judge, RoutedUnit, RoutingPolicy
from judges.core.stages import JudgeToAsk
from judges.results.queries.scores import Material
from judges.routing.queries.audit import AuditCell, audit_cells, audit_drawn
from judges.routing.queries.kept_units import ExpectedGain, KeptAgreement, PartOfUnits

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

    @classmethod
    def from_cell(cls, decision: CellDecision) -> "Grounds":
        found = decision.indicator
        return cls(
            indicator=found.value,
            low=found.interval.low if found.interval else None,
            high=found.interval.high if found.interval else None,
            items=found.counts.pairable_units,
            threshold=decision.threshold,
        )


class PlannedUnit(NamedTuple):
    """A unit that the policy sends to people, and the reason."""

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
    """The judge that decides a unit, and its confidence."""

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
        """Return R with its interval, or the reason why there is none."""
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
        """Return the number of units that each judge decides, if there are several."""
        counts = Counter(each.judge.pk for each in self.deciders.values())
        by_key = {each.judge.pk: each.judge for each in self.deciders.values()}
        return [(by_key[pk], count) for pk, count in counts.items()]

    def judges_of(self, dimension: int) -> list[Judge]:
        """Return the judges that decide units of a dimension, if there are several."""
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
    for index, probability in audit_drawn(policy, material, [each.unit for each in kept], distances):
        each = kept[index]
        reason = gettext("Sampled with probability {probability:.3g} to audit the judge’s units.").format(
            probability=probability
        )
        reason = f"{each.reason} {reason}"
        found.append(PlannedUnit(*each.unit, Why.AUDIT, reason, each.grounds, probability))
    drawn = {each.unit for each in found}
    return found, audit_cells(policy, material, [each.unit for each in kept], drawn)
