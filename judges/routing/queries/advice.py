"""Advice on r: expected errors and saved ratings on each dimension by r, and the r that saves most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.utils.translation import gettext

from agreement.reliability import Ground
from annotate.core.guideline import FrozenDimension
from annotate.results.registry import Data
from judges.core.models import RoutingPolicy
from judges.routing.queries.audit import audited_share
from judges.routing.queries.units import PartOfUnits, PolicyCell, sum_parts
from judges.routing.queries.verdicts import (
    DimensionVerdict,
    EvidenceOf,
    KeptDimension,
    verdict_on_dimension,
)


@dataclass(frozen=True)
class ThresholdStep:
    """The units that stay at an r.

    ratings_saved: the approximate number of ratings that they save, after audits.

    verdict: on these units, the same as for a policy with this r.
    """

    threshold: float
    kept: PartOfUnits
    ratings_saved: int
    verdict: DimensionVerdict

    def to_dict(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "kept": self.kept.units,
            "expected_wrong": self.kept.expected_wrong,
            "expected_share": self.kept.expected_share,
            "without_forecast": self.kept.without_forecast,
            "ratings_saved": self.ratings_saved,
            "refusal": self.verdict.refusal or None,
        }


@dataclass(frozen=True)
class ThresholdAdvice:
    """The curve over r on a dimension, by increasing r, the r to choose (None for none), and the reason."""

    dimension: FrozenDimension
    units: int
    steps: Sequence[ThresholdStep]
    chosen: ThresholdStep | None
    says: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "dimension": self.dimension.key,
            "threshold": self.chosen.threshold if self.chosen else None,
            "says": self.says,
            "steps": [each.to_dict() for each in self.steps],
        }


def advise_thresholds(
    policy: RoutingPolicy,
    dimensions: Sequence[FrozenDimension],
    cells: Sequence[PolicyCell],
    told: Mapping[str, bool],
    known: EvidenceOf,
) -> list[ThresholdAdvice]:
    """Return the advice on each dimension.

    The chosen r saves the most ratings under two conditions: the verdict allows it, and the expected share of
    wrong units does not exceed the accepted one. An r that divides the systems is chosen only if R predicts
    agreement with people: else a small share is chance. cells: of any r. told: True if R predicts agreement,
    by dimension key.
    """
    found = []
    for one in dimensions:
        own = [each for each in cells if each.dimension == one]
        r_tells, units = told.get(one.key, False), sum(each.units for each in own)
        steps = _steps(policy, one, own, r_tells, known)
        shares = [each.kept.expected_share for each in steps if each.kept.expected_share is not None]
        few_wrong = [
            each
            for each in steps
            if each.kept.expected_share is not None and each.kept.expected_share <= policy.risk
        ]
        best = next((each for each in few_wrong if not each.verdict.refusal), None)
        if best is None:
            refused = [*few_wrong, *steps][0].verdict
            reason = refused.refusal or refused.verdict.says
            if shares and min(shares) > policy.risk and refused.verdict.ground is not Ground.ALPHA:
                reason = gettext(
                    "At every r, {least:.0f} % or more of the units that stay are expected to be wrong; "
                    "{accepted:.4g} % is accepted."
                ).format(least=100 * min(shares), accepted=100 * policy.risk)
            chosen, says = None, gettext("No r. {reason}").format(reason=reason)
        elif not best.ratings_saved:
            chosen, says = None, gettext("No r. People audit every unit that stays, so r saves no ratings.")
        elif best is not steps[0] and not r_tells:
            message = gettext(
                "No r. At r = {r:g} few enough units are expected to be wrong, but R does not predict "
                "agreement with people, so that may be chance."
            )
            chosen, says = None, message.format(r=best.threshold)
        else:
            message = gettext(
                "r = {r:g} saves most, about {saved:,} ratings. {kept:,} of {units:,} units stay, about "
                "{wrong:,} of them wrong ({share:.0f} %; {accepted:.4g} % is accepted)."
            )
            chosen, says = (
                best,
                message.format(
                    r=best.threshold,
                    saved=best.ratings_saved,
                    kept=best.kept.units,
                    units=units,
                    wrong=round(best.kept.expected_wrong),
                    share=100 * (best.kept.expected_share or 0),
                    accepted=100 * policy.risk,
                ),
            )
        found.append(ThresholdAdvice(one, units, steps, chosen, says))
    return found


def fewest_decimals(low: float, below: float) -> float:
    """Return the shortest decimal number from `low` on and below `below`, with a maximum of 1."""
    for decimals in range(2, 10):
        found = ceil(low * float(10**decimals)) / float(10**decimals)
        if low <= found < below:
            return min(found, 1.0)
    return low


def _steps(
    policy: RoutingPolicy,
    dimension: FrozenDimension,
    cells: Sequence[PolicyCell],
    r_tells: bool,
    known: EvidenceOf,
) -> list[ThresholdStep]:
    """Return a step for each r that leaves other systems to the judge; at the last none stays."""
    held = sorted({each.decision.held_against for each in cells if each.decision.held_against is not None})
    lows = held if held[:1] == [-1.0] else [-1.0, *held]
    steps = []
    for low, below in zip(lows, [*lows[1:], 2.0], strict=True):
        stay = [
            each
            for each in cells
            if each.decision.held_against is not None and each.decision.held_against > low
        ]
        kept = sum_parts(each.errors for each in stay)
        saved = sum(
            each.errors.units * (1 - audited_share(policy, each.errors.units))
            for each in stay
            if each.errors.units
        )
        part = KeptDimension(
            dimension=dimension,
            kept=kept.units,
            all_stay=len(stay) == len(cells),
            errors=kept.errors(policy.risk),
            r_tells=r_tells,
        )
        steps.append(
            ThresholdStep(
                threshold=fewest_decimals(low, below),
                kept=kept,
                ratings_saved=round(policy.raters * saved),
                verdict=verdict_on_dimension(part, known),
            )
        )
    return steps


def curve_of_advice(policy: RoutingPolicy, advice: Sequence[ThresholdAdvice]) -> Data | None:
    """Return the expected share of wrong units and the share of saved ratings by r, for each dimension.

    None without advice, or if no dimension has a forecast.
    """
    wrong, saved = gettext("wrong among units that stay"), gettext("ratings saved")
    accepted, advised = gettext("accepted share"), gettext("advised r")
    points: list[Data] = []
    for each in advice:
        steps = [step for step in each.steps if step.kept.expected_share is not None]
        if not steps:
            continue
        # Every unit with an R stays at the first step. Its point is just below the least R.
        least = max(-1.0, min((step.threshold for step in steps[1:]), default=0.0) - 0.05)
        thresholds = [max(step.threshold, least) for step in steps]
        panel = each.dimension.name

        def point(series: str, x: float, value: float, note: str, panel: str = panel) -> Data:
            return {
                "panel": panel,
                "row": "",  # panels without row labels are side by side
                "series": series,
                "name": series,
                "x": x,
                "value": value,
                "note": note,
            }

        for x, step in zip(thresholds, steps, strict=True):
            share = step.kept.expected_share or 0.0
            note = gettext(
                "r = {r:g}: {kept:,} units stay, about {wrong:,} wrong ({share:.0f} %); about {saved:,} "
                "ratings saved"
            ).format(
                r=step.threshold,
                kept=step.kept.units,
                wrong=round(step.kept.expected_wrong),
                share=100 * share,
                saved=step.ratings_saved,
            )
            note = f"{panel}, {note}"
            share_saved = step.ratings_saved / (policy.raters * each.units)
            points.append(point(wrong, x, share, note))
            points.append(point(saved, x, share_saved, note))
            if step is each.chosen:
                points.append(point(advised, x, share, f"{panel}: {each.says}"))
        note = gettext("accepted: {share:.4g} %").format(share=100 * policy.risk)
        points += [point(accepted, x, policy.risk, note) for x in (thresholds[0], thresholds[-1])]
    if not points:
        return None
    return {
        "kind": "lines",
        "key": "advice",
        "title": gettext("Expected errors and saved ratings by r"),
        "points": points,
        "across": "r",
        "up": gettext("share"),
        "series": [wrong, saved, accepted, advised],
        "lines": [],
    }
