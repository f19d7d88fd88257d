"""What judges add to an export: the judges, their runs, every judgment, and the indicator R."""

from collections.abc import Iterator

from annotate.core.models import Project
from annotate.exports.registry import ExportTable, Part, Row, kinds
from annotate.exports.tables.rows import rows_by_column
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell
from judges.core.errors import NoJudgesError
from judges.core.models import Judge, Judgment, Run
from judges.results.tables.indicator import INDICATOR, indicators_in


def _judges(project: Project) -> Iterator[Row]:
    return rows_by_column(Judge.objects.filter(project=project).order_by("pk"), _JUDGES)


_JUDGES = {
    "judge": "name",
    "model": "model",
    "method": "method",
    "prompt": "template__name",
    "prompt_version": "template__version",
    "prompt_text": "template__text",
    "temperature": "temperature",
    "samples": "samples",
    "max_tokens": "max_tokens",
    "score_from": "score_from",
    "structured": "structured",
}


def _runs(project: Project) -> Iterator[Row]:
    rows = rows_by_column(Run.objects.filter(project=project).order_by("pk"), _RUNS)
    for number, row in enumerate(rows, start=1):
        yield {**row, "run": number, "budget": _amount(row["budget"]), "spent": _amount(row["spent"])}


_RUNS = {
    "run": "pk",
    "guideline_version": "guideline__version",
    "status": "status",
    "reason": "reason",
    "via": "via",
    "budget": "budget",
    "spent": "spent",
    "created_at": "created_at",
    "started_at": "started_at",
    "finished_at": "finished_at",
}


def _judgments(project: Project) -> Iterator[Row]:
    runs = Run.objects.filter(project=project).order_by("pk").values_list("pk", flat=True)
    numbers = {pk: number for number, pk in enumerate(runs, start=1)}
    judgments = Judgment.objects.filter(judge__project=project)
    in_order = judgments.order_by("judge", "item", "other", "dimension__position", "sample", "pk")
    for row in rows_by_column(in_order, _JUDGMENTS):
        row["run"], row["cost"] = numbers.get(row["run"]), _amount(row["cost"])
        if row["status"] == Judgment.Status.LEASED:  # who is asking it just now is nobody's business
            row["status"] = Judgment.Status.PLANNED.value
        yield row


_JUDGMENTS = {
    "judge": "judge__name",
    "document": "item__document__key",
    "system": "item__system__name",
    "other_system": "other__system__name",
    "dimension": "dimension__key",
    "sample": "sample",
    "run": "run",
    "status": "status",
    "value": "value",
    "reason": "reason",
    "rationale": "rationale",
    "reply": "reply",
    "attempts": "attempts",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    "seconds": "seconds",
    "answered_at": "answered_at",
}


def _indicators(project: Project) -> Iterator[Row]:
    """Yield R of the pair of judges that the page of reliability shows first, with the page's figures."""
    try:
        result = result_of(project, "reliability")
        page = current_page(project=project, result=result)
    except NoJudgesError:
        return
    names = {each.parameter.name: dict(each.options)[each.value] for each in result.choices}
    pair = {"rts": names["rts"], "mcq": names["mcq"], "coefficient": result.chosen["coefficient"]}
    table, agreement, quality = (page.table(key) for key in (INDICATOR, "agreement", "quality"))
    assert table is not None  # where there is a pair of judges
    agreements = indicators_in(agreement) if agreement else {}
    qualities = {(row[1].value, row[0].value): row[2] for row in quality.rows} if quality else {}
    for column in table.columns[1:]:
        for (system, key), found in indicators_in(table).items():
            if key == column.key:
                rated = agreements.get((system, key), _UNRATED)
                yield {
                    **pair,
                    "dimension": key,
                    "system": system,
                    "items": found.count,
                    "indicator": found.value,
                    "indicator_low": found.low,
                    "indicator_high": found.high,
                    "reason": found.reason,
                    "rated_items": rated.count,
                    "agreement": rated.value,
                    "quality": qualities.get((system, column.name), _UNRATED).value,
                }


_UNRATED = Cell(count=0, reason="No person has rated these items yet.")
_INDICATORS = (
    *("rts", "mcq", "coefficient", "dimension", "system", "items"),
    *("indicator", "indicator_low", "indicator_high", "reason", "rated_items", "agreement", "quality"),
)


def _amount(money: object) -> str | None:
    """Return an amount as text with all its digits, which a binary fraction would not hold."""
    return None if money is None else f"{money:f}"


JUDGE_TABLES = (
    ExportTable(
        "judges",
        "the models that judge, each with its method, prompt and settings",
        tuple(_JUDGES),
        _judges,
        kinds(integer="prompt_version samples max_tokens", number="temperature", flag="structured"),
    ),
    ExportTable(
        "runs",
        "the runs in which judgments were collected, with what they cost",
        tuple(_RUNS),
        _runs,
        kinds(integer="run guideline_version", time="created_at started_at finished_at"),
    ),
    ExportTable(
        "judgments",
        "every judgment: its value or why there is none, the reply, tokens, cost, time",
        tuple(_JUDGMENTS),
        _judgments,
        kinds(
            integer="sample run attempts input_tokens output_tokens",
            number="value seconds",
            time="answered_at",
        ),
        {"reply": Part.REPLIES, "rationale": Part.REPLIES},
    ),
    ExportTable(
        "indicators",
        "R of an RTS and an MCQ judge of one model, by system and dimension",
        _INDICATORS,
        _indicators,
        kinds(
            integer="items rated_items",
            number="indicator indicator_low indicator_high agreement quality",
        ),
    ),
)
