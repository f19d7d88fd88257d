"""The uses of a judge on a dimension that its measured error allows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agreement.reliability.correction_gain import CorrectionGain
from agreement.reliability.judge_error import ErrorStatistic, JudgeError

LEAST_SAVING = 0.1
"""The share of people's ratings that a judge must save if it corrects means."""
_WEAK_ALPHA = 0.4
_CONTROLS = {
    "constant": "a constant",
    "system": "one value for each system",
    "length": "the length of the text",
    "shuffled": "its own values shuffled within systems",
}


class JudgeUse(StrEnum):
    """The possible uses of a judge."""

    RANK = "rank systems"
    SCORE = "score single texts"
    MEANS = "means after correction of bias"


class Shown(StrEnum):
    """The evidence for a use: for raters like these, for these raters alone, none, or for the opposite."""

    SURELY = "shown"
    FOR_PANEL = "shown for these raters"
    NOT = "not shown"
    REFUTED = "ruled out"


@dataclass(frozen=True)
class UseFinding:
    """A use, its evidence, and the reason."""

    use: JudgeUse
    shown: Shown
    says: str

    @property
    def is_granted(self) -> bool:
        """Whether the judge may be used so."""
        return self.shown in (Shown.SURELY, Shown.FOR_PANEL)


def find_uses(
    error: JudgeError, gain: CorrectionGain, *, alpha_among_people: float | None = None
) -> tuple[UseFinding, ...]:
    """Return a finding for each use of a judge.

    Rank systems: tau above 0, and above the tau of the length. Score single outputs: the margin above 0, and
    a smaller loss than every control. A use is supported if every interval is above 0, and ruled out if one
    is below 0. Means after correction: the lower bound of the saving is a tenth or more. alpha_among_people:
    names the cause if people agree too little for a result.
    """
    return _ranking(error), _single_texts(error, alpha_among_people), _corrected_means(gain)


def _ranking(error: JudgeError) -> UseFinding:
    tau = error.order_of_systems
    if error.systems < 2:
        return UseFinding(JudgeUse.RANK, Shown.NOT, "There is only one system.")
    if tau.value is None:
        return UseFinding(JudgeUse.RANK, Shown.NOT, tau.reason)
    if tau.panel_low is None:
        says = f"Kendall’s tau with people is {tau.value:.2f}, without an interval. {tau.reason}"
        return UseFinding(JudgeUse.RANK, Shown.NOT, says)
    length = error.controls.get("length")
    shown = _decide([tau, length.order_beyond] if length else [tau])
    says = f"Kendall’s tau with people is {tau.value:.2f}{_interval(tau)}"
    if length is not None and length.order_of_systems is not None:
        says += f"; the texts’ length has {length.order_of_systems:.2f}"
    if shown is Shown.FOR_PANEL:
        return UseFinding(JudgeUse.RANK, shown, f"{says}. {_new_panel(error)}")
    if shown is Shown.NOT:
        beaten = length is None or not tau.is_positive_for_panel
        why = "It may be 0: rate more documents or systems" if beaten else _LENGTH_RANKS
        return UseFinding(JudgeUse.RANK, shown, f"{says}. {why}.")
    return UseFinding(JudgeUse.RANK, shown, f"{says}.")


_LENGTH_RANKS = "The length alone may rank them as well: rate more documents or systems"


def _single_texts(error: JudgeError, alpha_among_people: float | None) -> UseFinding:
    margin = error.margin
    if margin.value is None or error.error is None or error.person_error is None:
        return UseFinding(JudgeUse.SCORE, Shown.NOT, margin.reason)
    beyond = {name: control.beyond for name, control in error.controls.items()}
    is_perfect = error.error == 0  # no margin is above 0 if people agree perfectly, too
    shown = _decide([*beyond.values()] if is_perfect else [margin, *beyond.values()])
    says = f"Its error is {error.error:.2f}, that of a second person {error.person_error:.2f}"
    if shown is Shown.SURELY:
        return UseFinding(JudgeUse.SCORE, shown, f"{says}, and it beats every control.")
    if shown is Shown.FOR_PANEL:
        return UseFinding(JudgeUse.SCORE, shown, f"{says}, and it beats every control. {_new_panel(error)}")
    after = _advise_after_correction(error)
    if margin.is_surely_negative:
        return UseFinding(JudgeUse.SCORE, Shown.REFUTED, f"{says}: too much.{after}")
    worse = [name for name, each in beyond.items() if each.is_surely_negative]
    if worse:
        return UseFinding(JudgeUse.SCORE, shown, f"{says}. It is worse than {_names(worse)}.{after}")
    if margin.panel_low is None and not is_perfect:
        return UseFinding(JudgeUse.SCORE, Shown.NOT, f"{says}, without an interval. {margin.reason}")
    level = [name for name, each in beyond.items() if not each.is_positive_for_panel]
    why = f"It is not shown to beat {_names(level)}" if level else "It may be larger than accepted"
    return UseFinding(JudgeUse.SCORE, shown, f"{says}. {why}{_remedy(alpha_among_people)}{after}")


def _remedy(alpha: float | None) -> str:
    if alpha is not None and alpha < _WEAK_ALPHA:
        return f"; raters agree too little (alpha {alpha:.2f}) to tell."
    return ": rate more documents."


def _advise_after_correction(error: JudgeError) -> str:
    """Return a note that the judge would suffice after subtraction of its bias, if so."""
    needed = [error.corrected_margin, *(each.corrected_beyond for each in error.controls.values())]
    if error.bias.value is None or not all(each.is_positive_for_panel for each in needed):
        return ""
    return f" Subtract its bias ({error.bias.value:+.2f} points) first: then it is close enough."


def _corrected_means(gain: CorrectionGain) -> UseFinding:
    found = gain.means
    if found is None:
        return UseFinding(JudgeUse.MEANS, Shown.NOT, gain.reason)
    if found.saving_interval is None:
        return UseFinding(JudgeUse.MEANS, Shown.NOT, "The saving has no interval: rate more documents.")
    low, high = (round(bound, 2) + 0.0 for bound in found.saving_interval)  # 0 for -0
    if found.saving > 0:
        says = f"It saves {found.saving:.0%} of people’s ratings (95 % interval {low:.0%} to {high:.0%})"
    else:
        says = f"It saves no ratings (95 % interval {low:.0%} to {high:.0%})"
    if low >= LEAST_SAVING:
        return UseFinding(JudgeUse.MEANS, Shown.SURELY, f"{says}.")
    if high < LEAST_SAVING:
        return UseFinding(JudgeUse.MEANS, Shown.REFUTED, f"{says}: less than a tenth.")
    return UseFinding(JudgeUse.MEANS, Shown.NOT, f"{says}. It may be less than a tenth: rate more documents.")


def _decide(needed: Sequence[ErrorStatistic]) -> Shown:
    if all(each.is_surely_positive for each in needed):
        return Shown.SURELY
    if all(each.is_positive_for_panel for each in needed):
        return Shown.FOR_PANEL
    return Shown.REFUTED if any(each.is_surely_negative for each in needed) else Shown.NOT


def _new_panel(error: JudgeError) -> str:
    return f"That is for these {error.raters} raters; more raters would show whether it is for others."


def _interval(found: ErrorStatistic) -> str:
    return "" if found.interval is None else " (95 % interval {:.2f} to {:.2f})".format(*found.interval)


def _names(controls: Iterable[str]) -> str:
    names = [_CONTROLS.get(each, each) for each in controls]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
