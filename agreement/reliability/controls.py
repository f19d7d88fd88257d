"""What a certificate comes with: a constant judge, a shuffled judge, people themselves, and the audit."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray
from agreement.pairs import mean_values
from agreement.reliability import bounds
from agreement.reliability.losses import Ceiling, Loss, human_ceiling
from agreement.reliability.selective import Guarantee, RiskCertificate, calibrate
from agreement.streams import Randomness, generator_of


@dataclass(frozen=True)
class Certified:
    """A judge's certificate, and the same test on judges that know nothing of the units.

    constant: always answers `constant_value`, the point that people gave most often; where it is certified
    too, the scale's skew did it, not the judge. shuffled: the judge's own values and confidences, dealt to
    other units. ceiling: one person in the judge's place.
    """

    certificate: RiskCertificate
    constant: RiskCertificate
    constant_value: float | None
    shuffled: RiskCertificate
    ceiling: Ceiling


def certify(
    judge: npt.ArrayLike,
    human: npt.ArrayLike,
    confidences: npt.ArrayLike,
    loss: Loss,
    grid: npt.ArrayLike,
    guarantee: Guarantee,
    *,
    documents: npt.ArrayLike | None,
    generator: Randomness,
    batch: npt.ArrayLike | None = None,
) -> Certified:
    """`agreement.reliability.calibrate` for a judge, a constant judge and a shuffled one.

    judge: (rated,), its values for a simple random sample of units. human: (raters, rated), what people gave,
    NaN for a gap; the panel's value is their mean. confidences, grid, documents, batch: as for `calibrate`.
    The constant judge keeps the judge's confidences, so that it answers for the same units. With many
    dimensions, divide the guarantee (`Guarantee.divide`); controls need no share of delta, since nothing
    follows from them.
    """
    values, table = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
    sure, panel = np.asarray(confidences, dtype=float), mean_values(table)
    usual = usual_value(table)
    constant = np.full(len(values), np.nan if usual is None else usual)
    dealt = generator_of(generator, "shuffled judge").permutation(len(values))

    def found(sure: FloatArray, answers: FloatArray) -> RiskCertificate:
        return calibrate(sure, loss(answers, panel), grid, guarantee, documents=documents, batch=batch)

    return Certified(
        certificate=found(sure, values),
        constant=found(sure, constant),
        constant_value=usual,
        shuffled=found(sure[dealt], values[dealt]),
        ceiling=human_ceiling(table, loss),
    )


def usual_value(human: npt.ArrayLike) -> float | None:
    """The value that people gave most often, the larger of equally frequent ones; None without values.

    human: of any shape, NaN where missing.
    """
    table: FloatArray = np.asarray(human, dtype=float)
    values, counts = np.unique(table[~np.isnan(table)], return_counts=True)
    if not len(values):
        return None
    return float(values[len(values) - 1 - np.argmax(counts[::-1])])


@dataclass(frozen=True)
class AuditFinding:
    """What the audited units say of a certificate.

    p_value: how likely at least so many errors were if the accepted units' risk were as certified; None with
    a reason. contradicts: whether that is below the level asked for.
    """

    audited: int
    errors: int
    p_value: float | None
    contradicts: bool
    reason: str


def check_audit(
    losses: npt.ArrayLike, risk: float, *, units: int | None = None, significance_level: float = 0.05
) -> AuditFinding:
    """Whether audited units contradict that the accepted units' risk is at most so much.

    losses: (audited,), 0 and 1, NaN where no rating came in; of units drawn with one probability among those
    that stay with the judge (`draw_audit`). units: how many of those there are, for the hypergeometric test.
    The p value is P(at least k errors) at the risk. Each look spends the level again: look once, or divide.
    It is None before an audited unit was rated. ValueError for losses besides 0 and 1.
    """
    given = np.asarray(losses, dtype=float)
    given = given[~np.isnan(given)]
    if not np.isin(given, (0, 1)).all():
        raise ValueError("An audit needs losses of 0 and 1.")
    audited, errors = len(given), int(given.sum())
    if not audited:
        return AuditFinding(0, 0, None, False, "No audited unit has been rated yet.")
    p_value = _at_least(errors, audited, units, risk)
    contradicts = p_value <= significance_level
    says = "This contradicts" if contradicts else "This does not contradict"
    reason = f"{errors} of {audited} audited units count against the judge. {says} a risk of {risk:g}."
    return AuditFinding(audited, errors, p_value, contradicts, reason)


def _at_least(errors: int, audited: int, units: int | None, risk: float) -> float:
    if not errors:
        return 1.0
    if units is None:
        return float(1 - bounds.binomial_p_value(errors - 1, audited, risk))
    wrong = bounds.largest_allowed(units, risk)
    return float(1 - bounds.hypergeometric_cdf(errors - 1, units, wrong, audited))
