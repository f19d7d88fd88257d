from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, Sum
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models import MeasurementLevelChoices, Project
from annotate.exports.checklist import ChecklistLine
from annotate.exports.formats.datasheet import write_days
from annotate.exports.registry import (
    AT_ONCE,
    ColumnRows,
    ExportColumn,
    ExportPart,
    ExportTable,
    Row,
    ValueKind,
    add_actor_names,
    read_columns,
)
from annotate.items.registry import ItemLead, ItemMark
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell
from judges.core.errors import NoJudgesError
from judges.core.judge_settings import JUDGE_SETTINGS
from judges.core.models import (
    OF_PROJECT,
    Certificate,
    DevelopmentDocument,
    Judge,
    Judgment,
    JudgmentChange,
    MetricValue,
    Proposal,
    Run,
)
from judges.core.values import map_values
from judges.results.tables.reliability import INDICATOR, indicators_in

LEFT_OUT = "[left out of the export]"
"""What stands in the place of a text that quotes raters where their comments are left out."""


def _judges(project: Project) -> Iterator[Row]:
    keys = _keys_by_id(project)
    for row in ColumnRows(Judge.objects.filter(project=project).order_by("pk"), JUDGES.sources):
        yield {
            **row,
            "prompt_wordings": _key_wordings(row["prompt_wordings"], keys),
            "asked_together": _keys(row["asked_together"], keys),
        }


def _judges_without_comments(project: Project) -> Iterator[Row]:
    learned = _learned_wordings(project)
    for row in _judges(project):
        wordings = row["prompt_wordings"] or {}
        prompt = row["prompt"], row["prompt_version"]
        # Only wordings that may quote raters are excluded; the others and the common prompt stay.
        quoting = {key for key in wordings if _is_learned(learned, *prompt, key)}
        kept = {key: LEFT_OUT if key in quoting else text for key, text in wordings.items()}
        yield {**row, "prompt_wordings": kept if quoting else row["prompt_wordings"]}


def _learned_wordings(project: Project) -> dict[tuple[str, str], int]:
    """Return the first version of each prompt with a proposed wording, by its name and dimension.

    A proposal may quote raters; later versions of the prompt may have it, too, edited or not.
    """
    made = Proposal.objects.filter(
        judge__project=project, candidate__template__isnull=False, candidate__tried_by=None
    )
    by_wording = made.values_list("candidate__template__name", "dimension__key").order_by()
    first = by_wording.annotate(Min("candidate__template__version"))
    return {(name, key): version for name, key, version in first}


def _is_learned(learned: dict[tuple[str, str], int], name: str, version: int | None, key: str) -> bool:
    # Without an entry the second comparison is false: a version is below its successor.
    return version is not None and version >= learned.get((name, key), version + 1)


def _development_documents(project: Project) -> ColumnRows:
    drawn = DevelopmentDocument.objects.filter(document__project=project).order_by("document__key")
    return ColumnRows(drawn, DEVELOPMENT_DOCUMENTS.sources)


def _proposals(project: Project) -> Iterator[Row]:
    proposals = Proposal.objects.filter(judge__project=project)
    # Candidates that a search tried and did not choose stay out of exports (decision 45).
    proposals = proposals.exclude(status=Proposal.Status.TRIED, is_chosen=False).order_by("pk")
    numbers = {pk: number for number, pk in enumerate(proposals.values_list("pk", flat=True), start=1)}
    related = proposals.select_related("judge", "dimension", "candidate", "guideline")
    for each in related.prefetch_related("items__document", "items__system", "parts"):
        is_open = each.status == Proposal.Status.DRAFTING  # no worker drafts it in a copy of the project
        yield {
            **{name: getattr(each, source) for name, source in PROPOSALS.sources.items()},
            "proposal": numbers[each.pk],
            "judge": each.judge.name,
            "dimension": each.dimension.key,
            "status": str(Proposal.Status.FAILED if is_open else each.status),
            "units": sorted([item.document.key, item.system.name] for item in each.items.all()),
            "parts": sorted(numbers[part.pk] for part in each.parts.all()),
            "problem": _WAS_DRAFTED if is_open else each.problem,
            "cost": _amount(each.cost),
            "candidate": each.candidate.name if each.candidate else None,
            "guideline_version": each.guideline.version if each.guideline else None,
        }


_WAS_DRAFTED = "It was being drafted when the project was exported."


def _keys_by_id(project: Project) -> dict[str, str]:
    return {str(pk): key for pk, key in project.dimensions.values_list("pk", "key")}


def _key_wordings(wordings: dict[str, str] | None, keys: dict[str, str]) -> dict[str, str] | None:
    """Return a prompt's wordings by dimension key, because ids are valid in this project only."""
    # None remains None: a judge without a prompt has no wordings.
    return wordings and {keys[pk]: text for pk, text in wordings.items() if pk in keys}


def _keys(ids: list[int], keys: dict[str, str]) -> list[str]:
    """Return keys of dimensions; no judgment can refer to a deleted one."""
    return [keys[str(pk)] for pk in ids if str(pk) in keys]


def _runs(project: Project) -> Iterator[Row]:
    rows = ColumnRows(Run.objects.filter(project=project).order_by("pk"), RUNS.sources)
    amounts = RUNS.names_of(ValueKind.AMOUNT)
    for number, row in enumerate(rows, start=1):
        yield {**row, "run": number, **{name: _amount(row[name]) for name in amounts}}


def _judgments(project: Project) -> Iterator[Row]:
    runs = Run.objects.filter(project=project).order_by("pk").values_list("pk", flat=True)
    # Runs are numbered within the export, because ids are valid in this database only.
    numbers = {pk: number for number, pk in enumerate(runs, start=1)}
    judgments = Judgment.objects.filter(judge__project=project, **OF_PROJECT)
    in_order = judgments.order_by("judge", "item", "other", "dimension__position", "sample", "pk")
    judges = Judge.objects.filter(project=project, scale_minimum__isnull=False)
    scales = {judge.name: judge.own_scale for judge in judges}
    dimensions = {each.key: each for each in project.dimensions.all()}
    # The key of the judgment whose answer was reused, read in the same query.
    reused = {f"reused_{name}": f"reused_from__{JUDGMENTS.sources[name]}" for name in JUDGMENT_KEY}
    keys = {str(each.pk): key for key, each in dimensions.items()}
    for row in ColumnRows(in_order, {**JUDGMENTS.sources, **reused}):
        scale = scales.get(row["judge"])
        row["mapped_value"] = (
            float(map_values(row["value"], scale, dimensions[row["dimension"]]))
            if scale and row["value"] is not None
            else None
        )
        row["asked_dimensions"] = _keys(row["asked_dimensions"], keys)
        row["run"], row["cost"] = numbers.get(row["run"]), _amount(row["cost"])
        # Exports have no ids of judgments, so the columns of their key name the source.
        source = {name: row.pop(f"reused_{name}") for name in JUDGMENT_KEY}
        row["reused_from"] = {} if source["judge"] is None else source
        if row["status"] == Judgment.Status.LEASED:  # the current lease is internal
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


JUDGMENT_KEY = ("judge", "document", "system", "other_system", "dimension", "sample")
"""The columns that name one judgment."""


def _judgment_changes(project: Project) -> Iterator[Row]:
    changes = JudgmentChange.objects.filter(
        judgment__judge__project=project,
        # Hidden judges of searches and of drift checks are not in the export, so their changes are not.
        judgment__judge__tried_by=None,
        judgment__judge__rechecks=None,
    ).order_by("pk")
    keys = _keys_by_id(project)
    rows = (_earlier_answer(row, keys) for row in ColumnRows(changes, JUDGMENT_CHANGES.sources))
    # Only admins change judgments, and a rater's pseudonym there would identify an admin who also rates.
    return add_actor_names(rows, project, of="change", not_by_raters=_BY_ADMINS)


def _earlier_answer(row: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
    """Return a change with only the hash of its earlier answer's messages, which contain documents.

    Ids are valid in this database only, so the id of the earlier answer's source is omitted.
    """
    before = row["answer_before"]
    if not before:
        return row
    asked = _keys(before.get("asked_dimensions", []), keys)
    elsewhere = {"messages": None, "asked_dimensions": asked, "reused_from_id": None}
    return {**row, "answer_before": {**before, **elsewhere}}


_BY_ADMINS = set(JudgmentChange.Kind)


def _metrics(project: Project) -> ColumnRows:
    values = MetricValue.objects.filter(metric__project=project)
    return ColumnRows(values.order_by("metric__name", "item"), METRICS.sources)


def _indicators(project: Project) -> Iterator[Row]:
    """Yield R of the first pair of judges on the reliability page, with the values of that page."""
    try:
        result = result_of(project, "reliability")
        page = current_page(project=project, result=result)
    # A project without a pair of judges exports an empty table.
    except NoJudgesError:
        return
    # The page's own choice of judges and coefficient, as every row repeats it.
    names = {each.parameter.name: dict(each.options)[each.value] for each in result.choices}
    pair = {"rts": names["rts"], "mcq": names["mcq"], "coefficient": result.chosen["coefficient"]}
    table, agreement, quality = (page.table(key) for key in (INDICATOR, "agreement", "quality"))
    assert table is not None  # if there is a pair of judges
    agreements = indicators_in(agreement) if agreement else {}
    # R needs no ratings, so its rows exist before agreement and quality do.
    unrated = Cell(count=0, reason=gettext("No person has rated these items yet."))
    qualities = {(row[1].value, row[0].value): row[2] for row in quality.rows} if quality else {}
    for column in table.columns[1:]:
        for (system, key), found in indicators_in(table).items():
            if key == column.key:
                rated = agreements.get((system, key), unrated)
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
                    "quality": qualities.get((system, column.name), unrated).value,
                }


def _certificates(project: Project) -> ColumnRows:
    found = Certificate.objects.filter(calibration__project=project, calibration__status="certified")
    return ColumnRows(found.order_by("calibration", "dimension__position", "pk"), CERTIFICATES.sources)


def _amount(money: object) -> str | None:
    """Return an amount as a string with all its digits, which a binary fraction would not hold."""
    return None if money is None else f"{money:f}"


_COLUMNS = read_columns(Path(__file__).parents[1] / "columns.csv")
_SETTINGS = tuple(
    ExportColumn(
        each.name, each.meaning, each.kind, "reference__name" if each.name == "reference" else each.name
    )
    for each in JUDGE_SETTINGS
)
DEVELOPMENT_DOCUMENTS = ExportTable(
    "development_documents",
    "the documents that judges may have learned from; statistics about judges exclude them",
    _COLUMNS["development_documents"],
    _development_documents,
)
JUDGES = ExportTable(
    "judges",
    "the models that judge, each with its method, prompt and settings, but without its server",
    (*_COLUMNS["judges"], *_SETTINGS),
    _judges,
    rows_without={ExportPart.COMMENTS: _judges_without_comments},
)
PROPOSALS = ExportTable(
    "proposals",
    "proposed changes of prompts, from people's discussions, and their outcome",
    _COLUMNS["proposals"],
    _proposals,
)
RUNS = ExportTable(
    "runs", "the runs in which judgments were collected, with their cost", _COLUMNS["runs"], _runs
)
JUDGMENTS = ExportTable(
    "judgments",
    "every judgment, about a unit or an ordered pair: value or reason, reply, tokens, cost, time",
    _COLUMNS["judgments"],
    _judgments,
    rows_without={ExportPart.COMMENTS: _judgments_without_comments},
)
JUDGMENT_CHANGES = ExportTable(
    "judgment_changes",
    "every change of a judgment by a person, a repeated call or a second reading, with the reason",
    _COLUMNS["judgment_changes"],
    _judgment_changes,
)
METRICS = ExportTable(
    "metrics", "the values of metrics for each item, on their own scales", _COLUMNS["metrics"], _metrics
)
INDICATORS = ExportTable(
    "indicators",
    "R of an RTS and an MCQ judge of one model, by system and dimension",
    _COLUMNS["indicators"],
    _indicators,
    is_computed=True,
)
CERTIFICATES = ExportTable(
    "certificates",
    "the bounds on judges' errors from tests with people, by dimension",
    _COLUMNS["certificates"],
    _certificates,
    lost="A certificate is bound to the judges and endpoints of the first project.",
)
JUDGE_TABLES = (
    *(DEVELOPMENT_DOCUMENTS, JUDGES, PROPOSALS, RUNS, JUDGMENTS, JUDGMENT_CHANGES),
    *(METRICS, INDICATORS, CERTIFICATES),
)


def judges_in_datasheet(project: Project) -> list[str]:
    """Return a line for each judge with answers: its set-up, number of values and cost."""
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


def judges_in_checklist(project: Project) -> list[ChecklistLine]:
    judges = (
        Judge.objects.filter(project=project, judgments__status=Judgment.Status.DONE)
        .select_related("template", "endpoint")
        .annotate(first=Min("judgments__answered_at"), last=Max("judgments__answered_at"))
        .order_by("name")
    )
    return [ChecklistLine("Judges, with versions", " ".join(map(_version_of_judge, judges)) or _NO_JUDGE)]


_NO_JUDGE = "No language model judged the items."


def _version_of_judge(judge: Judge) -> str:
    if judge.template is None:  # imported judgments; its columns hold defaults
        settings = "prompt and temperature not recorded"
    else:
        temperature = "not sent" if judge.temperature is None else f"{judge.temperature:g}"
        seed = "" if judge.seed is None else f", seed {judge.seed}"
        settings = f"prompt {judge.template}, temperature {temperature}, {judge.samples} samples{seed}"
    first, last = judge.first, judge.last  # type: ignore[attr-defined]
    days = write_days(first, last) if first and last else "on days that are not known"
    return f"{judge.name}: model {judge.model or 'unknown'}, method {judge.method}, {settings}; {days}."


def _cost(cost: Decimal | None) -> str:
    return "its cost is unknown" if cost is None else f"it cost {cost:f}"


def scores_by_item(project: Project) -> Iterator[tuple[int, Row]]:
    """Yield a score after the key of its item: the mean of a judge's samples on the dimension's scale.

    Categories have no mean and use the most frequent one; ties use the one returned first.
    """
    judges = Judge.objects.filter(project=project, scale_minimum__isnull=False)
    scales = {judge.name: judge.own_scale for judge in judges}
    dimensions = {each.key: each for each in project.dimensions.all()}
    for (item, judge, key), group in groupby(_values(project), key=itemgetter(0, 1, 2)):
        given, scale, dimension = [value for *_, value in group], scales.get(judge), dimensions[key]
        # The mean is on the dimension's scale, so each sample is mapped before it.
        if scale:
            given = map_values(given, scale, dimension).tolist()
        is_named = dimension.measurement_level == MeasurementLevelChoices.NOMINAL
        score = float(Counter(given).most_common(1)[0][0] if is_named else fmean(given))
        yield item, {"judge": judge, "dimension": key, "score": score}


def _values(project: Project) -> Iterator[tuple[int, str, str, float]]:
    judgments = Judgment.objects.filter(
        judge__project=project,
        **OF_PROJECT,
        other=None,
        status=Judgment.Status.DONE,
        value__isnull=False,
    )
    in_order = judgments.order_by("item", "judge", "dimension__position", "dimension", "sample", "pk")
    columns = in_order.values_list("item", "judge__name", "dimension__key", "value")
    for item, judge, dimension, value in columns.iterator(AT_ONCE):
        assert value is not None  # filtered
        yield item, judge, dimension, value


def _has_judgment() -> Q:
    return Q(Exists(Judgment.objects.filter(item=OuterRef("pk"), status=Judgment.Status.DONE)))


ITEM_MARKS = (
    ItemMark("judged", _("judged"), _has_judgment),
    ItemMark("unjudged", _("not judged yet"), lambda: ~_has_judgment()),
    ItemMark("development", _("judges may learn from it"), lambda: Q(document__development__isnull=False)),
)
ITEM_LEAD = ItemLead("run_plan", _("Have judges judge these"))
