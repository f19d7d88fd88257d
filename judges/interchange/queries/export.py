"""What judges add to an export: judges, runs, every judgment, the indicator R, and certificates."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db.models import Count, Min, Q, Sum

from annotate.core.models import Project
from annotate.exports.registry import ExportPart, ExportTable, Row, kinds
from annotate.exports.tables.rows import ColumnRows, with_actors
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell
from judges.core.errors import NoJudgesError
from judges.core.mapping import map_values
from judges.core.models import (
    Certificate,
    DevelopmentDocument,
    Judge,
    Judgment,
    JudgmentChange,
    MetricValue,
    Proposal,
    Run,
)
from judges.results.tables.indicator import INDICATOR, indicators_in

LEFT_OUT = "[left out of the export]"
"""What stands in the place of a text that quotes raters where their comments are left out."""


def _judges(project: Project) -> Iterator[Row]:
    keys = _keys_by_id(project)
    for row in ColumnRows(Judge.objects.filter(project=project).order_by("pk"), _JUDGES):
        yield {
            **row,
            "prompt_wordings": _by_key(row["prompt_wordings"], keys),
            "asked_together": _keys(row["asked_together"], keys),
        }


def _judges_without_comments(project: Project) -> Iterator[Row]:
    learned = _learned_wordings(project)
    for row in _judges(project):
        wordings = row["prompt_wordings"] or {}
        prompt = row["prompt"], row["prompt_version"]
        quoting = {key for key in wordings if _is_learned(learned, *prompt, key)}
        kept = {key: LEFT_OUT if key in quoting else text for key, text in wordings.items()}
        yield {**row, "prompt_wordings": kept if quoting else row["prompt_wordings"]}


def _learned_wordings(project: Project) -> dict[tuple[str, str], int]:
    """Return the first version of each prompt with a wording that was proposed, by its name and dimension.

    What was proposed may quote raters; later versions of the prompt may have it, too, edited or not.
    """
    made = Proposal.objects.filter(judge__project=project, candidate__template__isnull=False)
    by_wording = made.values_list("candidate__template__name", "dimension__key").order_by()
    first = by_wording.annotate(Min("candidate__template__version"))
    return {(name, key): version for name, key, version in first}


def _is_learned(learned: dict[tuple[str, str], int], name: str, version: int | None, key: str) -> bool:
    return version is not None and version >= learned.get((name, key), version + 1)


def _development_documents(project: Project) -> Iterator[Row]:
    drawn = DevelopmentDocument.objects.filter(document__project=project).order_by("document__key")
    yield from ColumnRows(drawn, {"document": "document__key", "drawn_at": "drawn_at"})


def _proposals(project: Project) -> Iterator[Row]:
    proposals = Proposal.objects.filter(judge__project=project).order_by("pk")
    numbers = {pk: number for number, pk in enumerate(proposals.values_list("pk", flat=True), start=1)}
    related = proposals.select_related("judge", "dimension", "candidate", "guideline")
    for each in related.prefetch_related("items__document", "items__system", "parts"):
        is_open = each.status == Proposal.Status.DRAFTING  # no worker drafts it in a copy of the project
        yield {
            "proposal": numbers[each.pk],
            "judge": each.judge.name,
            "dimension": each.dimension.key,
            "kind": each.kind,
            "status": str(Proposal.Status.FAILED if is_open else each.status),
            "text": each.text,
            "about": each.about,
            "units": [[item.document.key, item.system.name] for item in each.items.all()],
            "parts": sorted(numbers[part.pk] for part in each.parts.all()),
            "is_chosen": each.is_chosen,
            "drafted_by": each.drafted_by,
            "problem": _WAS_DRAFTED if is_open else each.problem,
            "cost": _amount(each.cost),
            "candidate": each.candidate.name if each.candidate else None,
            "guideline_version": each.guideline.version if each.guideline else None,
            "created_at": each.created_at,
            "decided_at": each.decided_at,
        }


_WAS_DRAFTED = "It was being drafted when the project was exported."
_PROPOSALS = (
    *("proposal", "judge", "dimension", "kind", "status", "text", "about", "units", "parts", "is_chosen"),
    *("drafted_by", "problem", "cost", "candidate", "guideline_version", "created_at", "decided_at"),
)


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
    rows = ColumnRows(Run.objects.filter(project=project).order_by("pk"), _RUNS)
    for number, row in enumerate(rows, start=1):
        yield {**row, "run": number, **{name: _amount(row[name]) for name in RUN_AMOUNTS}}


RUN_AMOUNTS = ("budget", "spent", "reused_cost", "cache_savings")


_RUNS = {
    "run": "pk",
    "guideline_version": "guideline__version",
    "status": "status",
    "reason": "reason",
    "via": "via",
    "keeps_messages": "keeps_messages",
    "reuses_answers": "reuses_answers",
    "budget": "budget",
    "spent": "spent",
    "reused": "reused",
    "reused_cost": "reused_cost",
    "reused_cost_unknown": "reused_cost_unknown",
    "cached_tokens": "cached_tokens",
    "cached_tokens_unpriced": "cached_tokens_unpriced",
    "cache_savings": "cache_savings",
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
    for row in ColumnRows(in_order, {**_JUDGMENTS, **_REUSED}):
        scale = scales.get(row["judge"])
        row["mapped_value"] = (
            float(map_values(row["value"], scale, dimensions[row["dimension"]]))
            if scale and row["value"] is not None
            else None
        )
        row["asked_dimensions"] = _keys(row["asked_dimensions"], keys)
        row["run"], row["cost"] = numbers.get(row["run"]), _amount(row["cost"])
        source = {name: row.pop(f"reused_{name}") for name in JUDGMENT_KEY}
        row["reused_from"] = {} if source["judge"] is None else source
        if row["status"] == Judgment.Status.LEASED:  # who is asking it just now is nobody's business
            row["status"] = Judgment.Status.PLANNED.value
        yield row


def _judgments_without_comments(project: Project) -> Iterator[Row]:
    """Yield the rows without the messages of prompts that may quote raters."""
    learned = _learned_wordings(project)
    judges = Judge.objects.filter(project=project, template__isnull=False)
    of_judges = judges.values_list("name", "template__name", "template__version")
    prompts = {judge: (name, version) for judge, name, version in of_judges}
    for row in _judgments(project):
        name, version = prompts.get(row["judge"], ("", None))
        asked = {row["dimension"], *row["asked_dimensions"]}
        is_learned = any(_is_learned(learned, name, version, key) for key in asked)
        yield {**row, "messages": None} if is_learned else row


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
JUDGMENT_KEY = ("judge", "document", "system", "other_system", "dimension", "sample")
"""The columns that name one judgment."""
_REUSED = {f"reused_{name}": f"reused_from__{_JUDGMENTS[name]}" for name in JUDGMENT_KEY}


def _judgment_changes(project: Project) -> Iterator[Row]:
    changes = JudgmentChange.objects.filter(judgment__judge__project=project).order_by("pk")
    keys = _keys_by_id(project)
    rows = (_earlier_answer(row, keys) for row in ColumnRows(changes, _JUDGMENT_CHANGES))
    return with_actors(rows, project, of="change", not_by_raters=_BY_ADMINS)


def _earlier_answer(row: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
    """Return a change whose earlier answer keeps the messages' hash alone: they hold texts of documents.

    Ids mean nothing elsewhere, so it does not say which judgment that answer was taken over from.
    """
    before = row["answer_before"]
    if not before:
        return row
    asked = _keys(before.get("asked_dimensions", []), keys)
    elsewhere = {"messages": None, "asked_dimensions": asked, "reused_from_id": None}
    return {**row, "answer_before": {**before, **elsewhere}}


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


def _metrics(project: Project) -> ColumnRows:
    values = MetricValue.objects.filter(metric__project=project)
    return ColumnRows(values.order_by("metric__name", "item"), _METRICS)


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


def _certificates(project: Project) -> ColumnRows:
    found = Certificate.objects.filter(calibration__project=project, calibration__status="certified")
    return ColumnRows(found.order_by("calibration", "dimension__position", "pk"), _CERTIFICATES)


_CERTIFICATES = {
    "calibration": "calibration__name",
    "judge": "calibration__judge__name",
    "other": "calibration__other__name",
    "confidence": "calibration__confidence",
    "loss": "calibration__loss",
    "cut": "calibration__cut",
    "risk": "calibration__risk",
    "calibration_significance_level": "calibration__significance_level",
    "raters": "calibration__raters",
    "drawn_at": "calibration__drawn_at",
    "computed_at": "calibration__ended_at",
    "dimension": "dimension__key",
    "significance_level": "significance_level",
    "threshold": "threshold",
    "reason": "reason",
    "units": "units",
    "kept": "kept",
    "rated": "rated",
    "missing": "missing",
    "accepted": "accepted",
    "errors": "errors",
    "upper_bound": "upper_bound",
    "ceiling": "ceiling",
    "ceiling_units": "ceiling_units",
}


def _amount(money: object) -> str | None:
    """Return an amount as text with all its digits, which a binary fraction would not hold."""
    return None if money is None else f"{money:f}"


JUDGE_TABLES = (
    ExportTable(
        "development_documents",
        "the documents that judges may have learned from, which figures about judges leave out",
        ("document", "drawn_at"),
        _development_documents,
        kinds(time="drawn_at"),
    ),
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
        rows_without={ExportPart.COMMENTS: _judges_without_comments},
    ),
    ExportTable(
        "proposals",
        "what was proposed for the prompts of judges from people's discussions, and what became of it",
        _PROPOSALS,
        _proposals,
        kinds(
            integer="proposal guideline_version",
            flag="is_chosen",
            time="created_at decided_at",
            listed="units parts",
        ),
        {"text": ExportPart.COMMENTS},
    ),
    ExportTable(
        "runs",
        "the runs in which judgments were collected, with what they cost",
        tuple(_RUNS),
        _runs,
        kinds(
            integer="run guideline_version reused reused_cost_unknown cached_tokens cached_tokens_unpriced",
            flag="keeps_messages reuses_answers",
            time="created_at started_at finished_at",
        ),
    ),
    ExportTable(
        "judgments",
        "every judgment: its value or why there is none, the reply, tokens, cost, time",
        (*_JUDGMENTS, "reused_from", "mapped_value"),
        _judgments,
        kinds(
            integer="sample run attempts input_tokens output_tokens cached_tokens reasoning_tokens",
            number="value mapped_value seconds",
            time="answered_at",
            listed="parameters messages asked_dimensions steps reused_from",
            flag="is_corrected",
        ),
        {
            "reply": ExportPart.REPLIES,
            "rationale": ExportPart.REPLIES,
            "refusal": ExportPart.REPLIES,
            "messages": ExportPart.SOURCES,
        },
        rows_without={ExportPart.COMMENTS: _judgments_without_comments},
    ),
    ExportTable(
        "judgment_changes",
        "what people set, excluded or let ask again, and what was read again, with the reason",
        tuple(_JUDGMENT_CHANGES),
        _judgment_changes,
        kinds(integer="sample", number="value_before value_after", time="at", listed="answer_before"),
        {"answer_before": ExportPart.REPLIES},
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
    ExportTable(
        "certificates",
        "what tests with people promised of judges, by dimension, with the figures that this rests on",
        tuple(_CERTIFICATES),
        _certificates,
        kinds(
            number="cut risk calibration_significance_level significance_level threshold upper_bound ceiling",
            integer="raters units kept rated missing accepted errors ceiling_units",
            time="drawn_at computed_at",
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
