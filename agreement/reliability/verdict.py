"""The verdict on a judge on a dimension, from all evidence, and the uses that its measured error allows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from agreement.reliability.alternative_annotator import Verdict
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
    # The judge must also rank better than the lengths alone, if these are known.
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
    # Not granted: the strongest evidence against it comes first.
    after, needed = "", [error.corrected_margin, *(each.corrected_beyond for each in error.controls.values())]
    if error.bias.value is not None and all(each.is_positive_for_panel for each in needed):
        after = f" Subtract its bias ({error.bias.value:+.2f} points) first: then it is close enough."
    if margin.is_surely_negative:
        return UseFinding(JudgeUse.SCORE, Shown.REFUTED, f"{says}: too much.{after}")
    worse = [name for name, each in beyond.items() if each.is_surely_negative]
    if worse:
        return UseFinding(JudgeUse.SCORE, shown, f"{says}. It is worse than {_names(worse)}.{after}")
    if margin.panel_low is None and not is_perfect:
        return UseFinding(JudgeUse.SCORE, Shown.NOT, f"{says}, without an interval. {margin.reason}")
    level = [name for name, each in beyond.items() if not each.is_positive_for_panel]
    why = f"It is not shown to beat {_names(level)}" if level else "It may be larger than accepted"
    remedy = ": rate more documents."
    if alpha_among_people is not None and alpha_among_people < _WEAK_ALPHA:
        remedy = f"; raters agree too little (alpha {alpha_among_people:.2f}) to tell."
    return UseFinding(JudgeUse.SCORE, shown, f"{says}. {why}{remedy}{after}")


def _corrected_means(gain: CorrectionGain) -> UseFinding:
    found = gain.means
    if found is None:
        return UseFinding(JudgeUse.MEANS, Shown.NOT, gain.reason)
    if found.saving_interval is None:
        return UseFinding(JudgeUse.MEANS, Shown.NOT, "The saving has no interval: rate more documents.")
    # The verdict compares the rounded percentages, which are the ones that the message shows.
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
    # The widest claim first: for raters like these, then for these alone.
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


class Use(StrEnum):
    """The units that a judge may decide: all, a part, a part that is not measured, or none."""

    ALL = "all"
    PART = "part"
    UNKNOWN = "unknown"
    REFUSED = "refused"


class Ground(StrEnum):
    """The evidence that a verdict rests on."""

    DRIFT = "drift"
    AUDIT = "audit"
    ALPHA = "alpha"
    ERRORS = "errors"
    CERTIFICATE = "certificate"
    CERTIFIED_CONSTANT = "certified constant"
    UNRATED = "unrated"
    REPLACEMENT = "replacement"
    SINGLE_TEXTS = "single texts"
    INDICATOR = "indicator"
    NOTHING = "nothing"


@dataclass(frozen=True)
class KnownErrors:
    """Rated units that stay with a judge, the number of its errors among them, and the accepted share."""

    rated: int
    wrong: int
    accepted: float
    units: str = "rated units that stay"

    @property
    def share(self) -> float:
        """Return the share of wrong units among the rated ones."""
        return self.wrong / self.rated

    @property
    def are_too_many(self) -> bool:
        """Whether the share is above the accepted one."""
        return self.share > self.accepted

    def __str__(self) -> str:
        counts = f"{self.wrong:,} of {self.rated:,} {self.units}"
        return f"wrong on {counts} ({100 * self.share:.0f} %); {100 * self.accepted:.4g} % is accepted"


@dataclass(frozen=True)
class CertifiedPart:
    """A valid certificate: `kept` of `units` stay with the judge.

    constant, constant_share: the value of a constant judge that is certified too, and the share that it
    keeps. known: the errors among all kept units, if people have rated every one.
    """

    kept: int
    units: int
    constant: float | None = None
    constant_share: float | None = None
    known: KnownErrors | None = None

    @property
    def is_of_the_scale(self) -> bool:
        """Whether a constant judge is certified for as many units."""
        return self.constant_share is not None and self.constant_share >= self.kept / self.units


@dataclass(frozen=True)
class JudgeEvidence:
    """The evidence on a judge on a dimension.

    is_rated: whether people have rated any unit. alpha: with people's mean. bias: the judge's mean minus
    people's. replacement: of the test with its controls. r_tells: whether R goes
    with the agreement with people over systems. errors: on the units that a policy leaves to the judge.
    audit: the same over audited units, if the audit contradicts the policy. uses: of `find_uses`, empty if
    not computed. has_drifted: whether a control chart shows that it is another model by now.
    """

    is_rated: bool = False
    alpha: float | None = None
    bias: float | None = None
    replacement: Verdict | None = None
    r_tells: bool = False
    certificate: CertifiedPart | None = None
    errors: KnownErrors | None = None
    audit: KnownErrors | None = None
    uses: Sequence[UseFinding] = ()
    has_drifted: bool = False

    @property
    def may_decide_all(self) -> bool:
        """True if the replacement test and the error of single outputs allow it to decide every unit."""
        return not self.why_not_all

    @property
    def why_not_all(self) -> str:
        """Return the reason why it may not decide every unit; empty if it may."""
        if self.replacement in (Verdict.FAILS, Verdict.LIKE_A_CONTROL):
            return "It fails the replacement test, so it may not decide all units."
        if self.single_texts is not None and self.single_texts.shown is Shown.REFUTED:
            return "Its error on single texts is too large, so it may not decide all units."
        return ""

    @property
    def single_texts(self) -> UseFinding | None:
        """Return the finding about single outputs, None if not computed."""
        return next((each for each in self.uses if each.use is JudgeUse.SCORE), None)


@dataclass(frozen=True)
class JudgeVerdict:
    """The verdict, with its ground and one or two explanations.

    uses: a finding for each use; empty if nothing is known, or if the evidence rejects every use.
    """

    use: Use
    ground: Ground
    says: str
    uses: Sequence[UseFinding] = ()

    @property
    def refuses(self) -> bool:
        """Whether people rate every unit."""
        return self.use is Use.REFUSED

    @property
    def granted(self) -> Sequence[UseFinding]:
        """Return the findings of the supported uses."""
        return [each for each in self.uses if each.is_granted]


def judge_verdict(known: JudgeEvidence) -> JudgeVerdict:
    """Return the verdict: the units that the judge may decide, and the uses of its values.

    Too many errors among audited or rated units that stay, and alpha with people at or below zero, reject
    both. Else the strongest evidence decides about units: a certificate, the replacement test with the error
    of single outputs, then R. A judge that fails the replacement test may decide only a part of the units.
    """
    refused = _refusal(known)
    if refused is not None:
        return refused
    return replace(_judge_by_certificate(known) or _judge_without_certificate(known), uses=tuple(known.uses))


def _refusal(known: JudgeEvidence) -> JudgeVerdict | None:
    certified = known.certificate.known if known.certificate else None
    # Drift comes first: the other evidence is about the model before its change.
    if known.has_drifted:
        says = "Do not use it: its watch shows that it has changed since its first values, and no evidence"
        return _refuse(Ground.DRIFT, f"{says} is about the model that answers now.")
    if known.audit is not None:
        return _refuse(Ground.AUDIT, f"Do not use it: the audit contradicts the policy, it is {known.audit}.")
    if known.alpha is not None and known.alpha <= 0:
        says = f"Do not use it: its alpha with people is {known.alpha:.2f}, no better than chance."
        if known.bias is not None:
            side = "above" if known.bias > 0 else "below"
            says += f" On average it is {abs(known.bias):.2f} points {side} people."
        return _refuse(Ground.ALPHA, says)
    for errors in (known.errors, certified):
        if errors is not None and errors.are_too_many:
            return _refuse(Ground.ERRORS, f"Do not use it: it is {errors}.")
    return None


def _judge_by_certificate(known: JudgeEvidence) -> JudgeVerdict | None:
    found = known.certificate
    # A certificate for every unit would let the judge decide all, which the other evidence rejects.
    if found is None or (found.kept == found.units and not known.may_decide_all):
        return None
    kept = f"{found.kept:,} of {found.units:,} units"
    if not found.is_of_the_scale:
        says = f"It may decide {kept}, with a certificate."
        if found.known is not None:
            share = f"{100 * found.known.share:.0f} %"
            says = f"It may decide {kept}: people rated them all, and it is wrong on {share}."
        return JudgeVerdict(Use.PART, Ground.CERTIFICATE, says)
    # The replacement test has compared the judge with a constant too, and found it better.
    if known.replacement is Verdict.PASSES:
        return None
    return _refuse(
        Ground.CERTIFIED_CONSTANT,
        f"Do not rely on the certificate: a judge that always answers {found.constant:g} is certified for "
        f"{found.constant_share:.0%} of the units, too. It may be the scale that is certified.",
    )


def _judge_without_certificate(known: JudgeEvidence) -> JudgeVerdict:
    if not known.is_rated:
        return JudgeVerdict(Use.UNKNOWN, Ground.UNRATED, "Not known: these texts have no ratings.")
    single = known.single_texts
    if known.replacement is Verdict.PASSES and (single is None or single.is_granted):
        return JudgeVerdict(
            Use.ALL,
            Ground.REPLACEMENT,
            "It stands in for an annotator and beats every control. No certificate names the units.",
        )
    if known.r_tells:
        says = "R tells on which systems it agrees better with people: send systems with a small R to people."
        return JudgeVerdict(Use.PART, Ground.INDICATOR, f"{says} {known.why_not_all}".strip())
    if known.replacement is Verdict.PASSES and single is not None:
        says = f"It passes the replacement test, but a use for single texts is {single.shown}. {single.says}"
        return JudgeVerdict(Use.UNKNOWN, Ground.SINGLE_TEXTS, says)
    if known.replacement is Verdict.LIKE_A_CONTROL:
        return _refuse(Ground.REPLACEMENT, "Let it decide no unit: a control that knows less does as well.")
    if known.replacement is Verdict.FAILS:
        return _refuse(
            Ground.REPLACEMENT,
            "Let it decide no unit: it fails the replacement test, and nothing shows that R tells on which "
            "systems it agrees with people.",
        )
    if single is not None and single.shown is Shown.REFUTED:
        says = f"Let it not decide all units. {single.says} Nothing shows which part it may decide."
        return JudgeVerdict(Use.UNKNOWN, Ground.SINGLE_TEXTS, says)
    return JudgeVerdict(
        Use.UNKNOWN,
        Ground.NOTHING,
        "Not known: the replacement test needs more people or texts, and nothing shows that R tells on which "
        "systems it agrees with people.",
    )


def _refuse(ground: Ground, says: str) -> JudgeVerdict:
    return JudgeVerdict(Use.REFUSED, ground, says)
