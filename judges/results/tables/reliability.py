"""The page of reliability: R, P, the predictive value of R, quality, and spread over systems, as tables."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.utils.translation import gettext, gettext_lazy, ngettext

from agreement.reliability import CoefficientSpread
from annotate.core.models import Project
from annotate.results.queries.material import ROMAN
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text
from judges.core.models import Judge
from judges.results.queries.pairings import Pairing, measured_judges, of_method, usual_pairing
from judges.results.queries.reliability import ReliabilityReport, reliability_report
from judges.results.tables.columns import ABOUT_INTERVALS_OF_M, SYSTEM, add_caveats, number_or_reason
from judges.results.tables.parameters import (
    COEFFICIENT,
    CONFIDENCE,
    CORRECTED,
    LEFT_OUT,
    ROUND,
    counts_corrected,
)

INDICATOR = "indicator"
"""The key of the table of R: a row for each system, a column for each dimension by its key."""

JUDGED = "judgments"
"""The parameter with the digest of the judgments behind R (`digest_of_values`)."""

_QUARTILES = {
    "smallest": gettext_lazy("least"),
    "first_quartile": gettext_lazy("first quartile"),
    "median": gettext_lazy("median"),
    "third_quartile": gettext_lazy("third quartile"),
    "largest": gettext_lazy("largest"),
}
_P_VALUE = gettext_lazy(
    "Two-sided, for no correlation of R with P over systems: over all orders of the systems up to 7, by "
    "Student’s t beyond; for Kendall by SciPy (function validity); source: Shen and others 2023, table 7."
)
_HOLM = gettext_lazy(
    "The p values of all dimensions, by Holm’s correction (function holm); source: Holm 1979."
)


def _judges(method: str) -> Parameter:
    def choices(project: Project) -> Sequence[tuple[str, str]]:
        judges = measured_judges(project)
        # The judge of the usual pair comes first, so both parameters together choose that pair.
        usual: Judge = getattr(usual_pairing(judges), method)
        others = [judge for judge in of_method(judges, method) if judge != usual]
        return [(str(judge.pk), judge.name) for judge in (usual, *others)]

    return Parameter(method, gettext("{method} judge").format(method=method.upper()), choices)


RELIABILITY_PARAMETERS = (
    _judges("rts"),
    _judges("mcq"),
    Parameter(
        "compared_judge",
        gettext_lazy("P is of"),
        lambda _: [("rts", gettext("the RTS judge")), ("mcq", gettext("the MCQ judge"))],
    ),
    COEFFICIENT,
    CONFIDENCE,
    Parameter(
        "units",
        gettext_lazy("P is over"),
        lambda _: [
            ("all", gettext("all rated units")),
            ("fresh", gettext("units that settled no policy and no certificate")),
        ],
    ),
    ROUND,
    CORRECTED,
)


def reliability_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return every table about a pair of judges; tables that need people only if there are ratings."""
    judges = {str(judge.pk): judge for judge in measured_judges(project)}
    pairing = Pairing(rts=judges[chosen["rts"]], mcq=judges[chosen["mcq"]])
    report = reliability_report(
        project,
        pairing,
        coefficient=chosen["coefficient"],
        confidence_level=float(chosen["confidence"]),
        compared_judge=getattr(pairing, chosen["compared_judge"]),
        round_number=int(chosen["round"]) if "round" in chosen else None,
        fresh=chosen["units"] == "fresh",
        with_corrected=counts_corrected(chosen),
    )
    quality = Section(gettext("Quality and agreement with people"), str(_DOTS), [_quality(report)])
    says = gettext(
        "{coefficient} of the RTS with the MCQ values over each system’s items. It needs no human rating, "
        "and does not show the size of errors. Before you route by R, check in the tab “R and P” that it "
        "predicts agreement with people."
    ).format(coefficient=report.label)
    explanation = f"{says} {report.pairing.warning}".strip()
    rows = [
        [text(one.dimension.name), text(name), *_numbers(spread)]
        for one in report.dimensions
        for name, spread in (("R", one.figures.indicator_spread), ("P", one.figures.agreement_spread))
        # P needs ratings, R does not.
        if name == "R" or report.rated
    ]
    columns = [Column(key, str(name)) for key, name in _QUARTILES.items()]
    heads = [DIMENSION, Column("coefficient", gettext("Coefficient"), ColumnKind.TEXT)]
    title = gettext("Range of R and P over systems")
    spreads = Table("spread", title, [*heads, *columns], rows, heads=2, plot="box")
    sections = [
        Section(
            gettext("R: where the model agrees with itself"),
            explanation,
            [_indicator(report)],
        ),
        _people_section(report),
        Section(gettext("R compared with P"), "", [_readings(report)]),
        *([quality] if report.rated else []),
        Section(gettext("Differences between systems"), "", [spreads]),
        Section(gettext("How this was computed"), " ".join(_describe_method(report)), []),
    ]
    pair = [pairing.rts, pairing.mcq]
    return add_caveats(sections, project, pair, chosen, scales_only=str(_SCALES_ONLY))


_SCALES_ONLY = gettext_lazy("R compares RTS with MCQ, which only scales have; other questions have no R.")


def indicators_in(table: Table) -> dict[tuple[str, str], Cell]:
    """Return R by system and dimension key, from the table of R or one of its form."""
    return {
        (str(row[0].value), column.key): cell
        for row in table.rows
        for column, cell in zip(table.columns[1:], row[1:], strict=True)
    }


_DOTS = gettext_lazy(
    "Each dot is a system. If they fall from left to right, the judge agrees less with people on better "
    "systems (M below 0)."
)


def _people_section(report: ReliabilityReport) -> Section:
    title = gettext("P: where {judge} agrees with people").format(judge=report.compared_judge.name)
    if not report.rated:
        return Section(
            title,
            gettext(
                "No one has rated these items yet, so agreement with people (P) is unknown, and so is "
                "whether "
                "R predicts it."
            ),
            [],
        )
    compared = (
        gettext("{coefficient} with mean human scores at the end of {round}, which is still open.")
        if report.round and report.round.is_open
        else gettext("{coefficient} with mean human scores at the end of {round}.")
    )
    says, tables = compared.format(coefficient=report.label, round=_round(report)), [_agreement(report)]
    if report.settling:
        counted = gettext(
            "{settling:,} of the {rated:,} rated units were used to choose r of a policy, "
            "or to calibrate a certificate, for these judges."
        ).format(settling=report.settling, rated=report.rated_units)
        treated = (
            gettext(
                "P excludes them. It covers units that people rated for other reasons, mostly units sent to "
                "people since then."
            )
            if report.fresh
            else gettext(
                "P includes them, since it covers everything that people rated. For the units that a policy "
                "leaves to the judge, read the audit of the policy, which never uses them."
            )
        )
        says = f"{says} {counted} {treated}"
        columns = [
            Column("rated", gettext("rated units"), ColumnKind.COUNT),
            Column("settling", gettext("used to choose r or to calibrate"), ColumnKind.COUNT),
            Column("left_out", gettext("excluded from P"), ColumnKind.COUNT),
        ]
        left_out = report.settling if report.fresh else 0
        row = [Cell(report.rated_units), Cell(report.settling), Cell(left_out)]
        rated = gettext("Units that people rated")
        tables.append(Table("rated-units", rated, columns, [row], heads=0))
    return Section(title, says, tables)


def _describe_method(report: ReliabilityReport) -> Iterator[str]:
    yield (
        gettext(
            "By Shen and others 2023, Large Language Models are Not Yet Human-Level Evaluators for "
            "Abstractive "
            "Summarization: R by equation 4, P by equation 2, M by equation 3, R with P as in table 7, the "
            "plots "
            "as their figures 1, 3 and 5."
        )
    )
    yield (
        gettext(
            "Intervals of R and P resample a system’s items; intervals of R with P resample systems. Their "
            "random numbers follow from the project’s seed {seed} and the names of the "
            "statistic, the judges, the dimension and the system, so the same data give the same results "
            "everywhere."
        ).format(seed=report.project.seed)
    )
    if report.rated:
        yield (
            gettext(
                "Intervals of M resample documents, and compute P and quality of every system again in each "
                "resample."
            )
        )
    yield gettext("A judge’s value is the mean of its samples, people’s the mean of their ratings.")
    yield gettext("Below 3 items R and P are undefined.")
    slug, rts, mcq = report.project.slug, report.pairing.rts.name, report.pairing.mcq.name
    options = " --units fresh" if report.fresh else ""
    options += "" if report.with_corrected else f" --corrected {LEFT_OUT}"
    command = (
        f'manage.py reliability {slug} --rts "{rts}" --mcq "{mcq}" '
        f"--coefficient {report.coefficient}{options} --json"
    )
    yield gettext("The same from a command line: {command}").format(command=command)


def _round(report: ReliabilityReport) -> str:
    if not report.round:
        return ""
    return gettext("Round {number}").format(number=ROMAN[report.round.number])


def _indicator(report: ReliabilityReport) -> Table:
    says = report.pairing.describe_indicator(report.label)
    cells = [[figure(one.indicator, count=one.items) for one in row] for _, row in report.rows]
    table = _table_by_system(report, INDICATOR, gettext("Reliability indicator R"), says, cells)
    # A policy reads R from the stored table only if its judgments are the present ones.
    return replace(table, parameters={JUDGED: report.judged})


def _agreement(report: ReliabilityReport) -> Table:
    says = gettext(
        "{coefficient} of {judge} with mean human scores at the end of {round}, over each system’s items."
    ).format(coefficient=report.label, judge=report.compared_judge.name, round=_round(report))
    if report.fresh:
        left_out = gettext("Units that were used to choose r or to calibrate a certificate are excluded.")
        says = f"{says} {left_out}"
    cells = [[figure(one.agreement, count=one.rated) for one in row] for _, row in report.rows]
    return _table_by_system(report, "agreement", gettext("Agreement with people P"), says, cells)


def _table_by_system(
    report: ReliabilityReport, key: str, title: str, says: str, cells: Sequence[Sequence[Cell]]
) -> Table:
    columns = [Column(one.dimension.key, one.dimension.name) for one in report.dimensions]
    rows = [[text(system), *row] for (system, _), row in zip(report.rows, cells, strict=True)]
    return Table(key, title, [SYSTEM, *columns], rows, says=says, plot="heat")


def _quality(report: ReliabilityReport) -> Table:
    rows = [
        [
            text(one.dimension.name),
            text(each.system),
            replace(figure(each.quality, count=each.quality.counts.ratings), interval_reason=""),
            figure(each.agreement, count=each.rated),
            figure(each.indicator, count=each.items),
        ]
        for one in report.dimensions
        if not one.dimension.is_named  # categories have no mean
        for each in one.figures.systems
    ]
    columns = [
        DIMENSION,
        SYSTEM,
        Column("quality", gettext("quality: mean human score")),
        Column("agreement", "P"),
        Column("indicator", "R"),
    ]
    title = gettext("Quality of systems, agreement with people P and reliability indicator R")
    return Table("quality", title, columns, rows, heads=2, plot="quality")


def _readings(report: ReliabilityReport) -> Table:
    columns = [
        DIMENSION,
        Column("reading", gettext("May R be used?"), ColumnKind.TEXT),
        Column("validity", gettext("R with P")),
        Column("p_value", "p", ColumnKind.P_VALUE),
        Column("adjusted_p_value", gettext("p by Holm"), ColumnKind.P_VALUE),
        Column("systems", gettext("systems"), ColumnKind.COUNT),
        Column("meta_correlation", "M"),
    ]
    number = len(report.dimensions)
    says = ngettext(
        "R with P: {coefficient} over systems. p by Holm is corrected over {count} dimension; the answer is "
        "yes if it is 0.05 or less and R with P is above 0. M: {coefficient} over systems of P with the mean "
        "human score.",
        "R with P: {coefficient} over systems. p by Holm is corrected over {count} dimensions; the answer is "
        "yes if it is 0.05 or less and R with P is above 0. M: {coefficient} over systems of P with the mean "
        "human score.",
        number,
    ).format(coefficient=report.label, count=number)
    says = f"{says} {ABOUT_INTERVALS_OF_M}"
    rows = []
    for one in report.dimensions:
        found = one.figures.validity
        why = found.p_value_reason or found.correlation.reason or ""
        rows.append(
            [
                text(one.dimension.name),
                text(one.reading),
                figure(found.correlation, count=found.systems),
                number_or_reason(found.p_value, why, str(_P_VALUE)),
                number_or_reason(one.adjusted_p_value, why, str(_HOLM)),
                Cell(found.systems),
                figure(one.figures.meta_correlation),
            ]
        )
    return Table("validity", gettext("R compared with agreement with people (P)"), columns, rows, says=says)


def _numbers(spread: CoefficientSpread | None) -> list[Cell]:
    if spread is None:
        return [Cell(reason=gettext("It is undefined for every system.")) for _ in _QUARTILES]
    return [Cell(getattr(spread, key), count=spread.systems) for key in _QUARTILES]
