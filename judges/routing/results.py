"""The pages of trust: verdicts by judge and dimension, their evidence and the next step."""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import get_text_list
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from agreement import Coefficient
from agreement.comparison import Level
from agreement.reliability import Ground, JudgeUse, JudgeVerdict, ReplacementControl, Shown, Use
from annotate.core.models import Project
from annotate.rating.queries.assignments import median_seconds
from annotate.results.registry import Arrangement, Chosen, ResultsPage, Tables
from annotate.results.table import (
    BAD,
    DIMENSION,
    GOOD,
    OPEN,
    PARTLY,
    Cell,
    Column,
    ColumnKind,
    Section,
    Table,
    figure,
    text,
)
from judges.core.models import Calibration, Judge, RoutingPolicy
from judges.results.queries.pairings import (
    THOUSAND,
    Spent,
    cost_of_thousand_units,
    first_judge,
    measured_judges,
    spent_by_judges,
)
from judges.results.tables.columns import JUDGE as JUDGE_COLUMN
from judges.results.tables.columns import (
    add_correction_count,
    add_gaps,
    explain_excluded_kinds,
    number_or_reason,
)
from judges.results.tables.parameters import (
    CORRECTED,
    JUDGE,
    ROUND,
    chosen_judge,
    counts_corrected,
    values_of,
    version_of_judges,
)
from judges.routing.queries.trust import TrustEvidence, trust_in
from judges.templatetags.judging import money

_SAYS = gettext_noop(
    "A contradicting audit, alpha with people at or below 0, and too many wrong values rule a judge out. "
    "Else the strongest evidence decides: a certificate, the replacement test with the error on single "
    "texts, then R. Below the verdict: other uses that its error allows."
)
_EVIDENCE = gettext_noop(
    "Each value links to its page. R is the correlation of the judge with the same model’s judge of the "
    "other method (median over systems). P is Spearman’s rho with people’s means over all items. Alpha with "
    "people compares the judge with people’s mean. Change of alpha: alpha of Round I with the judge as one "
    "more rater, minus alpha among people alone."
)
_ALONE = gettext_noop("R needs an RTS and an MCQ judge of one model, both with values.")
_NOT_RATED = gettext_noop("No ratings yet: the test needs the Round I ratings of three annotators or more.")
_NOT_RATED_TWICE = gettext_noop("No ratings yet: alpha needs the Round I ratings of two annotators or more.")
_NO_CERTIFICATE = gettext_noop("This judge has no computed calibration for this dimension.")


_WORDS = {
    Use.ALL: (GOOD, gettext_noop("all units")),
    Use.PART: (PARTLY, gettext_noop("some units")),
    Use.UNKNOWN: (OPEN, gettext_noop("not known")),
    Use.REFUSED: (BAD, gettext_noop("no unit")),
}
_OTHER_USES = {
    JudgeUse.RANK: gettext_noop("ranks systems"),
    JudgeUse.SCORE: gettext_noop("scores texts"),
    JudgeUse.MEANS: gettext_noop("corrects means"),
}


def verdict_cell(verdict: JudgeVerdict, *, link: str = "") -> Cell:
    tone, word = _WORDS[verdict.use]
    uses = [gettext(_OTHER_USES[each.use]) for each in verdict.granted]
    return Cell(gettext(word), key=str(verdict.use), tone=tone, note=", ".join(uses), link=link)


def trust_sections(project: Project, chosen: Chosen) -> list[Section]:
    judge = chosen_judge(project, chosen)
    found = trust_in(project, judge, chosen)
    verdicts = Table(
        "verdicts",
        gettext("Use of {judge} by dimension").format(judge=judge.name),
        [
            DIMENSION,
            Column("use", gettext("May decide"), ColumnKind.TEXT),
            Column("verdict", gettext("Reason"), ColumnKind.TEXT),
            Column("next", gettext("Next step"), ColumnKind.TEXT),
        ],
        [
            [
                _name(each),
                verdict_cell(each.verdict),
                text(each.verdict.says),
                _next_step(project, each),
            ]
            for each in found
        ],
        says=gettext(_SAYS),
        parameters={"judge": judge.name},
    )
    columns = [
        DIMENSION,
        Column("evidence", gettext("Evidence"), ColumnKind.TEXT),
        Column("value", gettext("Value")),
        Column("says", gettext("Description"), ColumnKind.TEXT),
    ]
    rows = [row for each in found for row in _evidence(project, each)]
    evidence = Table("evidence", gettext("Evidence"), columns, rows, heads=2, says=gettext(_EVIDENCE))
    rests_on = add_gaps([Section(gettext("Evidence"), "", [evidence])], [judge], chosen)
    link = reverse("results_page", args=[project.slug, "replacement"])
    uses = Table(
        "uses",
        gettext("Uses and reasons"),
        [
            DIMENSION,
            Column("use", gettext("Use"), ColumnKind.TEXT),
            Column("shown", gettext("Finding"), ColumnKind.TEXT),
            Column("says", gettext("Reason and what to do"), ColumnKind.TEXT),
        ],
        [
            [
                _name(each),
                text(str(finding.use).capitalize(), key=finding.use.name.lower(), link=link),
                text(str(finding.shown)),
                text(finding.says),
            ]
            for each in found
            for finding in each.verdict.uses
        ],
        heads=2,
        says=gettext(
            "From the ratings of Round I. “Shown for these raters” means that the evidence counts documents "
            "as a sample, not raters."
        ),
    )
    first = [verdicts, uses] if uses.rows else [verdicts]
    sections = [Section(gettext("Verdict"), "", first), *rests_on]
    sections = explain_excluded_kinds(sections, project, gettext(SCALES_ONLY))
    return add_correction_count(sections, [judge], chosen)


SCALES_ONLY = gettext_noop(
    "Verdicts are about scales; the table “Other questions” compares judges and people on the others."
)


def answer_trust(tables: Tables) -> str:
    table = tables.get("verdicts")
    if table is None or not table.rows:
        return ""
    names = {
        use: get_text_list(
            [str(row[0].value) for row in table.rows if row[1].key == str(use)], gettext("and")
        )
        for use in Use
    }
    decides = [
        gettext(message).format(dimensions=names[use]) for use, message in _DECIDES.items() if names[use]
    ]
    found = []
    if decides:
        message = gettext("{judge} may decide {units}.")
        found.append(message.format(judge=table.parameters["judge"], units="; ".join(decides)))
    if names[Use.UNKNOWN]:
        message = gettext("Whether {judge} may decide {dimensions} is not known.")
        found.append(message.format(judge=table.parameters["judge"], dimensions=names[Use.UNKNOWN]))
    return " ".join(found)


_DECIDES = {
    Use.ALL: gettext_noop("all units of {dimensions}"),
    Use.PART: gettext_noop("some units of {dimensions}"),
    Use.REFUSED: gettext_noop("no unit of {dimensions}"),
}


def uses_in_words(verdict: JudgeVerdict) -> str:
    if not verdict.uses and not verdict.refuses:
        return gettext("Not known")
    named = [
        gettext("{use} (for these raters)").format(use=each.use)
        if each.shown is Shown.FOR_PANEL
        else str(each.use)
        for each in verdict.granted
    ]
    found = "; ".join(named) if named else gettext("none shown")
    # Not `capitalize`, which also lowers the letters of names.
    return found[0].upper() + found[1:]


def _name(each: TrustEvidence) -> Cell:
    return text(each.dimension.name, key=each.dimension.key)


_SEE_WHY = gettext_noop("See evidence")
_STEPS: dict[Ground, tuple[str, str, tuple[str, ...]]] = {
    Ground.ALPHA: (_SEE_WHY, "results_page", ("judges",)),
    Ground.AUDIT: (_SEE_WHY, "routing", ()),
    Ground.ERRORS: (_SEE_WHY, "routing", ()),
    Ground.INDICATOR: (gettext_noop("Send units to people"), "routing_new", ()),
    Ground.REPLACEMENT: (_SEE_WHY, "results_page", ("replacement",)),
    Ground.SINGLE_TEXTS: (_SEE_WHY, "results_page", ("replacement",)),
}


def _next_step(project: Project, each: TrustEvidence) -> Cell:
    verdict, calibration = each.verdict, each.calibration
    # The step leads to the evidence that decided the verdict, else to a calibration.
    by_certificate = verdict.ground in (Ground.CERTIFICATE, Ground.CERTIFIED_CONSTANT)
    if calibration is not None and by_certificate:
        link = reverse("certificate", args=[project.slug, calibration.pk])
        return text(gettext("See the certificate"), link=link)
    step, route, arguments = _STEPS.get(verdict.ground, ("", "", ()))
    if not step or verdict.use is Use.ALL:
        step, route, arguments = gettext_noop("Sample a calibration"), "certificate_new", ()
    return text(gettext(step), link=reverse(route, args=[project.slug, *arguments]))


def _evidence(project: Project, each: TrustEvidence) -> Iterable[list[Cell]]:
    def row(name: str, key: str, cell: Cell, says: str, route: str, *arguments: object) -> list[Cell]:
        link = reverse(route, args=[project.slug, *arguments])
        return [_name(each), text(name, key=key, link=link), cell, text(says)]

    def page_row(name: str, key: str, found: tuple[Cell, str], page: str) -> list[Cell]:
        return row(name, key, *found, "results_page", page)

    alpha, tested, bias = each.scored.alpha, each.tested, each.known.bias
    yield page_row(gettext("Alpha with people"), "alpha", _add_interval(alpha.with_mean), "judges")
    among = _add_interval(alpha.among_people)
    yield page_row(gettext("Alpha among people"), "among-people", among, "judges")
    found = Cell(reason=gettext(_NOT_RATED)), ""
    if tested is not None:
        test = tested.test
        found = number_or_reason(test.winning_rate, test.reason or ""), test.verdict_reason
    yield page_row(gettext("Replacement"), "replacement", found, "replacement")
    yield page_row(gettext("Beyond controls"), "controls", _controls(each), "replacement")
    found = Cell(reason=gettext(_ALONE)), ""
    if each.pair is not None:
        spread = each.pair.figures.indicator_spread
        cell = Cell(reason=gettext("R is undefined for every system."))
        found = Cell(spread.median, count=spread.systems) if spread else cell, each.pair.reading
    yield page_row("R", "indicator", found, "reliability")
    found = Cell(reason=gettext("The values are category names, which have no order.")), ""
    if not each.dimension.is_named:
        found = _add_interval(each.scored.correlations["spearman", Level.DATASET])
    yield page_row("P", "agreement", found, "judges")
    found = Cell(reason=gettext("No unit has a value from the judge and from people.")), ""
    if bias is not None:
        message = (
            gettext("On average {points:.2f} points above people.")
            if bias > 0
            else gettext("On average {points:.2f} points below people.")
        )
        found = Cell(bias), message.format(points=abs(bias))
    yield page_row(gettext("Bias"), "bias", found, "judges")
    found = Cell(reason=gettext(_NOT_RATED_TWICE)), ""
    if tested is not None:
        found = figure(tested.one_more_rater.difference), tested.one_more_rater.says
    yield page_row(gettext("Change of alpha"), "one-more-rater", found, "replacement")
    state, name = each.certificate, gettext("Certificate")
    if each.calibration is not None and state and state.certificate:
        lapsed = [gettext("Lapsed: {reason}").format(reason=reason) for reason in state.lapses]
        says = " ".join([*lapsed, state.says, *state.warnings])
        share = Cell(state.certificate.kept_share)
        yield row(name, "certificate", share, says, "certificate", each.calibration.pk)
    else:
        yield row(name, "certificate", Cell(reason=gettext(_NO_CERTIFICATE)), "", "certificates")
    policy, cell, says = each.policy, Cell(reason=gettext("No policy routes units by this judge.")), ""
    if policy is not None and (errors := policy.audit or policy.errors):
        message = gettext("By the ratings before routing, the judge is {errors}.")
        if policy.audit is not None:
            message = gettext("The audit contradicts the policy: the judge is {errors}.")
        cell, says = Cell(errors.share, count=errors.rated), message.format(errors=errors)
    elif policy is not None:
        cell = Cell(reason=gettext("The audit does not contradict the policy."))
    yield row(gettext("Audit"), "routing", cell, says, "routing")


def _add_interval(found: Coefficient) -> tuple[Cell, str]:
    if found.interval is None:
        return figure(found), ""
    message = gettext("{level:g} % interval {low:.2f} to {high:.2f}.")
    low, high = found.interval.low, found.interval.high
    return figure(found), message.format(level=100 * found.interval.confidence_level, low=low, high=high)


def _controls(each: TrustEvidence) -> tuple[Cell, str]:
    """Return the gain over the control that the judge beats least, and in words whether it beats all."""
    controls = list(each.tested.test.controls.values()) if each.tested else []
    if not controls:
        return Cell(reason=gettext(_NOT_RATED)), ""

    def lower_bound(control: ReplacementControl) -> float:
        # Without an interval the lead is unknown, so the control counts as the nearest.
        return control.interval[0] if control.interval else -1.0

    least = min(controls, key=lower_bound)
    low, high = least.interval or (None, None)
    why = "" if least.interval else gettext("Too few documents, or the same difference in each.")
    unbeaten = [control.answers for control in controls if not control.is_beaten]
    message = gettext("Not shown to beat: {controls}.").format(controls="; ".join(unbeaten))
    return (
        Cell(least.gain, low=low, high=high, interval_reason=why),
        message if unbeaten else gettext("It beats every control; the value is of the one nearest to it."),
    )


def version_of_trust(project: Project) -> Sequence[object]:
    """Return a version that changes with a judge, a rating, a certificate or a policy."""
    # A certificate never changes once it is computed, so the status is enough.
    computed = Calibration.objects.filter(project=project).order_by("pk")
    routed = RoutingPolicy.objects.filter(project=project).order_by("pk")
    return [
        *version_of_judges(project),
        *computed.values_list("pk", "status", "name"),
        *routed.values_list("pk", "status"),
    ]


TRUST_PAGE = ResultsPage(
    "trust",
    gettext_noop("Verdicts"),
    gettext_noop(
        "One verdict for each dimension from all evidence on a judge: R, P, alpha with people, bias, the "
        "change of alpha, the replacement test, certificates and routing; with the next step."
    ),
    trust_sections,
    version_of_trust,
    values_of,
    [JUDGE, ROUND, CORRECTED],
    filled_by="judges",
    arrangement=Arrangement(
        tabs={"verdicts": _("Verdicts"), "evidence": _("Evidence"), "uses": _("Uses and reasons")},
        in_words=("verdicts", "evidence", "uses"),
        has_chart=False,
        answer=answer_trust,
    ),
)


_SAYS_BY_JUDGE = gettext_noop(
    "Units that a judge may decide without people, by the verdict that routing uses. A cell opens its "
    "evidence. Below: other uses that the judge’s error allows. People: alpha among themselves."
)
_PEOPLE = "people"
_COST = gettext_noop("Per 1,000 units")


def verdicts_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return a table of judges by dimensions. Raises NoJudgesError if no judge has values."""
    judges = measured_judges(project)
    # Raises NoJudgesError if there is none.
    first_judge(judges)
    found = {judge: trust_in(project, judge, chosen) for judge in judges}
    dimensions = {each.dimension.key: each.dimension.name for trust in found.values() for each in trust}
    spent = spent_by_judges(judges, with_corrected=counts_corrected(chosen), with_reused=False)
    rows = [_row_of_judge(project, judge, trust, list(dimensions), spent) for judge, trust in found.items()]
    # Judges with the most full verdicts first, then those with the most partial ones.
    rows.sort(key=lambda row: [-sum(cell.key == str(use) for cell in row) for use in (Use.ALL, Use.PART)])
    columns = [
        JUDGE_COLUMN,
        *(Column(key, name, ColumnKind.TEXT) for key, name in dimensions.items()),
        Column("per_1000", gettext(_COST), ColumnKind.TEXT),
        Column("money_per_1000", gettext("Money per 1,000 units"), decimals=4),
        Column("hours_per_1000", gettext("Hours of people per 1,000 units"), decimals=1),
    ]
    people = {
        each.dimension.key: each.scored.alpha.among_people for trust in found.values() for each in trust
    }
    seconds, raters = median_seconds(project), project.raters_per_item
    # The row of people is for comparison: their agreement, and the hours for 1,000 units.
    hours = None if seconds is None else THOUSAND * raters * seconds / 3600
    page = reverse("results_page", args=[project.slug, "agreement"])
    in_words = gettext("{hours:,.1f} h of {raters} people")
    rows.append(
        [
            text(gettext("People"), key=_PEOPLE),
            *(
                Cell(reason=people[key].reason or "")
                if people[key].value is None
                else text(gettext("alpha {alpha:.2f}").format(alpha=people[key].value), link=page)
                for key in dimensions
            ),
            text(gettext("unknown") if hours is None else in_words.format(hours=hours, raters=raters)),
            Cell(reason=gettext("Concord knows the time of people, not their pay.")),
            number_or_reason(hours, gettext("No rating of this project has a measured time.")),
        ]
    )
    table = Table("verdicts", gettext("Verdicts"), columns, rows, says=gettext(_SAYS_BY_JUDGE))
    return explain_excluded_kinds([Section(gettext("Verdicts"), "", [table])], project, gettext(SCALES_ONLY))


def _row_of_judge(
    project: Project,
    judge: Judge,
    trust: Sequence[TrustEvidence],
    dimensions: Sequence[str],
    spent: Mapping[tuple[int, str], Spent],
) -> list[Cell]:
    page = reverse("results_page", args=[project.slug, "trust"])
    own = {each.dimension.key: each for each in trust}
    cost = cost_of_thousand_units(
        judge, [spent[judge.pk, key] for key in dimensions if (judge.pk, key) in spent]
    )
    cells = []
    for key in dimensions:
        query = urlencode({"judge": judge.pk, "dimension": key, "table": "evidence"})
        cells.append(
            verdict_cell(own[key].verdict, link=f"{page}?{query}")
            if key in own
            else Cell(reason=gettext("This judge has no values on this dimension."))
        )
    return [
        text(judge.name, key=str(judge.pk), link=f"{page}?judge={judge.pk}"),
        *cells,
        text(money(cost)),
        Cell(float(cost))
        if cost is not None
        else Cell(reason=gettext("No answer of this judge has a price.")),
        # A judge takes no time of people.
        Cell(0.0),
    ]


def answer_verdicts(tables: Tables) -> str:
    table = tables.get("verdicts")
    rows = [row for row in table.rows if row[0].key != _PEOPLE] if table else []
    if table is None or not rows:
        return ""
    decided: dict[tuple[str, str], list[str]] = {}
    left: dict[str, list[str]] = {}
    # Without the judge's name and the three columns of costs.
    for position, column in enumerate(table.columns[1:-3], start=1):
        uses = {use: [row for row in rows if row[position].key == str(use)] for use in Use}
        # On each dimension one judge is named, or why there is none.
        best = uses[Use.ALL] or uses[Use.PART]
        if best:
            costs = [row[-2].value for row in best]
            # Among equal verdicts the cheapest judge is named; an unknown price comes last.
            numbers = [float(cost) if isinstance(cost, int | float) else float("inf") for cost in costs]
            row = best[numbers.index(min(numbers))]
            decided.setdefault((str(row[0].value), row[position].key), []).append(column.name)
        else:
            use = Use.UNKNOWN if uses[Use.UNKNOWN] else Use.REFUSED
            left.setdefault(str(use), []).append(column.name)
    found = []
    for (judge, key), names in decided.items():
        message = (
            gettext("{judge} may decide {dimensions}.")
            if key == str(Use.ALL)
            else gettext("{judge} may decide some units of {dimensions}.")
        )
        found.append(message.format(judge=judge, dimensions=get_text_list(names, gettext("and"))))
    for key, names in left.items():
        message = (
            gettext("Send {dimensions} to people: it is not known whether a judge may decide there.")
            if key == str(Use.UNKNOWN)
            else gettext("Send {dimensions} to people: no judge may decide there.")
        )
        found.append(message.format(dimensions=get_text_list(names, gettext("and"))))
    return " ".join(found)


VERDICTS_PAGE = ResultsPage(
    "verdicts",
    gettext_noop("Judges by dimension"),
    gettext_noop(
        "Which judge may decide which dimension? One verdict from all evidence, with the cost of 1,000 units."
    ),
    verdicts_sections,
    version_of_trust,
    values_of,
    [ROUND, CORRECTED],
    filled_by="judges",
    arrangement=Arrangement(
        columns_in_files={"verdicts": ("money_per_1000", "hours_per_1000")},
        in_words=("verdicts",),
        has_chart=False,
        answer=answer_verdicts,
    ),
)
