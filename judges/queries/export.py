"""What judges add to an export: the judges, their runs, every judgment, and the indicator R."""

from collections.abc import Iterator

from annotate.export_tables import Part, Row, Table, kinds
from annotate.models import Project
from annotate.queries.export.rows import named
from judges.errors import NoJudgesError
from judges.models import Judge, Judgment, Run
from judges.queries.pairings import measured_judges, usual_pairing
from judges.queries.reliability import reliability_report

COEFFICIENT = "spearman"


def _judges(project: Project) -> Iterator[Row]:
    return named(Judge.objects.filter(project=project).order_by("pk"), _JUDGES)


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
    rows = named(Run.objects.filter(project=project).order_by("pk"), _RUNS)
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
    for row in named(in_order, _JUDGMENTS):
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
    try:
        pairing = usual_pairing(measured_judges(project))
    except NoJudgesError:
        return
    report = reliability_report(project, pairing, coefficient=COEFFICIENT)
    for one in report.dimensions:
        for each in one.figures.systems:
            interval = each.indicator.interval
            yield {
                "rts": pairing.rts.name,
                "mcq": pairing.mcq.name,
                "coefficient": COEFFICIENT,
                "dimension": one.dimension.key,
                "system": each.system,
                "items": each.items,
                "indicator": each.indicator.value,
                "indicator_low": interval.low if interval else None,
                "indicator_high": interval.high if interval else None,
                "reason": each.indicator.reason or "",
                "rated_items": each.rated,
                "agreement": each.agreement.value,
                "quality": each.quality.value,
            }


_INDICATORS = (
    *("rts", "mcq", "coefficient", "dimension", "system", "items"),
    *("indicator", "indicator_low", "indicator_high", "reason", "rated_items", "agreement", "quality"),
)


def _amount(money: object) -> str | None:
    """Return an amount as text with all its digits, which a binary fraction would not hold."""
    return None if money is None else f"{money:f}"


JUDGE_TABLES = (
    Table(
        "judges",
        "the models that judge, each with its method, prompt and settings",
        tuple(_JUDGES),
        _judges,
        kinds(integer="prompt_version samples max_tokens", number="temperature", flag="structured"),
    ),
    Table(
        "runs",
        "the runs in which judgments were collected, with what they cost",
        tuple(_RUNS),
        _runs,
        kinds(integer="run guideline_version", time="created_at started_at finished_at"),
    ),
    Table(
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
    Table(
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
