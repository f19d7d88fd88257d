"""The page of estimates: mean scores, differences of systems, and widths after more ratings.

Also systems with means corrected by a judge, and the judge's savings.
"""

from collections.abc import Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement.reliability import LEAST_RATINGS, About, CorrectionGain, Gain
from agreement.system_differences import KNOWN
from annotate.core.models import Project
from annotate.results.queries.by_system import difference_cell
from annotate.results.queries.compared_systems import DOCUMENTS, RATERS, TEXTS
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text
from annotate.results.text import MINUS
from judges.results.queries.estimates import (
    DimensionCorrection,
    DimensionEstimates,
    EstimatesReport,
    SystemEstimates,
    estimates_report,
)
from judges.results.tables.columns import SYSTEM, add_caveats, estimate_cell, number_or_reason, yes_or_no
from judges.results.tables.compared import accuracy_table, f1_table
from judges.results.tables.parameters import chosen_judge, chosen_round, counts_corrected

_NO_P = gettext_lazy("There is no p value without a standard error of the difference.")
_NO_WIDTH = gettext_lazy("The width for this number of ratings is unknown.")
_NOT_WORTH = gettext_lazy("Without a combined estimate there is no equivalent number of ratings.")
_NOT_GUARANTEED = gettext_lazy("A guaranteed difference was not computed.")


def estimates_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return mean scores, differences of systems and widths by one judge and people. Seven queries."""
    judge = chosen_judge(project, chosen)
    report = estimates_report(
        project,
        judge,
        chosen_round(project, chosen),
        confidence_level=float(chosen["confidence"]),
        about=About(chosen["about"]),
        with_corrected=counts_corrected(chosen),
    )
    about = str(_ABOUT[chosen["about"]])
    # By reason, the dimensions without differences.
    reasons: dict[str, list[str]] = {}
    for one in report.dimensions:
        if one.no_differences:
            reasons.setdefault(one.no_differences, []).append(one.dimension.name)
    no_differences = " ".join(
        gettext("No differences for {names}: {reason}").format(names=", ".join(names), reason=why)
        for why, names in reasons.items()
    )
    one_by_one = str(_APART) if any(one.pooled for one in report.dimensions) else ""
    differ = " ".join(filter(None, [about, no_differences, one_by_one]))
    corrected = _corrected_sections(report, chosen["about"])
    rated = [each for each in report.corrections if each.raters]
    state = _state(report, about) + (" " + why_not_corrected(rated) if rated and not corrected else "")
    sections = [
        *corrected,
        Section(gettext("Mean scores"), state, _keep_filled(_means(report))),
        Section(gettext("Which systems differ"), differ, _keep_filled(_differences(report))),
        Section(gettext("Effect of more ratings"), str(_PLANNING), _keep_filled(_widths(report))),
    ]
    # Without a scale the sections about means would all be empty.
    if report.named and not report.dimensions:
        sections = []
    # Without its table the advice on more ratings refers to nothing.
    sections = [each for each in sections if each.tables or each.says != str(_PLANNING)]
    if report.named:
        named = [([text(one.name, key=one.key)], one, found) for one, found in report.named]
        says = gettext("Categories have no mean; these tables show how well the judge agrees with people.")
        tables = [accuracy_table(named, [DIMENSION]), f1_table(named, [DIMENSION])]
        shares = f"{_SHARES} {_KINDS.format(least=LEAST_RATINGS)}"
        sections += [
            Section(gettext("Named categories"), says, tables),
            Section(gettext("Shares of categories"), shares, [_shares(report)]),
        ]
    return add_caveats(sections, project, [judge], chosen, scales_only=str(_SCALES_ONLY))


def _corrected_sections(report: EstimatesReport, about: str) -> list[Section]:
    means, gains = corrected_table(report.corrections, report.judge.name), gain_table(report.corrections)
    if not means.rows:
        return []
    tables = [means, *_keep_filled(corrected_pairs_table(report.corrections)), gains]
    independent = report.round is None or report.round.is_independent
    others = str(_ABOUT[about])
    says = corrected_sentence(report.corrections, about, others, independent=independent)
    return [Section(gettext("Corrected means"), f"{gain_sentence(gains)} {says}".strip(), tables)]


_SCALES_ONLY = gettext_lazy(
    "Estimates correct a judge’s number by people’s numbers on a scale; answers to other questions are not "
    "estimated."
)


def _keep_filled(table: Table) -> list[Table]:
    return [table] if table.rows else []


_PLANNING = gettext_lazy(
    "On average over systems, if ratings continue to vary as they do. Decide the number of ratings "
    "beforehand: if you stop as soon as an asymptotic interval looks narrow, it covers less often than "
    "stated."
)
_KINDS = gettext_lazy(
    "Asymptotic intervals (people only, combined, PPI++) need many ratings: with fewer than about 50 on a "
    "skewed scale, coverage is below the nominal level. Guaranteed intervals are valid at any number of "
    "ratings; they use people only and are wider. Ratings count as a random sample of each system’s "
    "outputs. If units were sampled individually, each counts by its sampling probability. “Caution” marks "
    "unreliable asymptotic intervals, for example below {least} audited units of a system."
)
_FIXED_HERE = gettext_lazy(
    "These tables treat documents as a sample and raters as fixed: other raters may rank systems otherwise. "
    "Corrected means treat raters as a sample, too."
)
_ABOUT = {
    RATERS: _FIXED_HERE,
    DOCUMENTS: (
        gettext_lazy(
            "Documents are a sample: intervals, p values and ranks are about these raters’ scores on other "
            "documents like these. Raters are fixed: other raters may rank systems otherwise. Choose “raters "
            "and documents like these” above, and corrected means treat raters as a sample, too."
        )
    ),
    TEXTS: (
        gettext_lazy(
            "About these outputs only, as these raters score them (PPI++: about documents like these). Rated "
            "outputs have no uncertainty: a difference between fully rated systems has no p value."
        )
    ),
}
_APART = gettext_lazy(
    "Units were sampled individually. If two systems are not both fully rated, their difference is between "
    "their combined estimates, with the variances added."
)
_ESTIMATES = ("humans", "judge", "combined", "prediction_powered", "guaranteed")
_SHARES = gettext_lazy(
    "An item’s share of a category is the share of its raters who chose it; a system’s share is the mean "
    "over its items. If people rated the systems, the page Systems shows which of them differ in shares."
)
_POOLED = gettext_lazy("all systems")
_ONLY_COMBINED = gettext_lazy("All systems together have a combined estimate only.")
_KNOWN = gettext_lazy("Every output is rated, so this mean is known and nothing is estimated.")
_KNOWN_DIFFERENCE = gettext_lazy("Every output is rated, so the difference is known and nothing is tested.")


def _state(report: EstimatesReport, about: str) -> str:
    if report.round is None:
        return gettext(
            "There are no ratings yet: there is only the judge’s own mean, which no interval covers."
        )
    ratings = (
        gettext("Ratings are those at the end of {round}, which is still open.")
        if report.round.is_open
        else gettext("Ratings are those at the end of {round}.")
    )
    return f"{ratings.format(round=report.round)} {about} {_KINDS.format(least=LEAST_RATINGS)}"


def _shares(report: EstimatesReport) -> Table:
    columns = [
        DIMENSION,
        Column("category", gettext("category"), ColumnKind.TEXT),
        SYSTEM,
        Column("rated", gettext("rated"), ColumnKind.COUNT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("humans", gettext("people only, asymptotic"), ColumnKind.SHARE),
        Column("judge", gettext("judge only"), ColumnKind.SHARE),
        Column("combined", gettext("combined, asymptotic"), ColumnKind.SHARE),
        Column("prediction_powered", gettext("PPI++, asymptotic"), ColumnKind.SHARE),
        Column("guaranteed", gettext("guaranteed"), ColumnKind.SHARE),
        Column("caution", gettext("caution"), ColumnKind.TEXT),
    ]
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(dimension.name_of(category), key=str(category)),
            text(each.system),
            Cell(each.humans.ratings),
            Cell(each.humans.units),
            *(estimate_cell(getattr(each, kind)) for kind in _ESTIMATES),
            text(_caution(each)),
        ]
        for dimension, category, systems in report.shares
        for each in systems
    ]
    title = gettext("Shares of categories from people and a judge")
    return Table(
        "shares",
        title,
        columns,
        rows,
        heads=3,
        says=gettext("Judge: {judge}.").format(judge=report.judge.name),
    )


def _caution(each: SystemEstimates) -> str:
    return str(_KNOWN) if each.complete else " ".join(each.warnings)


def _means(report: EstimatesReport) -> Table:
    columns = [
        DIMENSION,
        SYSTEM,
        Column("rated", gettext("rated"), ColumnKind.COUNT),
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("humans", gettext("people only, asymptotic")),
        Column("judge", gettext("judge only")),
        Column("combined", gettext("combined, asymptotic")),
        Column("worth", gettext("worth"), decimals=0),
        Column("prediction_powered", gettext("PPI++, asymptotic")),
        Column("guaranteed", gettext("guaranteed")),
        Column("ranks", gettext("ranks"), ColumnKind.TEXT),
        Column("caution", gettext("caution"), ColumnKind.TEXT),
    ]
    rows = []
    for one in report.dimensions:
        dimension = text(one.dimension.name, key=one.dimension.key)
        for each in one.systems:
            worth = each.combined.effective_sample_size
            rows.append(
                [
                    dimension,
                    text(each.system),
                    Cell(each.humans.ratings),
                    Cell(each.humans.units),
                    estimate_cell(each.humans),
                    estimate_cell(each.judge),
                    estimate_cell(each.combined),
                    number_or_reason(worth, each.combined.reason or str(_NOT_WORTH)),
                    estimate_cell(each.prediction_powered),
                    estimate_cell(each.guaranteed),
                    text(_ranks(one, each.system)),
                    text(_caution(each)),
                ]
            )
        if pooled := one.pooled:
            none, counts = Cell(reason=str(_ONLY_COMBINED)), [Cell(pooled.ratings), Cell(pooled.units)]
            cells = [dimension, text(str(_POOLED)), *counts, none, none, estimate_cell(pooled)]
            rows.append([*cells, none, none, none, text(""), text(" ".join(pooled.warnings))])
    says = gettext(
        "Judge: {judge}. Worth: the number of human ratings needed alone for the same "
        "precision. The judge’s own mean does not show its error compared with people."
    ).format(judge=report.judge.name)
    return Table("means", gettext("Mean scores from people and a judge"), columns, rows, heads=2, says=says)


def _ranks(one: DimensionEstimates, system: str) -> str:
    found = next((each for each in one.ranks if each.system == system), None)
    if found is None:
        return ""
    return str(found.best) if found.best == found.worst else f"{found.best} to {found.worst}"


def _differences(report: EstimatesReport) -> Table:
    columns = [
        DIMENSION,
        Column("first", gettext("first"), ColumnKind.TEXT),
        Column("second", gettext("second"), ColumnKind.TEXT),
        Column("difference", gettext("first minus second, asymptotic")),
        Column("guaranteed", gettext("guaranteed, people only")),
        Column("p_value", "p", ColumnKind.P_VALUE),
        Column("adjusted_p_value", gettext("p by Holm"), ColumnKind.P_VALUE),
        Column("differ", gettext("differ"), ColumnKind.TEXT),
        Column("paired", gettext("on the same documents"), ColumnKind.TEXT),
        Column("caution", gettext("caution"), ColumnKind.TEXT),
    ]
    rows = []
    for one in report.dimensions:
        for each in one.differences:
            # A standard error of 0 means that people rated every output of both systems.
            found, is_known = each.estimate, each.estimate.standard_error == 0
            why = found.reason or found.interval_reason or str(_NO_P)
            why = str(_KNOWN_DIFFERENCE) if is_known else why
            rows.append(
                [
                    text(one.dimension.name, key=one.dimension.key),
                    text(each.first),
                    text(each.second),
                    estimate_cell(found),
                    estimate_cell(each.guaranteed) if each.guaranteed else Cell(reason=str(_NOT_GUARANTEED)),
                    number_or_reason(each.p_value, why),
                    number_or_reason(each.adjusted_p_value, why),
                    text(gettext("not tested")) if each.p_value is None else yes_or_no(each.differs),
                    yes_or_no(each.paired),
                    text("" if is_known else " ".join(found.warnings)),
                ]
            )
    says = gettext(
        "Intervals are per pair. p by Holm, “differ” and the ranks are corrected for all pairs of a "
        "dimension, not over dimensions. A guaranteed interval without 0 shows a difference at any number "
        "of ratings."
    )
    return Table("differences", gettext("Differences of systems"), columns, rows, heads=3, says=says)


def _widths(report: EstimatesReport) -> Table:
    columns = [
        DIMENSION,
        Column("ratings", gettext("ratings"), decimals=1),
        Column("now", gettext("now"), ColumnKind.TEXT),
        Column("humans", gettext("people only")),
        Column("combined", gettext("combined")),
        Column("guaranteed", gettext("guaranteed")),
    ]
    rows = [
        [
            text(one.dimension.name, key=one.dimension.key),
            Cell(each.ratings),
            yes_or_no(each.is_now),
            number_or_reason(each.humans, str(_NO_WIDTH)),
            number_or_reason(each.combined, str(_NO_WIDTH)),
            number_or_reason(each.guaranteed, str(_NO_WIDTH)),
        ]
        for one in report.dimensions
        for each in one.widths
    ]
    title = gettext("Width of intervals after more ratings")
    says = gettext("On average over systems; ratings of each system.")
    return Table("widths", title, columns, rows, heads=1, says=says, plot="widths")


# Three raters leave two degrees of freedom to severity.
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
        # The highest mean first; systems without a mean come last.
        for mean in sorted(means, key=lambda each: (each.value is None, -(each.value or 0.0))):
            # A mean cannot leave the scale, though its interval can.
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
            # One rating gives people a separate mean, even if no corrected one is defined.
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
    # Dimensions that people rated completely have a supposed share, so they get another message.
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
