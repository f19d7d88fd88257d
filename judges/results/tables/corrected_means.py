"""Tables of systems with means corrected by a judge, and of the judge's savings."""

from collections.abc import Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement.reliability import CorrectionGain, Gain
from agreement.system_differences import KNOWN
from annotate.results.queries.by_system import difference_cell
from annotate.results.queries.compared_systems import RATERS
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from annotate.results.text import MINUS
from judges.results.queries.estimates import DimensionCorrection
from judges.results.tables.columns import SYSTEM, number_or_reason

FEW_RATERS = 3
YES, NO = "yes", "no"
_HOW = gettext_lazy(
    "Regression estimate with two slopes pooled over systems (function correct_systems); jackknife over "
    "documents, plus the variance of raters; t interval with Satterthwaite’s degrees of freedom; sources: "
    "Cochran 1977, section 7; Angelopoulos, Duchi and Zrnic 2023."
)
_OF_PEOPLE = gettext_lazy("Mean of the raters’ means over the rated items (function correct_systems).")
_HOW_GAIN = gettext_lazy(
    "Variance with people alone divided by the variance with the judge (function correction_gain); interval "
    "by leaving out each document; sources: Cochran 1977, section 7.5; Quenouille 1956."
)
_ADJUSTED = gettext_lazy("p values adjusted over all pairs of a dimension: Holm 1979.")
_ABOUT_RATERS = gettext_lazy(
    "Raters and documents are samples: intervals and ranks are about other raters and documents like these. "
    "The judge cannot reduce what raters differ by. Raters are taken to differ as much on every system."
)
_FEW = gettext_lazy(
    "{count} raters show little of how raters differ in severity, so intervals of means are wide; severity "
    "cancels in differences and ranks."
)
_DISCUSSED = gettext_lazy(
    "These values follow a discussion, so other raters would differ by more than these raters do."
)
_NO_PAIRS = gettext_lazy("There are no ranks without a tested pair.")


def corrected_sentence(
    corrections: Sequence[DimensionCorrection], about: str, about_others: str, *, independent: bool
) -> str:
    """Return the scope of corrected means, and the dimensions on which it differs from the requested one.

    about_others: their scope if raters are fixed. independent: True if raters had not seen each other's
    values.
    """
    found = [(each, each.systems) for each in corrections if each.systems]
    says = []
    if found:
        says.append(str(_ABOUT_RATERS) if about == RATERS else about_others)
    raters = [each.raters for each, systems in found if not systems.why_raters_given]
    if about == RATERS and raters and min(raters) <= FEW_RATERS:
        says.append(str(_FEW).format(count=min(raters)))
    if about == RATERS and found and not independent:
        says.append(str(_DISCUSSED))
    return " ".join([*says, why_not_corrected(corrections)]).strip()


def why_not_corrected(corrections: Sequence[DimensionCorrection]) -> str:
    """Return why means are not corrected, or raters are no sample, with the dimensions of each reason."""
    reasons: dict[str, list[str]] = {}
    for each in corrections:
        own = each.systems
        for why in (own.why_not_corrected, own.why_raters_given) if own else (each.reason,):
            reasons.setdefault(why, []).append(each.dimension.name)
    return " ".join(f"{', '.join(names)}: {why}" for why, names in reasons.items() if why)


def corrected_table(corrections: Sequence[DimensionCorrection], judge: str) -> Table:
    columns = [
        DIMENSION,
        SYSTEM,
        Column("corrected", gettext("corrected mean"), decimals=2),
        Column("people", gettext("people’s own mean"), decimals=2),
        Column("rated", gettext("rated"), ColumnKind.COUNT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("ranks", gettext("ranks"), ColumnKind.TEXT),
        Column("letters", gettext("groups"), ColumnKind.TEXT),
        Column("caution", gettext("caution"), ColumnKind.TEXT),
    ]
    rows = []
    for one in corrections:
        means = one.systems.means if one.systems else ()
        lowest, highest = one.dimension.scale_minimum, one.dimension.scale_maximum
        for mean in sorted(means, key=lambda each: (each.value is None, -(each.value or 0.0))):
            low, high = (
                None if end is None else min(max(end, lowest), highest) for end in (mean.low, mean.high)
            )
            corrected = Cell(
                mean.value,
                low=low,
                high=high,
                interval_reason=mean.interval_reason if mean.value is not None else "",
                count=mean.ratings,
                reason=mean.reason,
                how=str(_HOW),
            )
            why = "" if mean.ratings else mean.reason
            ranks = f"{mean.best}" if mean.best == mean.worst else f"{mean.best}–{mean.worst}"
            rows.append(
                [
                    text(one.dimension.name, key=one.dimension.key),
                    text(mean.system),
                    corrected,
                    Cell(mean.people, count=mean.ratings, reason=why, how=str(_OF_PEOPLE)),
                    Cell(mean.ratings),
                    Cell(mean.texts),
                    Cell(reason=str(_NO_PAIRS)) if mean.best is None else text(ranks),
                    text(mean.letters) if mean.letters else Cell(reason=str(_NO_PAIRS)),
                    text("" if mean.value is None else one.cautions[mean.system]),
                ]
            )
    says = gettext(
        "Judge: {judge}. The corrected mean adds to people’s own mean what the judge shows of the items that "
        "they did not rate. All sets of ranks of a dimension are valid together. Groups: systems with a "
        "common letter do not surely differ (Holm)."
    ).format(judge=judge)
    return Table("corrected", gettext("Systems by corrected mean"), columns, rows, heads=2, says=says)


def corrected_pairs_table(corrections: Sequence[DimensionCorrection]) -> Table:
    columns = [
        DIMENSION,
        Column("first", gettext("first"), ColumnKind.TEXT),
        Column("second", gettext("second"), ColumnKind.TEXT),
        Column("difference", gettext("first minus second"), decimals=2),
        Column("p_value", "p", ColumnKind.P_VALUE),
        Column("adjusted_p_value", gettext("p by Holm"), ColumnKind.P_VALUE),
    ]
    how = f"{_HOW} {_ADJUSTED}"
    rows = [
        [
            text(one.dimension.name, key=one.dimension.key),
            text(each.first),
            text(each.second),
            difference_cell(each, str(_HOW), ()),
            number_or_reason(each.p_value, each.reason or str(KNOWN), how),
            number_or_reason(each.adjusted_p_value, each.reason or str(KNOWN), how),
        ]
        for one in corrections
        if one.systems
        for each in one.systems.differences
    ]
    title = gettext("Differences of corrected means")
    says = gettext(
        "Intervals are per pair. p by Holm and the groups are corrected for all pairs of a dimension, not "
        "over dimensions."
    )
    return Table("corrected-pairs", title, columns, rows, heads=3, says=says)


def gain_table(corrections: Sequence[DimensionCorrection]) -> Table:
    columns = [
        DIMENSION,
        Column("gain", gettext("gain in means"), decimals=2),
        Column("saving", gettext("ratings saved"), ColumnKind.SHARE, decimals=2),
        Column("gain_of_differences", gettext("gain in differences"), decimals=2),
        Column("share", gettext("share of items that people rate"), ColumnKind.SHARE, decimals=2),
        Column("supposed", gettext("share is supposed"), ColumnKind.TEXT),
        Column("documents", gettext("rated documents"), ColumnKind.COUNT),
    ]
    rows = []
    for one in corrections:
        found, gain = one.gain, one.gain.means
        if gain is None:
            saving = Cell(reason=found.reason)
        else:
            low, high = gain.saving_interval or (None, None)
            saving = Cell(gain.saving, low=low, high=high, count=found.documents, how=str(_HOW_GAIN))
        rows.append(
            [
                text(one.dimension.name, key=one.dimension.key),
                _gain_cell(gain, found),
                saving,
                _gain_cell(found.differences, found),
                number_or_reason(found.share, found.reason),
                text(gettext("yes"), key=YES) if one.is_supposed else text(gettext("no"), key=NO),
                Cell(found.documents),
            ]
        )
    says = gettext(
        "Gain: the variance with people alone divided by the variance with the judge, over documents; 1.25 "
        "means that people alone need 1.25 times as many ratings. It is within systems: a judge that only "
        "knows which system is better gains nothing."
    )
    return Table("gain", gettext("Ratings that the judge saves"), columns, rows, heads=1, says=says)


def _gain_cell(gain: Gain | None, found: CorrectionGain) -> Cell:
    if gain is None:
        return Cell(reason=found.reason or gettext("A difference needs two systems."))
    return Cell(gain.value, low=gain.low, high=gain.high, count=found.documents, how=str(_HOW_GAIN))


_NOTHING = 0.005  # lower values are rounded to 0 %
_SAVES = gettext_lazy("The judge saves this share of the ratings: {saved}.")
_SAVES_NOTHING = gettext_lazy(
    "The judge saves no ratings: within systems its scores hardly rise with people’s."
)
_WOULD_SAVE = gettext_lazy(
    "If people rated a fifth of the documents (5 or more), the judge would save this share of the ratings: "
    "{saved}."
)
_WOULD_SAVE_NOTHING = gettext_lazy(
    "If people rated a fifth of the documents (5 or more), the judge would save no ratings: within systems "
    "its scores hardly rise with people’s."
)


def gain_sentence(table: Table | None) -> str:
    """Return a message on the judge's savings, from `gain_table`; two if some shares are supposed."""
    if table is None:
        return ""
    keys = [column.key for column in table.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in table.rows]
    says = []
    for supposed, saves, saves_nothing in (
        (YES, _WOULD_SAVE, _WOULD_SAVE_NOTHING),
        (NO, _SAVES, _SAVES_NOTHING),
    ):
        own = [row for row in rows if row["supposed"].key == supposed and row["saving"].value is not None]
        saved = []
        for row in own:
            name, saving = row["dimension"].value, row["saving"]
            if not isinstance(saving.value, float) or saving.value < _NOTHING:
                continue
            if saving.low is None or saving.high is None:
                saved.append(f"{name} {_percent(saving.value)}")
                continue
            ends = {"low": _percent(saving.low), "high": _percent(saving.high)}
            message = gettext("{name} {saving} (interval {low} to {high})")
            saved.append(message.format(name=name, saving=_percent(saving.value), **ends))
        if own:
            says.append(str(saves).format(saved=", ".join(saved)) if saved else str(saves_nothing))
    return " ".join(says)


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %".replace("-", MINUS)
