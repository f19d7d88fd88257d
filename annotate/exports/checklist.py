"""A reporting checklist, filled with the project's facts. Other apps add lines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from annotate.core.guidelines import extent, guideline_at
from annotate.core.models import (
    Assignment,
    AuditEntry,
    CountingDecision,
    Dimension,
    Dispute,
    GoldItem,
    Item,
    Membership,
    OutsideRater,
    OutsideStudy,
    PayRule,
    Project,
    Role,
    Round,
)
from annotate.core.rounds import uncounted_annotators
from annotate.core.version import VERSION
from annotate.disputes.queries.rules import rule_of
from annotate.exports.citation import Datasheet, DatasheetSection
from annotate.exports.formats.datasheet import (
    Facts,
    facts_of,
    markdown_table,
    plain_line,
    read_alphas,
    write_day,
)
from annotate.questions import kind_of

NOT_RECORDED = "Not recorded in Concord: state it yourself."
TITLE = "Reporting checklist"
INTRODUCTION = (
    "Concord filled {filled} of {total} lines from the project. The last column names the questions of the "
    "Human Evaluation Datasheet HEDS 2.0 {source} that a line answers, fully or in part."
)
SOURCE = "(Shimorina and Belz 2022)"


@dataclass(frozen=True)
class ChecklistLine:
    """One thing to report. answer: empty if Concord does not record it. heds: questions of HEDS 2.0."""

    topic: str
    answer: str = ""
    heds: str = ""

    @property
    def text(self) -> str:
        return self.answer or NOT_RECORDED


ChecklistLines = Callable[[Project], Sequence[ChecklistLine]]
CHECKLIST_LINES: dict[str, ChecklistLines] = {}
"""Other apps' lines, by the name of the app."""


def checklist(project: Project) -> list[ChecklistLine]:
    """Return the lines. The same data give the same lines, because accesses count only once Round I is
    closed.
    """
    facts = facts_of(project)
    first = facts.rounds[0].round if facts.rounds else None
    lines = [
        *_design(project, facts, first),
        *_people(project, facts, first),
        *_conduct(project, facts, first),
        *_analysis(project, facts),
    ]
    lines += [line for added in CHECKLIST_LINES.values() for line in added(project)]
    return [
        *lines,
        ChecklistLine("Approval by an ethics committee", heds="5.1"),
        ChecklistLine("Personal and special category data in texts and answers", heds="5.2, 5.3"),
    ]


def introduce(lines: Sequence[ChecklistLine], source: str = SOURCE) -> str:
    """Return the introduction above the lines. source: the citation."""
    filled = sum(bool(each.answer) for each in lines)
    return INTRODUCTION.format(filled=filled, total=len(lines), source=source)


def checklist_markdown(project: Project, lines: Sequence[ChecklistLine]) -> str:
    """Return the checklist as a table in Markdown; input of admins is escaped."""
    rows = ((plain_line(each.topic), plain_line(each.text), each.heds or "–") for each in lines)
    table = markdown_table("what | answer | HEDS", rows)
    return f"# {TITLE}: {plain_line(project.name)}\n\n{introduce(lines)}\n\n{table}\n"


def _design(project: Project, facts: Facts, first: Round | None) -> Iterator[ChecklistLine]:
    yield ChecklistLine("Preregistration, and deviations from it", heds="3.3.1")
    yield ChecklistLine("Items evaluated", _items(project, facts), "3.1.1")
    yield ChecklistLine("Selection of documents and systems", heds="3.1.2, 2.1–2.5")
    yield ChecklistLine("Power of the sample, computed before data", heds="3.1.3")
    yield ChecklistLine("Guidelines, and when they were frozen", _guidelines(facts))
    yield ChecklistLine("Questions, scales and definitions", _scales(project, first), "4.3.1–4.3.4, 4.3.7")
    yield ChecklistLine("Rule of disputes, and when it was set", _dispute_rule(project, first))
    yield ChecklistLine("Assignment and order of items", _assignment(facts, first))
    seeds = "".join(f", {each.round} {each.round.seed}" for each in facts.rounds)
    yield ChecklistLine("Seeds", f"Project {project.seed}{seeds}.")


def _items(project: Project, facts: Facts) -> str:
    if not facts.items:
        return ""
    outputs = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT).order_by("system")
    # Some systems may have fewer outputs than others.
    counts = [count for _, count in outputs.values_list("system").annotate(count=Count("pk"))]
    of_system = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
    return (
        f"{facts.items:,} outputs of {facts.systems:,} systems for {facts.documents:,} documents, "
        f"{of_system} of each system."
    )


def _guidelines(facts: Facts) -> str:
    return " ".join(
        f"{each.round}: version {each.round.guideline.version}, frozen on "
        f"{write_day(each.round.guideline.frozen_at)}; opened on {write_day(each.round.opened_at)}, "
        + (f"closed on {write_day(each.round.closed_at)}." if each.round.closed_at else "still open.")
        for each in facts.rounds
    )


def _scales(project: Project, first: Round | None) -> str:
    described = []
    for each in guideline_at(project, first).dimensions:
        scale = extent(each.scale_minimum, each.scale_maximum, each.scale_step) if each.is_scale else ""
        described.append(f"{each.name} ({scale or kind_of(each).name})")
    if not described:
        return ""
    seen = " Raters saw the definition and the guidelines of each." if _is_rated_here(first) else ""
    return f"{', '.join(described)}.{seen} The export's table dimensions has both."


def _dispute_rule(project: Project, first: Round | None) -> str:
    rules = [(each.name, rule_of(project, each)) for each in Dimension.objects.filter(project=project)]
    if not rules:
        return ""
    stated = "; ".join(
        f"{name}: from {rule.threshold:g}, settled within {rule.tolerance:g}" for name, rule in rules
    )
    changes = AuditEntry.objects.filter(project=project, act__endswith=".dispute_rule_set").order_by("at")
    days = [write_day(entry.at) for entry in changes]
    if not days:
        return f"{stated}. No change of the rule is in the audit log."
    # There may have been ratings already when these rules were set.
    late = sum(first is not None and entry.at > first.opened_at for entry in changes)
    return f"{stated}. Set on {', '.join(dict.fromkeys(days))}; {late} times after Round I was opened."


def _assignment(facts: Facts, first: Round | None) -> str:
    if first is None:
        return ""
    plans = "; ".join(f"{label} ({count:,} assignments)" for label, count in facts.plans.items())
    if not _is_rated_here(first):
        return f"{plans}."
    return (
        f"{plans}. Work {first.get_work_order_display()}; dimensions {first.get_dimension_order_display()}. "
        "Names of systems were hidden from raters."
    )


def _is_rated_here(first: Round | None) -> bool:
    assignments = Assignment.objects.filter(round=first, completed_at__isnull=False)
    return first is not None and assignments.exclude(plan=Assignment.Plan.IMPORTED).exists()


def _people(project: Project, facts: Facts, first: Round | None) -> Iterator[ChecklistLine]:
    # Only raters from outside have records of pay and consent.
    study = OutsideStudy.objects.filter(project=project).first()
    joined = OutsideRater.objects.filter(study=study).count() if study else 0
    given = "; ".join(
        f"{each.round}: {each.raters} raters gave {each.values:,} values"
        for each in facts.rounds
        if each.values
    )
    yield ChecklistLine("Number of raters", f"{given}." if given else "", "3.2.1")
    written = Datasheet.from_dict(project.datasheet).sections.get(DatasheetSection.COLLECTION, "")
    link = f"{joined} raters joined by the project's link for raters from outside." if joined else ""
    recruited = " ".join(filter(None, (link, written)))
    yield ChecklistLine("Kind, recruitment and characteristics of raters", recruited, "3.2.2, 3.2.3, 3.2.5")
    yield ChecklistLine("Training and practice", _training(project), "3.2.4")
    payment = ""
    if study and joined and study.pay_rule != PayRule.NONE:
        rule = study.get_pay_rule_display()
        payment = f"Raters from outside: {study.pay_rate:f} {study.currency} for {rule}."
    yield ChecklistLine("Payment", payment, "3.2.2")
    consent = f"{joined} raters consented in Concord before they started." if joined else ""
    yield ChecklistLine("Consent", consent, "5.1")
    yield ChecklistLine("Quality checks", _quality_checks(project), "3.3.3")
    yield ChecklistLine("Excluded raters, and why", _exclusions(project, first), "3.3.3")


def _training(project: Project) -> str:
    parts = []
    # Practice items without a bar are asked of no one.
    practice = GoldItem.objects.filter(item__document__project=project, use=GoldItem.Use.PRACTICE).count()
    if project.practice_bar is not None and practice:
        raters = Membership.objects.filter(project=project, role=Role.ANNOTATOR)
        passed = raters.filter(practised_at__isnull=False).count()
        parts.append(
            f"Practice on {practice} items with reference values; {project.practice_bar} % had to be right, "
            f"and {passed} raters passed."
        )
    if sessions := project.calibration_sessions.count():
        parts.append(f"Calibration sessions before or during the rounds: {sessions}.")
    return " ".join(parts)


def _quality_checks(project: Project) -> str:
    hidden = GoldItem.objects.filter(item__document__project=project, use=GoldItem.Use.HIDDEN).count()
    shown = Assignment.objects.filter(
        round__in=Round.all_rounds.filter(project=project, number=Round.CHECKS)
    ).count()
    if not hidden and not shown:
        return "No hidden checks in Round I."
    return f"{hidden} hidden items with reference values; {shown} hidden checks were assigned in Round I."


def _exclusions(project: Project, first: Round | None) -> str:
    excluded = uncounted_annotators(project)
    if not excluded:
        return "The ratings of all raters count." if first else ""
    decisions = {
        each.membership_id: each
        for each in CountingDecision.objects.filter(membership__in=excluded, counted=False).order_by(
            "at", "pk"
        )
    }
    return " ".join(_describe_exclusion(each, decisions.get(each.pk), first) for each in excluded)


def _describe_exclusion(rater: Membership, decision: CountingDecision | None, first: Round | None) -> str:
    if decision is None:
        return f"{rater.rater_name}: no reason is recorded."
    closed = first.closed_at if first else None
    when = "after" if closed and decision.at > closed else "before"
    reason = decision.note.strip().rstrip(".") or "no reason"
    return f"{rater.rater_name}: {reason} (on {write_day(decision.at)}, {when} Round I was closed)."


def _conduct(project: Project, facts: Facts, first: Round | None) -> Iterator[ChecklistLine]:
    collected = f"Web forms of Concord {VERSION}." if _is_rated_here(first) else ""
    yield ChecklistLine("Collection of answers", collected, "3.3.2")
    yield ChecklistLine("What raters saw: screenshots", heds="3.3.4")
    yield ChecklistLine("Time and freedom of raters", _time(facts, first), "3.3.5, 3.3.7")
    yield ChecklistLine("Questions and feedback of raters", heds="3.3.6")
    yield ChecklistLine("Looks at results before the end", _looks(project, first))
    yield ChecklistLine("Disputes", _disputes(facts, first))
    missing = (
        f"{each.round}: {each.without_value:,} answers without a value."
        + (f" {each.unfinished:,} incomplete assignments." if each.round.is_independent else "")
        for each in facts.rounds
    )
    yield ChecklistLine("Missing and incomplete answers", " ".join(missing))
    yield ChecklistLine("Changes after Round I was opened", _changes(project, first))
    yield ChecklistLine("Other deviations from the plan")


def _time(facts: Facts, first: Round | None) -> str:
    if first is None or not _is_rated_here(first):
        return ""
    measured = facts.rounds[0].seconds
    hours = f" {measured / 3600:,.1f} hours of active time were measured in Round I." if measured else ""
    deadline = f" The deadline was {first.deadline:%Y-%m-%d}." if first.deadline else ""
    free = "Raters chose place and time, could stop and continue, and had no limit for an item."
    return f"{free}{deadline}{hours}"


def _looks(project: Project, first: Round | None) -> str:
    """Return the downloads while Round I was open; views of results pages are not recorded."""
    if first is None or first.closed_at is None:
        return ""
    entries = AuditEntry.objects.filter(project=project)
    if not entries.filter(act="round.opened").exists():
        return ""  # a copy has no log of the original
    taken = entries.filter(act="export.taken", at__gte=first.opened_at, at__lt=first.closed_at)
    days = [write_day(at) for at in taken.order_by("at").values_list("at", flat=True)]
    count = f"{len(days)} exports on {', '.join(dict.fromkeys(days))}" if days else "No export"
    return (
        f"{count} while Round I was open (audit log). Views of results pages are not recorded: state whether "
        "you looked, and whether you stopped by what you saw."
    )


def _disputes(facts: Facts, first: Round | None) -> str:
    if first is None or first.is_open:
        return ""
    if not facts.disputed:
        return "No unit was disputed."
    statuses = ", ".join(
        f"{facts.disputes[each]:,} {each.label}" for each in Dispute.Status if facts.disputes.get(each)
    )
    return f"{facts.disputed:,} units were disputed: {statuses}."


_CHANGES = {
    "project.reworded": "guidelines reworded",
    "dimension.reworded": "dimension reworded",
    "dimension.asked_again": "raters asked again",
    "round.deadline_set": "deadline set",
    "place.work_handed_over": "work handed over",
    "items.sent_to_people": "items sent to more raters",
    "judgments.excluded": "judgments excluded",
    "judgments.read_again": "replies read again",
    "judgment.corrected": "judgments corrected",
}
"""Acts after the start that change what was planned."""


def _changes(project: Project, first: Round | None) -> str:
    if first is None:
        return ""
    entries = AuditEntry.objects.filter(project=project)
    if not entries.filter(act="round.opened").exists():
        return ""
    later = entries.filter(at__gt=first.opened_at, act__in=_CHANGES).order_by("at", "pk")
    days: dict[str, list[datetime]] = {}
    for act, at in later.values_list("act", "at"):
        days.setdefault(act, []).append(at)
    if not days:
        return "The audit log has none."
    listed = (f"{_CHANGES[act]}: {len(at)} (first on {write_day(at[0])})" for act, at in days.items())
    return f"{'; '.join(listed)}."


def _analysis(project: Project, facts: Facts) -> Iterator[ChecklistLine]:
    alphas = [(name, first) for name, first, _ in read_alphas(project)]
    listed = "; ".join(f"{name} {first}" for name, first in alphas)
    agreement = f"Krippendorff's alpha of Round I with its 95 % interval: {listed}."
    has_alpha = any(first for _, first in alphas)
    yield ChecklistLine("Agreement with intervals", agreement if has_alpha else "", "4.3.11")
    scores = "The score of an output is the mean of its raters, that of a system the mean over outputs."
    tests = (
        "Differences of systems by the crossed model of raters and documents with 95 % intervals; p values "
        "corrected by Holm over the pairs of a dimension."
    )
    # Methods are stated only if there is something that they are applied to.
    if not any(each.values for each in facts.rounds):
        scores = tests = ""
    yield ChecklistLine("Scores", scores, "4.3.9")
    yield ChecklistLine("Effect sizes and tests", tests, "4.3.10")
    yield ChecklistLine("Conclusions planned before data, and those found in them")
