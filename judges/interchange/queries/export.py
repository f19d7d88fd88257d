"""What judges add to an export: the judges, their runs, every judgment, and the indicator R."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from annotate.core.models import Project
from annotate.exports.registry import ExportTable, Part, Row, kinds
from annotate.exports.tables.rows import rows_by_column, with_actors
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell
from judges.core.errors import NoJudgesError
from judges.core.mapping import mapped
from judges.core.models import Judge, Judgment, JudgmentChange, MetricValue, Run
from judges.results.tables.indicator import INDICATOR, indicators_in


def _judges(project: Project) -> Iterator[Row]:
    keys = _keys_by_id(project)
    for row in rows_by_column(Judge.objects.filter(project=project).order_by("pk"), _JUDGES):
        yield {
            **row,
            "prompt_wordings": _by_key(row["prompt_wordings"], keys),
            "asked_together": _keys(row["asked_together"], keys),
        }


def _keys_by_id(project: Project) -> dict[str, str]:
    return {str(pk): key for pk, key in project.dimensions.values_list("pk", "key")}


def _by_key(wordings: dict[str, str] | None, keys: dict[str, str]) -> dict[str, str] | None:
    """Return a prompt's wordings by the dimensions' keys, as other projects know them."""
    return wordings and {keys[pk]: text for pk, text in wordings.items() if pk in keys}


_JUDGES = {
    "judge": "name",
    "model": "model",
    "method": "method",
    "prompt": "template__name",
    "prompt_version": "template__version",
    "prompt_text": "template__text",
    "prompt_wordings": "template__wordings",
    "prompt_pattern": "template__pattern",
    "temperature": "temperature",
    "samples": "samples",
    "max_tokens": "max_tokens",
    "max_tokens_name": "max_tokens_name",
    "score_from": "score_from",
    "structured": "structured",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop",
    "reasoning_effort": "reasoning_effort",
    "system_message": "system_message",
    "extra_body": "extra_body",
    "scale_minimum": "scale_minimum",
    "scale_maximum": "scale_maximum",
    "scale_modifiers": "scale_modifiers",
    "scale_thirds": "scale_thirds",
    "scale_table": "scale_table",
    "asked_together": "asked_together",
    "call_order": "call_order",
    "reference": "reference__name",
}


def _keys(ids: list[int], keys: dict[str, str]) -> list[str]:
    """Return keys of dimensions; one that is gone cannot have been asked about."""
    return [keys[str(pk)] for pk in ids if str(pk) in keys]


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
    "keeps_messages": "keeps_messages",
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
    judges = Judge.objects.filter(project=project, scale_minimum__isnull=False)
    scales = {judge.name: judge.own_scale for judge in judges}
    dimensions = {each.key: each for each in project.dimensions.all()}
    keys = {str(each.pk): key for key, each in dimensions.items()}
    for row in rows_by_column(in_order, _JUDGMENTS):
        scale = scales.get(row["judge"])
        row["mapped_value"] = (
            float(mapped(row["value"], scale, dimensions[row["dimension"]]))
            if scale and row["value"] is not None
            else None
        )
        row["asked_dimensions"] = _keys(row["asked_dimensions"], keys)
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
    "problem": "problem",
    "rationale": "rationale",
    "reply": "reply",
    "parameters": "parameters",
    "messages_hash": "messages_hash",
    "messages": "messages",
    "asked_dimensions": "asked_dimensions",
    "steps": "steps",
    "finish_reason": "finish_reason",
    "refusal": "refusal",
    "returned_model": "returned_model",
    "system_fingerprint": "system_fingerprint",
    "attempts": "attempts",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "cached_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "cost": "cost",
    "seconds": "seconds",
    "answered_at": "answered_at",
    "is_corrected": "is_corrected",
}


def _judgment_changes(project: Project) -> Iterator[Row]:
    changes = JudgmentChange.objects.filter(judgment__judge__project=project).order_by("pk")
    keys = _keys_by_id(project)
    rows = (_earlier_answer(row, keys) for row in rows_by_column(changes, _JUDGMENT_CHANGES))
    return with_actors(rows, project, of="change", not_by_raters=_BY_ADMINS)


def _earlier_answer(row: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
    """Return a change whose earlier answer keeps the messages' hash alone: they hold texts of documents."""
    before = row["answer_before"]
    if not before:
        return row
    asked = _keys(before.get("asked_dimensions", []), keys)
    return {**row, "answer_before": {**before, "messages": None, "asked_dimensions": asked}}


_JUDGMENT_CHANGES = {
    "judge": "judgment__judge__name",
    "document": "judgment__item__document__key",
    "system": "judgment__item__system__name",
    "other_system": "judgment__other__system__name",
    "dimension": "judgment__dimension__key",
    "sample": "judgment__sample",
    "at": "at",
    "change": "kind",
    "status_before": "status_before",
    "value_before": "value_before",
    "reason_before": "reason_before",
    "problem_before": "problem_before",
    "answer_before": "answer_before",
    "status_after": "status_after",
    "value_after": "value_after",
    "note": "note",
    "by": "actor",
}
_BY_ADMINS = set(JudgmentChange.Kind)


def _metrics(project: Project) -> Iterator[Row]:
    values = MetricValue.objects.filter(metric__project=project)
    return rows_by_column(values.order_by("metric__name", "item"), _METRICS)


_METRICS = {
    "metric": "metric__name",
    "source": "metric__source",
    "document": "item__document__key",
    "system": "item__system__name",
    "value": "value",
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
        kinds(
            integer="prompt_version samples max_tokens seed scale_minimum scale_maximum",
            number="temperature top_p",
            flag="structured scale_modifiers scale_thirds",
            listed="prompt_wordings stop extra_body scale_table asked_together",
        ),
    ),
    ExportTable(
        "runs",
        "the runs in which judgments were collected, with what they cost",
        tuple(_RUNS),
        _runs,
        kinds(
            integer="run guideline_version", flag="keeps_messages", time="created_at started_at finished_at"
        ),
    ),
    ExportTable(
        "judgments",
        "every judgment: its value or why there is none, the reply, tokens, cost, time",
        (*_JUDGMENTS, "mapped_value"),
        _judgments,
        kinds(
            integer="sample run attempts input_tokens output_tokens cached_tokens reasoning_tokens",
            number="value mapped_value seconds",
            time="answered_at",
            listed="parameters messages asked_dimensions steps",
            flag="is_corrected",
        ),
        {
            "reply": Part.REPLIES,
            "rationale": Part.REPLIES,
            "refusal": Part.REPLIES,
            "messages": Part.SOURCES,
        },
    ),
    ExportTable(
        "judgment_changes",
        "what people set, excluded or let ask again, and what was read again, with the reason",
        tuple(_JUDGMENT_CHANGES),
        _judgment_changes,
        kinds(integer="sample", number="value_before value_after", time="at", listed="answer_before"),
        {"answer_before": Part.REPLIES},
    ),
    ExportTable(
        "metrics",
        "what metrics say of each item, on their own scales",
        tuple(_METRICS),
        _metrics,
        kinds(number="value"),
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


def judges_in_datasheet(project: Project) -> list[str]:
    """Return a sentence for each judge with answers: what it is, how many values it gave, what it cost."""
    done = Q(judgments__status=Judgment.Status.DONE)
    answered = done | Q(judgments__status=Judgment.Status.UNREADABLE)
    judges = Judge.objects.filter(project=project).annotate(
        values_count=Count("judgments", filter=done),
        unreadable=Count("judgments", filter=answered & ~done),
        cost=Sum("judgments__cost"),
    )
    return [
        f"The judge {judge.name} ({judge.model or 'model unknown'}, method {judge.method}) gave "
        f"{judge.values_count:,} values; {judge.unreadable:,} replies were unreadable; "
        f"{_cost(judge.cost)}."
        for judge in judges.order_by("pk")
        if judge.values_count or judge.unreadable
    ]


def _cost(cost: Decimal | None) -> str:
    return "its cost is unknown" if cost is None else f"it cost {cost:f}"
