"""The first page of trust: the verdict on each judge on each dimension, with its cost."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import get_text_list
from django.utils.translation import gettext, gettext_noop

from agreement.reliability import Use
from annotate.core.models import Project
from annotate.rating.queries.assigned import median_seconds
from annotate.results.registry import Arrangement, Chosen, ResultsPage, Tables
from annotate.results.table import Cell, Column, ColumnKind, Section, Table, text
from judges.core.models import Judge
from judges.results.queries.pairings import (
    THOUSAND,
    Spent,
    cost_of_thousand_units,
    first_judge,
    measured_judges,
    spent_by_judges,
)
from judges.results.tables.columns import JUDGE, explain_excluded_kinds, number_or_reason
from judges.results.tables.parameters import CORRECTED, ROUND, counts_corrected, values_of
from judges.routing.queries.trust import TrustEvidence, trust_in
from judges.routing.results import SCALES_ONLY, verdict_cell, version_of_trust
from judges.templatetags.judging import money

_SAYS = gettext_noop(
    "Units that a judge may decide without people, by the verdict that routing uses. A cell opens its "
    "evidence. Below: other uses that the judge’s error allows. People: alpha among themselves."
)
_PEOPLE = "people"
_COST = gettext_noop("Per 1,000 units")


def verdicts_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return a table of judges by dimensions. Raises NoJudgesError if no judge has values."""
    judges = measured_judges(project)
    first_judge(judges)
    found = {judge: trust_in(project, judge, chosen) for judge in judges}
    dimensions = {each.dimension.key: each.dimension.name for trust in found.values() for each in trust}
    spent = spent_by_judges(judges, with_corrected=counts_corrected(chosen), with_reused=False)
    rows = [_row_of_judge(project, judge, trust, list(dimensions), spent) for judge, trust in found.items()]
    rows.sort(key=lambda row: [-sum(cell.key == str(use) for cell in row) for use in (Use.ALL, Use.PART)])
    columns = [
        JUDGE,
        *(Column(key, name, ColumnKind.TEXT) for key, name in dimensions.items()),
        Column("per_1000", gettext(_COST), ColumnKind.TEXT),
        Column("money_per_1000", gettext("Money per 1,000 units"), decimals=4),
        Column("hours_per_1000", gettext("Hours of people per 1,000 units"), decimals=1),
    ]
    people = {each.dimension.key: each.alpha.among_people for trust in found.values() for each in trust}
    seconds, raters = median_seconds(project), project.raters_per_item
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
    table = Table("verdicts", gettext("Verdicts"), columns, rows, says=gettext(_SAYS))
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
        Cell(0.0),
    ]


def answer_verdicts(tables: Tables) -> str:
    table = tables.get("verdicts")
    rows = [row for row in table.rows if row[0].key != _PEOPLE] if table else []
    if table is None or not rows:
        return ""
    decided: dict[tuple[str, str], list[str]] = {}
    left: dict[str, list[str]] = {}
    for position, column in enumerate(table.columns[1:-3], start=1):
        uses = {use: [row for row in rows if row[position].key == str(use)] for use in Use}
        best = uses[Use.ALL] or uses[Use.PART]
        if best:
            costs = [row[-2].value for row in best]
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
