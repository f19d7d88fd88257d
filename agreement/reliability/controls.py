"""The companions of a certificate: a constant judge, a shuffled judge, people themselves, and the audit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray, IntArray
from agreement.pairs import mean_values
from agreement.reliability import bounds
from agreement.reliability.cascade import CascadeCertificate, calibrate_cascade
from agreement.reliability.fixed_sequence import Guarantee, RiskCertificate
from agreement.reliability.losses import Ceiling, Loss, human_ceiling
from agreement.reliability.risk_capital import log_capital, mean_capital
from agreement.reliability.selective import calibrate
from agreement.streams import Randomness, generator_of


@dataclass(frozen=True)
class Certified:
    """A judge's certificate, and the same test on judges without information on the units.

    constant: always answers `constant_value`, the point that people gave most often; if it is certified too,
    the cause is the skew of the scale, not the judge. shuffled: the judge's own values and confidences,
    permuted among units. ceiling: one person instead of the judge.
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

    def calibrate_answers(sure: FloatArray, answers: FloatArray) -> RiskCertificate:
        return calibrate(sure, loss(answers, panel), grid, guarantee, documents=documents, batch=batch)

    return Certified(
        certificate=calibrate_answers(sure, values),
        constant=calibrate_answers(sure, constant),
        constant_value=usual,
        shuffled=calibrate_answers(sure[dealt], values[dealt]),
        ceiling=human_ceiling(table, loss),
    )


@dataclass(frozen=True, eq=False)
class CertifiedCascade:
    """A cascade with the certificates of a constant and a shuffled judge in all stages; see `Certified`."""

    cascade: CascadeCertificate
    constant: RiskCertificate
    constant_value: float | None
    shuffled: RiskCertificate
    ceiling: Ceiling


def certify_cascade(
    judges: npt.ArrayLike,
    human: npt.ArrayLike,
    confidences: npt.ArrayLike,
    loss: Loss,
    paths: Sequence[FloatArray],
    guarantee: Guarantee,
    *,
    documents: npt.ArrayLike | None,
    generator: Randomness,
    batch: npt.ArrayLike | int | None = None,
) -> CertifiedCascade:
    """`agreement.reliability.calibrate_cascade` for judges, and with constant and shuffled values.

    judges, confidences: (stages, drawn). human: (raters, drawn). The other arguments: as for `certify` and
    `calibrate_cascade`. One permutation shuffles the values and confidences of all stages.
    """
    values, table = np.atleast_2d(np.asarray(judges, dtype=float)), np.asarray(human, dtype=float)
    sure, panel = np.atleast_2d(np.asarray(confidences, dtype=float)), mean_values(table)
    usual = usual_value(table)
    constant = np.where(np.isnan(values), np.nan, np.nan if usual is None else usual)
    dealt = generator_of(generator, "shuffled judge").permutation(values.shape[1])

    def calibrate_answers(sure: FloatArray, answers: FloatArray) -> CascadeCertificate:
        losses = np.array([loss(own, panel) for own in answers])
        return calibrate_cascade(sure, losses, paths, guarantee, documents=documents, batch=batch)

    return CertifiedCascade(
        cascade=calibrate_answers(sure, values),
        constant=calibrate_answers(sure, constant).certificate,
        constant_value=usual,
        shuffled=calibrate_answers(sure[:, dealt], values[:, dealt]).certificate,
        ceiling=human_ceiling(table, loss),
    )


def usual_value(human: npt.ArrayLike) -> float | None:
    """The value that people gave most often, the larger of equally frequent ones; None without values.

    human: of any shape, NaN if missing.
    """
    table: FloatArray = np.asarray(human, dtype=float)
    values, counts = np.unique(table[~np.isnan(table)], return_counts=True)
    if not len(values):
        return None
    return float(values[len(values) - 1 - np.argmax(counts[::-1])])


# Small shares of the largest stake: an error rate of twice a small risk asks for small bets.
_STAKES = np.geomspace(0.03, 0.8, 6)


@dataclass(frozen=True)
class AuditFinding:
    """The evidence of the audited units on a certificate, valid at every look.

    p_value: 1 / the largest capital to date of bets on "the risk is larger"; None with a reason. contradicts:
    True if it is at or below the level. alarm_after: the number of rated units at the first contradiction.
    """

    audited: int
    errors: int
    p_value: float | None
    contradicts: bool
    reason: str
    alarm_after: int | None = None


def check_audit(
    losses: npt.ArrayLike,
    risk: float,
    *,
    documents: npt.ArrayLike | None,
    units: int | None = None,
    significance_level: float = 0.05,
) -> AuditFinding:
    """Test whether audited units contradict a risk of the accepted units, at any number of looks.

    losses: (audited,), 0 and 1 in rating order, NaN without a rating; of units sampled with one probability
    among the units that stay with the judge (`draw_audit`). documents: (audited,), the document of each; None
    states that no two units share one. Documents must come in an order that does not depend on the judge's
    errors. Until all audited units of a document are rated, a later rating can withdraw an alarm. units: the
    number of units that stay; more errors than the risk allows among them contradict for certain.

    A gambler bets on "the risk is larger" before each document. While the risk does not exceed `risk`, the
    capital reaches 1 / significance_level with a maximum probability of that level (Ville 1939;
    `log_capital`). So you may look after every rating and stop at any. p_value is None before the first
    rating. Raises ValueError for losses other than 0 and 1.
    """
    every = np.asarray(losses, dtype=float)
    names = np.arange(len(every)) if documents is None else np.asarray(documents)
    given = ~np.isnan(every)
    if not np.isin(every[given], (0, 1)).all():
        raise ValueError("An audit needs losses of 0 and 1.")
    audited, errors = int(given.sum()), int(every[given].sum())
    if not audited:
        return AuditFinding(0, 0, None, False, "No audited unit has been rated yet.")
    most = int(np.unique(names, return_counts=True)[1].max())
    capital, rated = _capital_by_document(every[given], names[given], risk, most)
    if units is not None and errors > bounds.largest_allowed(units, risk):
        capital[-1] = np.inf
    alarms = np.flatnonzero(capital >= 1 / significance_level)
    contradicts = bool(len(alarms))
    states = "This contradicts" if contradicts else "This does not contradict"
    return AuditFinding(
        audited=audited,
        errors=errors,
        p_value=float(1 / max(capital.max(), 1)),
        contradicts=contradicts,
        reason=f"{errors} of {audited} audited units count against the judge. {states} a risk of {risk:g}.",
        alarm_after=int(rated[alarms[0]]) if contradicts else None,
    )


def _capital_by_document(
    losses: FloatArray, documents: npt.NDArray[np.generic], risk: float, most: int
) -> tuple[FloatArray, IntArray]:
    """(documents,): the capital after each document, in the order of their first ratings, and the ratings."""
    _, first, numbers = np.unique(documents, return_index=True, return_inverse=True)
    positions = np.argsort(np.argsort(first))[numbers]
    counted, wrong = np.bincount(positions), np.bincount(positions, weights=losses)
    rated: IntArray = np.cumsum(counted)
    if risk <= 0 or risk >= 1:  # any error contradicts a risk of 0, and nothing one of 1
        beaten = (np.cumsum(wrong) > 0) & (risk <= 0)
        return np.where(beaten, np.inf, 1.0), rated
    # Errors pay here: a bet on "the share of units without an error is below 1 - risk".
    logs = log_capital(counted - wrong, counted, 1 - risk, most=most, stakes=_STAKES)
    return mean_capital(logs), rated
