"""A judge's error compared with the error of a random person: bias, order of systems, order within them,
single outputs.

Documents and raters are samples. A statistic is the mean over the raters, each left out in turn. Controls,
which have less information than a judge should have, use the same functions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import draw_weights, independent, ratio_of_sums
from agreement.comparison.scores import Scores, numbers
from agreement.crossed import crossed_differences, why_not_crossed
from agreement.data import FloatArray, IntArray, divide_where
from agreement.groups import mean_values
from agreement.reliability.confidence import (
    means_by_length,
    means_elsewhere,
    values_by_group,
    values_by_length,
)
from agreement.streams import Randomness, substream
from agreement.student import satterthwaite_freedom, t_reach

ErrorLoss = Literal["squared", "unequal"]
"""The cost of an error: squared points, or 1 for another category."""

ACCEPTED_LOSS = 0.2
"""The share by which a judge's mean loss may exceed that of a second person."""
LEAST_DOCUMENTS = 3
LEAST_RATERS = 3
_LEAST_OF_SYSTEM = 3
_LEAST_OF_SAME_ORDER = 8
"""Documents from which an order of systems that is the same in every resample is sure."""
_MOST_UNDEFINED = 0.05  # of the resamples
_DECIMALS = 12
_TINY = 1e-9  # means that differ by less are equal but for rounding
_TOO_FEW_OF_RATER = (
    "A rater has too few values, or too few texts that another rater rated too: let raters rate more of the "
    "same texts, or exclude raters with few ratings."
)

_ByRater = Callable[[FloatArray], FloatArray]
"""From weights (replicates, documents) to values (replicates, raters), NaN if undefined for a rater."""


@dataclass(frozen=True)
class ErrorStatistic:
    """A statistic with two intervals; `reason` gives the reason for missing values.

    low, high: for raters like these, None with fewer than 3. panel_low, panel_high: for these raters alone.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    panel_low: float | None = None
    panel_high: float | None = None
    reason: str = ""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval for raters like these, else for these alone."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        if self.panel_low is not None and self.panel_high is not None:
            return self.panel_low, self.panel_high
        return None

    @property
    def is_surely_positive(self) -> bool:
        """Whether the interval for raters like these is above 0."""
        return self.low is not None and self.low > 0

    @property
    def is_positive_for_panel(self) -> bool:
        """Whether the interval for these raters alone is above 0."""
        return self.panel_low is not None and self.panel_low > 0

    @property
    def is_surely_negative(self) -> bool:
        """Whether the interval for these raters alone is below 0."""
        return self.panel_high is not None and self.panel_high < 0


@dataclass(frozen=True)
class ControlError:
    """A control's statistics, and the judge's minus the control's over the same documents and raters.

    error: root mean loss to a random person. order_of_systems, order_within_systems: as of a judge, 0 if the
    control does not vary. beyond, corrected_beyond: difference of advantages, as the judge answers and after
    subtraction of its bias. order_beyond: difference of taus, of the length alone.
    """

    error: float | None
    order_of_systems: float | None
    order_within_systems: float | None
    beyond: ErrorStatistic
    corrected_beyond: ErrorStatistic
    order_beyond: ErrorStatistic


@dataclass(frozen=True)
class SeparatedPairs:
    """Pairs of systems that people separate significantly, and the number on which the judge has the same
    sign.
    """

    same: int
    pairs: int


@dataclass(frozen=True)
class JudgeError:
    """A judge's error on a dimension; see `judge_error`.

    error, person_error: root mean loss of the judge, and of a second person, to a random person. advantage:
    mean loss of a second person minus the judge's. margin: the same plus `ACCEPTED_LOSS` times the mean loss
    of a second person; corrected_margin: after subtraction of the bias.
    """

    raters: int
    documents: int
    systems: int
    bias: ErrorStatistic
    advantage: ErrorStatistic
    margin: ErrorStatistic
    corrected_margin: ErrorStatistic
    order_of_systems: ErrorStatistic
    order_within_systems: ErrorStatistic
    error: float | None = None
    person_error: float | None = None
    separated: SeparatedPairs | None = None
    controls: Mapping[str, ControlError] = field(default_factory=dict)


def judge_error(
    scores: Scores,
    *,
    generator: Randomness,
    lengths: npt.ArrayLike | None = None,
    loss: ErrorLoss = "squared",
    replicates: int = 1000,
    confidence_level: float = 0.95,
) -> JudgeError:
    """A judge's error compared with the error of a random person, on one dimension.

    scores: people's values (raters, items), independent of the judge's, and the judge's (items,). lengths:
    (items,), of the outputs. With people's value y_ir and the judge's j_i of item i, and other raters r' of
    the same item:

        bias                  mean of j_i - y_ir, in points
        advantage             mean of [mean over r' of (y_ir' - y_ir)^2 - (j_i - y_ir)^2], in squared points
        order of systems      mean over r of Kendall's tau-b of the system means of j and of y_r
        order within systems  mean over r and systems of Pearson's r of j and y_r

    Controls by name: `constant`, the best value for all items; `system`, the best value of each system;
    `length`, the best function of the length, if you pass lengths; `shuffled`, the judge's values shuffled
    within systems, in expectation. The first three are fitted on other documents and other raters (for these
    raters alone on other documents), the judge's bias on other documents. `separated` is None unless every
    rater rated every item. Intervals: Student's t with V = V_D + V_R - V_E, not less than V_D or V_R, and
    Satterthwaite's degrees of freedom; for these raters alone V_D. V_D: resampled documents. V_R: jackknife
    of raters. V_E: of a rater on a document, a component of both. The interval of tau starts from the mean of
    the resamples, which is nearer to 0, so that few systems in the right order by chance are not enough. loss
    "unequal": values are categories, so bias and orders are undefined. Undefined with fewer than 3 documents;
    the advantage also with one rater. Source: Concord's; V as of two-way clusters, Cameron, Gelbach and
    Miller 2011, Journal of Business and Economic Statistics 29, 238-249. Error rates: benchmarks/coverage.py
    errors.
    """
    known = ~np.isnan(scores.judge) & ~np.isnan(scores.human).all(axis=0)
    sizes = None if lengths is None else numbers(lengths, "Lengths", dimensions=1)[known]
    rated = scores.of_items(known)
    # A rater without a value here would leave every mean over raters undefined.
    human = rated.human[~np.isnan(rated.human).all(axis=1)]
    number = len(rated.system_names), len(rated.document_labels)
    panel = _Panel(human, np.arange(len(human)), rated.systems, rated.documents, *number, loss)
    if panel.document_number < LEAST_DOCUMENTS:
        few = f"The judge and people have values on {panel.document_number} documents; 3 are needed."
        missing = ErrorStatistic(reason=few)
        return JudgeError(*panel.size, missing, missing, missing, missing, missing, missing)
    inference = _Inference(panel, generator, replicates, confidence_level)
    controls = _make_controls(panel, rated.judge, sizes, generator)
    return replace(
        _measure_judge(inference, rated.judge),
        controls={name: _measure_control(inference, rated.judge, each) for name, each in controls.items()},
        separated=_separated_pairs(rated, human, confidence_level) if loss == "squared" else None,
    )


@dataclass(frozen=True, eq=False)
class _Panel:
    """People's values (raters, items), with the system and the document of each item (items,).

    rows: (raters,), their numbers among all raters.
    """

    human: FloatArray
    rows: IntArray
    systems: IntArray
    documents: IntArray
    system_number: int
    document_number: int
    loss: ErrorLoss

    @property
    def size(self) -> tuple[int, int, int]:
        return len(self.human), self.document_number, self.system_number

    @property
    def is_named(self) -> bool:
        return self.loss == "unequal"

    def without(self, rater: int) -> "_Panel":
        return replace(self, human=np.delete(self.human, rater, axis=0), rows=np.delete(self.rows, rater))

    def sum_by_document(self, values: FloatArray) -> FloatArray:
        """(documents, raters): sums of values (raters, items), NaN as 0."""
        return _sum_by_group(values, self.documents, self.document_number)

    def sum_by_system(self, values: FloatArray) -> FloatArray:
        """(documents, raters * systems): the same for each system."""
        cells = self.documents * self.system_number + self.systems
        found = _sum_by_group(values, cells, self.document_number * self.system_number)
        table = found.reshape(self.document_number, self.system_number, len(values))
        # Raters come before systems: statistics reshape these sums to (replicates, raters, systems).
        return table.transpose(0, 2, 1).reshape(self.document_number, -1)

    def losses(self, values: FloatArray) -> FloatArray:
        """(raters, items): the loss of values (items,) or (raters, items) to each rater's, NaN for a gap."""
        if not self.is_named:
            return np.asarray((values - self.human) ** 2)
        return np.where(np.isnan(values - self.human), np.nan, values != self.human)

    def losses_of_others(self) -> FloatArray:
        """(raters, items): mean loss of the other raters' values to a rater's, NaN without others."""
        given = ~np.isnan(self.human)
        number = given.sum(axis=0)
        if self.is_named:
            found = np.array([((self.human != row) & given).sum(axis=0) for row in self.human], dtype=float)
        else:
            # Values near 0 keep the digits that a difference of large squares would lose.
            values = np.nan_to_num(self.human - np.nanmean(self.human))
            # The sum over r' of (y_r' - y_r)^2, expanded; the rater's own term is 0.
            found = (values**2).sum(axis=0) - 2 * values * values.sum(axis=0) + number * values**2
            found = np.round(
                np.maximum(found, 0), _DECIMALS
            )  # people who agree have 0, not a rest of rounding
        return np.where(given & (number > 1), found / np.maximum(number - 1, 1), np.nan)


def _sum_by_group(values: FloatArray, groups: IntArray, number: int) -> FloatArray:
    # (groups, raters): weights of documents multiply the first axis.
    return np.stack([np.bincount(groups, row, number) for row in np.nan_to_num(values)], axis=1)


@dataclass(frozen=True, eq=False)
class _Control:
    """values: (items,), fitted on all raters. losses: (raters, items), fitted on the other raters."""

    values: FloatArray
    losses: FloatArray
    panel_losses: FloatArray
    """The same of `values`: for these raters alone, a control may know them."""
    is_of_length: bool = False


def _mean_of_items(panel: _Panel, values: FloatArray) -> _ByRater:
    """The mean of values (raters, items) over a rater's items."""
    return ratio_of_sums(
        panel.sum_by_document(values), panel.sum_by_document((~np.isnan(values)).astype(float))
    )


def _order_of_systems(panel: _Panel, values: FloatArray) -> _ByRater:
    """Kendall's tau-b of system means of values (items,) and of each rater's; 0 if the values do not vary."""
    given = ~np.isnan(panel.human)
    number = panel.sum_by_system(given.astype(float))
    # The judge's means use the rater's own items only, so gaps change both sides in the same way.
    sides = [panel.sum_by_system(np.where(given, each, 0.0)) for each in (values, panel.human)]
    first, second = np.triu_indices(panel.system_number, 1)

    def taus(weights: FloatArray) -> FloatArray:
        shape = len(weights), len(panel.human), panel.system_number
        counts = (weights @ number).reshape(shape)
        signs = []
        for sums in sides:
            means = divide_where(counts > 0, (weights @ sums).reshape(shape), counts)
            difference = means[..., first] - means[..., second]
            signs.append(np.where(np.abs(difference) < _TINY, 0.0, np.sign(difference)))
        # A pair with a system that is missing from the resample counts for neither side.
        judge, rater = (np.where(np.isnan(signs[0]), 0.0, each) for each in signs)
        # Tau-b divides by the root of the numbers of pairs that each side does not tie.
        divisor = np.sqrt((judge**2).sum(axis=-1) * (rater**2).sum(axis=-1))
        found = divide_where(divisor > 0, (judge * rater).sum(axis=-1), divisor)
        # Ties alone give 0; only a rater with fewer than two systems has no order.
        return np.where((counts > 0).sum(axis=-1) >= 2, np.nan_to_num(found), np.nan)

    return taus


def _order_within(panel: _Panel, values: FloatArray) -> _ByRater:
    """Pearson's r of values (items,) and each rater's within a system, mean over systems; 0 if constant."""
    given = ~np.isnan(panel.human)
    # A centre near 0 changes no correlation and keeps the digits of the sums of squares.
    own = np.broadcast_to(values - values.mean(), panel.human.shape)
    people = panel.human - np.nanmean(panel.human)
    # Six sums by document give the correlations of every resample as a product of matrices.
    products = [np.ones_like(people), own, people, own**2, people**2, own * people]
    sums = [panel.sum_by_system(np.where(given, each, 0.0)) for each in products]

    def correlations(weights: FloatArray) -> FloatArray:
        shape = len(weights), len(panel.human), panel.system_number
        number, x, y, xx, yy, xy = ((weights @ each).reshape(shape) for each in sums)
        items = np.maximum(number, 1)
        of_values, of_people = xx - x**2 / items, yy - y**2 / items
        # A system counts if the rater's values vary there; a judge that does not vary has r = 0.
        used = (number >= _LEAST_OF_SYSTEM) & (of_people > _TINY)
        varies = used & (of_values > _TINY)
        found = divide_where(varies, xy - x * y / items, np.sqrt(np.maximum(of_values * of_people, 0)))
        systems = used.sum(axis=-1)
        return divide_where(systems > 0, np.nan_to_num(found).sum(axis=-1), systems)

    return correlations


@dataclass(frozen=True, eq=False)
class _Inference:
    """Statistics of a panel with their intervals."""

    panel: _Panel
    generator: Randomness
    replicates: int
    confidence_level: float

    def estimate(
        self, by_rater: _ByRater, *, limit: float | None = None, without: Sequence[float] | None = None
    ) -> ErrorStatistic:
        """The mean over raters with its intervals.

        limit: of the absolute value, for statistics whose interval starts from the mean of the resamples.
        without: the statistic without each rater in turn; else the mean over the others.
        """
        of_raters, shares = by_rater(np.ones((1, self.panel.document_number)))[0], _shares(self.panel)
        if np.isnan(of_raters).any():
            found = _mean_of(of_raters, shares)
            return ErrorStatistic(None if np.isnan(found) else found, reason=_TOO_FEW_OF_RATER)
        value = float(of_raters @ shares)
        drawn = np.concatenate([by_rater(weights) for weights in self._weights()])
        # A resample in which one rater has no value is excluded; too many of these leave no interval.
        drawn = drawn[~np.isnan(drawn).any(axis=1)]
        if len(drawn) < self.replicates * (1 - _MOST_UNDEFINED):
            return ErrorStatistic(value, reason=_TOO_FEW_OF_RATER)
        documents = self.panel.document_number
        # The variance among resamples of D documents is too small by the factor (D - 1) / D.
        spread = np.atleast_2d(np.cov(drawn, rowvar=False)) * documents / (documents - 1)
        if without is None:
            without = [
                _mean_of(np.delete(of_raters, each), np.delete(shares, each)) for each in range(len(shares))
            ]
        start = value if limit is None else float((drawn @ shares).mean())
        return self._add_intervals(value, start, spread, without, limit or np.inf)

    def mean(self, by_rater: _ByRater) -> float | None:
        """The mean over raters alone."""
        found = _mean_of(by_rater(np.ones((1, self.panel.document_number)))[0], _shares(self.panel))
        return None if np.isnan(found) else found

    def _weights(self) -> Sequence[FloatArray]:
        drawn_from = independent(self.panel.document_number, "documents")
        return list(draw_weights(drawn_from, substream(self.generator, "judge error"), self.replicates))

    def _add_intervals(
        self, value: float, start: float, spread: FloatArray, without: Sequence[float], limit: float
    ) -> ErrorStatistic:
        shares, documents = _shares(self.panel), self.panel.document_number
        of_documents = float(shares @ spread @ shares)
        is_order = np.isfinite(limit)
        # Without spread there is no interval, except for an order that is the same in enough documents.
        if of_documents < _TINY**2 and not (is_order and documents >= _LEAST_OF_SAME_ORDER):
            return ErrorStatistic(value, reason="The value is the same in every resample of documents.")

        def interval(variance: float, freedom: float) -> tuple[float, float]:
            reach = t_reach(float(np.sqrt(variance)), freedom, self.confidence_level)
            # The interval must contain the value, although it starts from the mean of the resamples.
            return max(min(start, value) - reach, -limit), min(max(start, value) + reach, limit)

        panel = interval(of_documents, documents - 1)
        if len(shares) < LEAST_RATERS:
            return ErrorStatistic(
                value, None, None, *panel, reason="Two raters do not show how raters differ."
            )
        variance, freedom = _two_way_variance(spread, np.asarray(without), shares, documents)
        return ErrorStatistic(value, *interval(variance, freedom), *panel)


def _two_way_variance(
    spread: FloatArray, without: FloatArray, shares: FloatArray, documents: int
) -> tuple[float, float]:
    """The variance over documents and raters, and its degrees of freedom.

    spread: (raters, raters), covariance over documents of each rater's statistic. without: (raters,), the
    statistic without each rater.
    """
    raters = len(shares)
    of_documents = float(shares @ spread @ shares)
    # V_R: the variance of the delete-one jackknife over raters.
    of_raters = float((raters - 1) / raters * np.sum((without - without.mean()) ** 2))
    # V_D consists of each rater's own variance over documents and of the covariances of raters.
    own = shares**2 @ np.diag(spread)
    common = (of_documents - own) / (1 - shares @ shares)
    # V_E: the part of a rater's own variance that is not common to all raters.
    of_both = max(0.0, float(own - common * (shares @ shares)))
    parts = [(of_documents, documents - 1), (of_raters, raters - 1)]
    both = of_documents + of_raters - of_both
    # An estimate of V_E that is too large must not push the sum below V_D or V_R.
    if both <= max(parts)[0]:
        return max(parts)
    # The minus subtracts V_E from the sum; in the degrees of freedom its square counts.
    freedom = satterthwaite_freedom([*parts, (-of_both, (raters - 1) * (documents - 1))])
    return both, freedom or raters - 1


def _shares(panel: _Panel) -> FloatArray:
    """(raters,): each rater's share of the values."""
    given = (~np.isnan(panel.human)).sum(axis=1)
    return np.asarray(given / given.sum())


def _mean_of(values: FloatArray, shares: FloatArray) -> float:
    known = ~np.isnan(values)
    return float(values[known] @ shares[known] / shares[known].sum()) if known.any() else float("nan")


def _measure_judge(inference: _Inference, judge: FloatArray) -> JudgeError:
    panel = inference.panel

    def ahead_of_people(values: FloatArray, share: float) -> ErrorStatistic:
        if len(panel.human) < 2:
            return ErrorStatistic(reason="One rater rated these items; a second is needed.")

        def of(part: _Panel) -> _ByRater:
            # The share 0 gives the advantage, a larger share the margin that a judge may use up.
            return _mean_of_items(part, (1 + share) * part.losses_of_others() - part.losses(values))

        # Without a rater the losses of the others change too, so each value needs its own panel.
        smaller = [panel.without(each) for each in range(len(panel.human))] if len(panel.human) > 2 else []
        whole = np.ones((1, panel.document_number))
        without = [_mean_of(of(part)(whole)[0], _shares(part)) for part in smaller]
        return inference.estimate(of(panel), without=without or None)

    named = ErrorStatistic(reason=_NO_ORDER)
    if panel.is_named:
        bias, order, within, corrected = named, named, named, judge
    else:
        bias = inference.estimate(_mean_of_items(panel, judge - panel.human))
        order = inference.estimate(_order_of_systems(panel, judge), limit=1)
        within = inference.estimate(_order_within(panel, judge), limit=1)
        corrected = _remove_bias(panel, judge)
    return JudgeError(
        *panel.size,
        bias,
        ahead_of_people(judge, 0.0),
        ahead_of_people(judge, ACCEPTED_LOSS),
        ahead_of_people(corrected, ACCEPTED_LOSS),
        order,
        within,
        _root(inference.mean(_mean_of_items(panel, panel.losses(judge)))),
        _root(inference.mean(_mean_of_items(panel, panel.losses_of_others()))),
    )


def _measure_control(inference: _Inference, judge: FloatArray, control: _Control) -> ControlError:
    panel = inference.panel

    def lead(values: FloatArray) -> ErrorStatistic:
        own = panel.losses(values)
        # For other raters the control is fitted without the rater; for these alone it may know all.
        like_these = inference.estimate(_mean_of_items(panel, control.losses - own))
        these = inference.estimate(_mean_of_items(panel, control.panel_losses - own))
        return replace(like_these, panel_low=these.panel_low, panel_high=these.panel_high)

    beyond, corrected = lead(judge), lead(judge if panel.is_named else _remove_bias(panel, judge))
    error = _root(inference.mean(_mean_of_items(panel, control.losses)))
    if panel.is_named:
        return ControlError(error, None, None, beyond, corrected, ErrorStatistic(reason=_NO_ORDER))
    order = _order_of_systems(panel, control.values)
    tau = inference.mean(order)
    if not control.is_of_length:
        return ControlError(error, tau, 0.0, beyond, corrected, ErrorStatistic(reason=_NO_CONTROL_OF_ORDER))
    one = _order_of_systems(panel, judge)
    return ControlError(
        error,
        tau,
        inference.mean(_order_within(panel, control.values)),
        beyond,
        corrected,
        # Two taus between -1 and 1 differ by no more than 2.
        inference.estimate(lambda weights: one(weights) - order(weights), limit=2),
    )


_NO_ORDER = "The values are category names, which have no order."
_NO_CONTROL_OF_ORDER = "Only the length is a control for the order of systems."


def _root(value: float | None) -> float | None:
    return None if value is None else float(np.sqrt(max(value, 0.0)))


def _remove_bias(panel: _Panel, judge: FloatArray) -> FloatArray:
    """(items,): the judge's values minus its bias on the other documents."""
    differences = judge - panel.human
    sums = panel.sum_by_document(differences).sum(axis=1)
    number = panel.sum_by_document((~np.isnan(differences)).astype(float)).sum(axis=1)
    bias = (sums.sum() - sums) / (number.sum() - number)
    return np.asarray(judge - bias[panel.documents])


def _make_controls(
    panel: _Panel, judge: FloatArray, lengths: FloatArray | None, generator: Randomness
) -> dict[str, _Control]:
    # With one group for all items, the constant is fitted like the values of systems.
    everyone = np.zeros(len(judge), dtype=np.intp)

    def sort_by_group(groups: IntArray) -> _Control:
        def fit(part: _Panel) -> list[FloatArray]:
            if part.is_named:
                return values_by_group(part.human, [_share_of(part)], groups, part.documents)
            # The mean has the least squared loss; for categories all points are tried.
            return [means_elsewhere(mean_values(part.human), groups, part.documents)]

        return _fit_control(panel, fit)

    def by_length(part: _Panel) -> list[FloatArray]:
        assert lengths is not None  # so the caller says
        if part.is_named:
            return values_by_length(part.human, [_share_of(part)], lengths, part.documents, generator)
        return means_by_length(mean_values(part.human), lengths, part.documents, generator)

    found = {"constant": sort_by_group(everyone), "system": sort_by_group(panel.systems)}
    if lengths is not None:
        found["length"] = replace(_fit_control(panel, by_length), is_of_length=True)
    # The judge's values of a system's other items, each as likely; its own if there are none.
    points, codes = np.unique(judge, return_inverse=True)
    counts = np.zeros((panel.system_number, len(points)))
    np.add.at(counts, (panel.systems, codes), 1.0)
    others = counts[panel.systems]
    alone = others.sum(axis=1) == 1
    others[~alone, codes[~alone]] -= 1
    shares = others / others.sum(axis=1, keepdims=True)
    # The expected loss over all shuffles is exact, so this control adds no random noise.
    losses = np.zeros_like(panel.human)
    for point, share in zip(points, shares.T, strict=True):
        losses += share * panel.losses(np.full(len(judge), point))
    shuffled = _Control(judge, losses, losses)
    return found | {"shuffled": shuffled}


def _share_of(panel: _Panel) -> Callable[[float], FloatArray]:
    human = panel.human
    return lambda point: mean_values(np.where(np.isnan(human), np.nan, human == point))


def _fit_control(panel: _Panel, fit: Callable[[_Panel], list[FloatArray]]) -> _Control:
    """The control from a fit, for each rater from the others; of several rules the one with the least
    loss.
    """

    def best(part: _Panel) -> FloatArray:
        def mean_loss(values: FloatArray) -> float:
            losses = part.losses(values)
            return np.inf if np.isnan(losses).all() else float(np.nanmean(losses))

        return min(fit(part), key=mean_loss)

    whole = best(panel)
    if len(panel.human) < 2:
        return _Control(whole, panel.losses(whole), panel.losses(whole))
    # Fitted to the rater's own values too, a control would be closer to them than it should.
    from_others = np.array([best(panel.without(each)) for each in range(len(panel.human))])
    unknown = np.isnan(from_others)  # a system that the others did not rate
    return _Control(whole, panel.losses(np.where(unknown, whole, from_others)), panel.losses(whole))


def _separated_pairs(scores: Scores, human: FloatArray, confidence_level: float) -> SeparatedPairs | None:
    documents, systems = len(scores.document_labels), len(scores.system_names)
    table = np.full((len(human), documents, systems), np.nan)
    table[:, scores.documents, scores.systems] = human
    # The crossed model needs the value of every rater for every item.
    if np.isnan(table).any() or why_not_crossed(table):
        return None
    found = crossed_differences(
        table, [str(each) for each in range(systems)], confidence_level=confidence_level
    )
    means = scores.by_document(scores.judge).mean(axis=0)
    sure = [
        (each.value or 0.0, means[int(each.first)] - means[int(each.second)])
        for each in found.differences
        if each.adjusted_p_value is not None and each.adjusted_p_value < 1 - confidence_level
    ]
    # A judge that ties two systems does not have the same sign as people.
    return SeparatedPairs(sum(people * judge > 0 for people, judge in sure), len(sure))
