"""Judges in stages: each decides the units that it is sure of, and passes on the rest, at last to people.

Stages are in calling order. A unit is decided by the first stage whose confidence is at or above that
stage's threshold. The guarantee is about the units that any stage decides, all together. `certify` has the
companions of a certificate: a constant judge, a shuffled judge, people themselves, and the audit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray, IntArray, divide_where
from agreement.groups import mean_values
from agreement.reliability import bounds
from agreement.reliability.bounds import log_capital, mean_capital
from agreement.reliability.confidence import Ceiling, Loss, fold_numbers, human_ceiling
from agreement.reliability.fixed_sequence import (
    Guarantee,
    RiskCertificate,
    RiskTest,
    calibrate,
    certify_steps,
    count_steps,
    first_with_enough,
    numbers_of_shared_documents,
)
from agreement.streams import Randomness, generator_of


@dataclass(frozen=True, eq=False)
class CascadeCertificate:
    """Thresholds that hold the guarantee for all stages together, or None: all units go to people.

    thresholds: (stages,), infinite for a stage that decides nothing. certificate: of the path that was
    chosen; its thresholds are positions on the path, 1 the strictest. paths: the certificates of all paths.
    accepted, errors: (stages,), what each stage decides of the rated sample, and its errors among it.
    """

    thresholds: FloatArray | None
    certificate: RiskCertificate
    paths: tuple[RiskCertificate, ...]
    accepted: IntArray
    errors: IntArray


def paths_of(confidences: npt.ArrayLike, *, comparable: bool, steps: int = 50) -> list[FloatArray]:
    """Return sequences of thresholds, each (steps, stages), from strict to loose, from confidences alone.

    confidences: (stages, units), NaN if a stage has no value. comparable: True if the confidences of all
    stages have the same meaning, such as minus an expected loss. Then one path lowers one threshold for all.
    Else one path lowers each stage's threshold through the quantiles of its confidences: at a share q of its
    surest units for the last stage, q^2 for the one before, q^3 before that, since an earlier stage is
    usually the weaker judge. Another path lowers the threshold of the last stage alone. Raises ValueError if
    no stage has a confidence.
    """
    sure = np.atleast_2d(np.asarray(confidences, dtype=float))
    if np.isnan(sure).all():
        raise ValueError("No stage has a confidence.")
    shares, stages = np.linspace(0, 1, steps), len(sure)
    if comparable:
        # With one threshold for all, a unit is decided exactly if its largest confidence reaches it.
        best = np.max(np.where(np.isnan(sure), -np.inf, sure), axis=0)
        levels = np.unique(np.quantile(best[np.isfinite(best)], 1 - shares, method="lower"))[::-1]
        return [np.repeat(levels[:, None], stages, axis=1).astype(float)]
    together = np.full((steps, stages), np.inf)
    for stage in range(stages):
        given = sure[stage][~np.isnan(sure[stage])]
        if len(given):
            together[:, stage] = np.quantile(given, 1 - shares ** (stages - stage), method="lower")
    last = np.where(np.arange(stages) == stages - 1, together, np.inf)
    # Without the steps that repeat the one before.
    return [
        path[np.concatenate([[True], (path[1:] != path[:-1]).any(axis=1)])]
        for path in ((together,) if stages == 1 else (together, last))
    ]


def deciding_stages(confidences: npt.ArrayLike, thresholds: npt.ArrayLike) -> IntArray:
    """(units,): the index of the stage that decides each unit; the number of stages if people decide.

    confidences: (stages, units), NaN if a stage has no value. thresholds: (stages,).
    """
    sure = np.atleast_2d(np.asarray(confidences, dtype=float))
    is_sure = sure >= np.asarray(thresholds, dtype=float)[:, None]
    # argmax finds the first stage that is sure; a comparison with NaN is False.
    return np.where(is_sure.any(axis=0), is_sure.argmax(axis=0), len(sure))


def calls_of_stages(deciding: npt.ArrayLike, stages: int) -> IntArray:
    """(stages + 1,): the number of units that reach each stage, and people at last.

    deciding: (units,), from `deciding_stages`.
    """
    decided = np.bincount(np.asarray(deciding, dtype=np.intp), minlength=stages + 1)
    # A unit reaches a stage if no earlier stage has decided it.
    return np.asarray(decided.sum() - np.concatenate([[0], np.cumsum(decided[:-1])]), dtype=np.intp)


def calibrate_cascade(
    confidences: npt.ArrayLike,
    losses: npt.ArrayLike,
    paths: Sequence[FloatArray],
    guarantee: Guarantee,
    *,
    documents: npt.ArrayLike | None,
    batch: npt.ArrayLike | int | None = None,
) -> CascadeCertificate:
    """Return the thresholds that send the fewest units to people and still hold the guarantee.

    confidences, losses: (stages, drawn), of a simple random sample of units with calls of every stage; losses
    of 0 and 1, NaN if the stage or people gave no value. paths: (steps, stages) each, fixed before any loss
    was known; delta is divided among them (Bonferroni), and each is tested from the strictest step to the
    first failure. documents: (drawn,), as for `calibrate`. batch: (stages, units), the confidences of a
    closed batch with the sample; or only its number of units, if later stages were called for the sample
    alone. None: the guarantee is about the population of the documents.

    The hypotheses are about whole cascades, so the number of stages costs nothing. A stage may have a share
    of errors above the risk if another one compensates for it. Source: Jung, Brahman and Choi 2025, Trust or
    Escalate, section 3.3, for cascades; Laufer-Goldshtein and others 2023, Efficiently controlling multiple
    risks with Pareto testing, for paths of several thresholds. Raises ValueError for losses that are not 0 or
    1, and shapes that do not fit.
    """
    sure, lost = (np.atleast_2d(np.asarray(each, dtype=float)) for each in (confidences, losses))
    if sure.shape != lost.shape:
        raise ValueError(f"Confidences and losses differ in shape: {sure.shape} and {lost.shape}.")
    if not np.isin(lost[~np.isnan(lost)], (0, 1)).all() or guarantee.test is not RiskTest.EXACT:
        raise ValueError("A cascade is tested exactly, which needs losses of 0 and 1.")
    if not paths or any(path.ndim != 2 or path.shape[1] != len(sure) for path in paths):
        raise ValueError("Every path needs a threshold for each stage.")
    # A stage without a value of a rated unit is never sure of it: no stage would count its errors there.
    rated = ~np.isnan(lost).all(axis=0)
    sure = np.where(np.isnan(lost) & rated, np.nan, sure)
    # The certificate of each path, with its share of delta; the path that keeps most units is used.
    own = guarantee.divide(len(paths))
    found = [_certify_path(sure, lost, path, own, documents, batch) for path in paths]
    kept_of = [
        0 if each.step is None else each.step.accepted if each.step.units is None else each.step.units
        for each in found
    ]
    best = int(np.argmax(kept_of))
    certificate, none = found[best], np.zeros(len(sure), dtype=np.intp)
    if certificate.threshold is None:
        return CascadeCertificate(None, certificate, tuple(found), none, none)
    # `_certify_path` names the steps of a path by their positions.
    thresholds = paths[best][round((1 - certificate.threshold) * len(paths[best]))]
    # What each stage decides of the rated sample, and its errors.
    deciding = deciding_stages(sure[:, rated], thresholds)
    kept = deciding < len(sure)
    errors = lost[:, rated][deciding[kept], np.flatnonzero(kept)]
    return CascadeCertificate(
        thresholds,
        certificate,
        tuple(found),
        np.bincount(deciding[kept], minlength=len(sure)),
        np.bincount(deciding[kept], errors, minlength=len(sure)).astype(np.intp),
    )


def _certify_path(
    sure: FloatArray,
    lost: FloatArray,
    path: FloatArray,
    guarantee: Guarantee,
    documents: npt.ArrayLike | None,
    batch: npt.ArrayLike | int | None,
) -> RiskCertificate:
    """The certificate of one path; its steps are identified by their positions, from 1 down to 1 / steps."""
    stages, drawn = sure.shape
    rated = np.asarray(~np.isnan(lost).all(axis=0), dtype=bool)
    deciding = np.array([deciding_stages(sure, thresholds) for thresholds in path])
    accepted = deciding < stages
    # Units for people have the index `stages`, which is no row of `lost`; `accepted` masks them.
    losses = np.take_along_axis(lost, np.minimum(deciding, stages - 1), axis=0)
    # The start follows from confidences and the share of rated units, never from a loss.
    expected: npt.NDArray[np.number] = accepted.sum(axis=1) * (rated.mean() if drawn else 1)
    units = largest = shared = size = None
    if batch is None:
        shared = numbers_of_shared_documents(documents, rated)
    elif isinstance(batch, int):
        size = batch
        if size < drawn:
            raise ValueError("The calibration sample must be part of the batch.")
        # Every unit outside the sample may be accepted, as only the sample has calls of all stages.
        largest = size - (drawn - accepted.sum(axis=1))
    else:
        everything = np.atleast_2d(np.asarray(batch, dtype=float))
        size = everything.shape[1]
        units = np.array(
            [np.sum(deciding_stages(everything, thresholds) < stages) for thresholds in path], dtype=np.intp
        )
        if (accepted.sum(axis=1) > units).any():
            raise ValueError("The calibration sample must be part of the batch.")
        # The rated units expected among the accepted units of the batch, from confidences alone.
        expected = rated.sum() * units / max(size, 1)
    counts = count_steps(
        1 - np.arange(len(path)) / len(path), accepted[:, rated], losses[:, rated], shared, units, largest
    )
    return certify_steps(
        counts,
        guarantee,
        start=first_with_enough(expected, guarantee.least_accepted),
        rated=int(rated.sum()),
        without_loss=int((~rated).sum()),
        batch=size,
    )


@dataclass(frozen=True, eq=False)
class CascadeForecast:
    """The result of a cascade at each accepted risk, from rated units; a forecast without a guarantee.

    decided: (risks, stages + 1), the share of units that each stage decides, and people at last. reached:
    (risks, stages + 1), the share of units that reach each stage. errors: (risks,), wrong units as a share of
    all.
    """

    risks: FloatArray
    decided: FloatArray
    reached: FloatArray
    errors: FloatArray

    @property
    def error_rates(self) -> FloatArray:
        """(risks,): wrong units as a share of the units that judges decide; NaN if they decide none."""
        kept = 1 - self.decided[:, -1]
        return divide_where(kept > 0, self.errors, kept)


def forecast_cascade(
    confidences: npt.ArrayLike,
    losses: npt.ArrayLike,
    documents: npt.ArrayLike,
    risks: npt.ArrayLike,
    *,
    comparable: bool,
    generator: Randomness,
    folds: int = 5,
) -> CascadeForecast:
    """Return shares and errors at each accepted risk; documents of one fold choose for the others.

    confidences, losses: (stages, rated), of units that all stages and people have judged. documents:
    (rated,). risks: (risks,). The function uses the step of `paths_of` that decides most, among the steps
    whose share of errors does not exceed the risk on the other folds. Raises ValueError with fewer than two
    documents.
    """
    sure, lost = (np.atleast_2d(np.asarray(each, dtype=float)) for each in (confidences, losses))
    accepted_risks = np.atleast_1d(np.asarray(risks, dtype=float))
    _, documents_of = np.unique(np.asarray(documents), return_inverse=True)
    number = int(documents_of.max(initial=0)) + 1
    if number < 2:
        raise ValueError("A forecast needs rated units of two documents or more.")
    # Folds consist of whole documents, as units of one document are not independent.
    fold = fold_numbers(number, min(folds, number), generator)[documents_of]
    paths, stages = paths_of(sure, comparable=comparable), len(sure)
    # Decisions and errors of each unit at each step of each path.
    steps = np.concatenate(paths)
    deciding = np.array([deciding_stages(sure, thresholds) for thresholds in steps])
    kept = deciding < stages
    wrong = np.take_along_axis(lost, np.minimum(deciding, stages - 1), axis=0) * kept
    # For each fold, the step that decides most within the risk on the other folds.
    chosen = np.full((len(accepted_risks), len(documents_of)), stages)
    errors = np.zeros(len(accepted_risks))
    for each in np.unique(fold):
        others, own = fold != each, fold == each
        decided, mistaken = kept[:, others].sum(axis=1), np.nansum(wrong[:, others], axis=1)
        for index, risk in enumerate(accepted_risks):
            # Rounding restores whole numbers: .29 x 100 is just below 29 in floats.
            allowed = np.flatnonzero(mistaken <= np.round(risk * decided, 9))
            step = allowed[decided[allowed].argmax()] if len(allowed) else None
            if step is not None and decided[step]:
                chosen[index, own] = deciding[step, own]
                errors[index] += np.nansum(wrong[step, own])
    counts = np.array([np.bincount(row, minlength=stages + 1) for row in chosen])
    reached = np.array([calls_of_stages(row, stages) for row in chosen])
    size = len(documents_of)
    return CascadeForecast(accepted_risks, counts / size, reached / size, errors / size)


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
        # Values and confidences move together: a sure answer stays sure, about another unit.
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
    # The gaps of each stage remain, so the constant answers for the same units.
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
    # argmax finds the first maximum, so reversed counts give the larger of equally frequent values.
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
    # Units without a rating count too, so the bets do not depend on which ratings have arrived.
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
        # Ville's inequality bounds the largest capital to date, which allows a look at any time.
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
    # np.unique sorts names; the ranks of first positions restore the order of the first ratings.
    positions = np.argsort(np.argsort(first))[numbers]
    counted, wrong = np.bincount(positions), np.bincount(positions, weights=losses)
    rated: IntArray = np.cumsum(counted)
    if risk <= 0 or risk >= 1:  # any error contradicts a risk of 0, and nothing one of 1
        beaten = (np.cumsum(wrong) > 0) & (risk <= 0)
        return np.where(beaten, np.inf, 1.0), rated
    # Errors pay here: a bet on "the share of units without an error is below 1 - risk".
    logs = log_capital(counted - wrong, counted, 1 - risk, most=most, stakes=_STAKES)
    return mean_capital(logs), rated
