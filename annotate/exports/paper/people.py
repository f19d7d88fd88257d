"""The sections of a paper about people: methods, agreement, and means of systems."""

from collections.abc import Iterator, Mapping

from django.db.models import Max
from django.utils.translation import gettext

from annotate.core.guideline import FrozenGuideline
from annotate.core.guidelines import extent, guideline_at
from annotate.core.models import AuditEntry, Dimension, Dispute, Project, Rating
from annotate.core.rounds import uncounted_annotators
from annotate.disputes.queries.rules import rule_of
from annotate.exports.formats.datasheet import Facts, RoundFacts, facts_of, write_day
from annotate.exports.paper.parts import (
    Latex,
    PaperPage,
    PaperPart,
    PaperTable,
    cite,
    count_words,
    format_latex,
    join_words,
    read_page,
)
from annotate.questions import kind_of
from annotate.results.answers import RELIABLE, TENTATIVE
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from annotate.results.text import MINUS

FEW_RATERS = 5
FEW_DOCUMENTS = 20
_BOTH = "Round I (reliability) and Round II (agreement after discussion)"
_ONE = "Round I (reliability)"


def people_in_paper(project: Project) -> list[PaperPart]:
    facts = facts_of(project)
    guideline = guideline_at(project, facts.rounds[0].round if facts.rounds else None)
    design = [_dimensions(project, guideline)]
    agreement, systems = read_page(project, "agreement"), read_page(project, "systems")
    rounds = _BOTH if len(facts.rounds) > 1 else _ONE
    levels = ", ".join(dict.fromkeys(each.measurement_level for each in guideline.scales))
    # The latest time in the data dates the paper, so the same data give the same bytes.
    acts = AuditEntry.objects.filter(project=project).exclude(act__startswith="export.")
    ratings = Rating.objects.filter(assignment__round__project=project)
    disputes = Dispute.objects.filter(round__project=project)
    times = (
        acts.aggregate(at=Max("at"))["at"],
        ratings.aggregate(at=Max("updated_at"))["at"],
        disputes.aggregate(at=Max("active_at"))["at"],
    )
    latest = max((at for at in times if at is not None), default=None)
    return [
        PaperPart(
            "Agreement of people",
            methods=[_rounds(project, facts, guideline, design[0]), _disputes(project, facts, design[0])],
            design=design,
            text=_agreement_text(agreement, facts),
            tables=_agreement_tables(agreement, facts, rounds, levels),
            limitations=[*_few(facts), *_low_alphas(agreement), *_exclusions(project, facts)],
            latest=latest,
        ),
        PaperPart("Systems", text=_systems_text(systems), tables=_systems_tables(systems, rounds)),
    ]


def _dimensions(project: Project, guideline: FrozenGuideline) -> PaperTable:
    live = {each.pk: each for each in Dimension.objects.filter(project=project)}
    columns = [
        DIMENSION,
        Column("scale", gettext("Scale"), ColumnKind.TEXT),
        Column("level", gettext("Level of measurement"), ColumnKind.TEXT),
        Column("threshold", gettext("Disputed from"), decimals=1),
        Column("tolerance", gettext("Settled within"), decimals=1),
    ]
    rows = []
    for each in guideline.dimensions:
        rule, scale, level = rule_of(project, live[each.id]), str(kind_of(each).name), "–"
        if each.is_scale:
            scale = extent(each.scale_minimum, each.scale_maximum, each.scale_step)
            level = each.measurement_level
        limits = (Cell(float(rule.threshold)), Cell(float(rule.tolerance)))
        rows.append([text(each.name, key=each.key), text(scale), text(level), *limits])
    caption = Latex(
        "Dimensions, their scales, and the rule of disputes: the difference of two values in Round~I that "
        "opens a dispute, and the difference within which all values settle it."
    )
    return PaperTable("design", Table("dimensions", gettext("Dimensions"), columns, rows), caption)


def _rounds(project: Project, facts: Facts, guideline: FrozenGuideline, table: PaperTable) -> Latex:
    compared = format_latex(
        " Outputs are also compared, in {count}.", count=count_words(facts.comparisons, "comparison")
    )
    sentences = [
        format_latex(
            "{name} has {items}: the outputs of {systems} for {documents}.{comparisons} People rate each "
            "item on {dimensions} ({table}).",
            name=Latex(rf"\emph{{{format_latex('{name}', name=project.name)}}}"),
            items=count_words(facts.items, "item"),
            systems=count_words(facts.systems, "system"),
            documents=count_words(facts.documents, "document"),
            dimensions=count_words(len(guideline.dimensions), "dimension"),
            comparisons=compared if facts.comparisons else Latex(""),
            table=table.reference,
        )
    ]
    if not facts.rounds:
        return Latex(" ".join([*sentences, "Round~I has not been opened, so there are no ratings."]))
    # How raters worked in each round, and the guideline in force.
    first = facts.rounds[0]
    sentences += [
        _describe_round(first, "They rated independently: no rater saw the values of another."),
        format_latex(
            "The plan was {raters} for each item. Assignments: {plans}.",
            raters=count_words(guideline.raters_per_item, "rater"),
            plans=join_words(f"{label} ({count:,})" for label, count in facts.plans.items()),
        ),
        format_latex(
            "Raters worked {order}; they saw the dimensions {dimensions}.",
            order=first.round.get_work_order_display(),
            dimensions=first.round.get_dimension_order_display(),
        ),
        *(
            format_latex(
                "In Round~{numeral}, version {version} of the guidelines, dated {day}, {verb} in force.",
                numeral=each.round.numeral,
                version=each.round.guideline.version,
                day=write_day(each.round.guideline.frozen_at),
                verb="is" if each.round.is_open else "was",
            )
            for each in facts.rounds
        ),
    ]
    return Latex(" ".join(sentences))


def _describe_round(found: RoundFacts, how: str) -> Latex:
    if not found.values:
        return format_latex("Round~{numeral} has no ratings yet.", numeral=found.round.numeral)
    sentence = format_latex(
        "Round~{numeral} {state}: {raters} gave {values}, {days}.",
        numeral=found.round.numeral,
        state="is still open" if found.round.is_open else "is closed",
        raters=count_words(found.raters, "rater"),
        values=count_words(found.values, "value"),
        days=found.days,
    )
    hours = f"{found.seconds / 3600:,.1f}"
    took = format_latex(" They took {hours} hours of active time.", hours=hours) if found.seconds else ""
    return Latex(f"{sentence}{took} {how}")


def _disputes(project: Project, facts: Facts, table: PaperTable) -> Latex:
    sentences = [
        format_latex(
            "A unit is one item on one dimension. The values of two raters in Round~I that differ by the "
            "threshold in {table} or more make a unit disputed.",
            table=table.reference,
        )
    ]
    # How disputes began, and the states in which they are.
    statuses = [
        f"{facts.disputes[each]:,} {each.label}" for each in Dispute.Status if facts.disputes.get(each)
    ]
    if statuses:
        says, count = (
            "After Round~I {count} became disputed: {statuses}.",
            count_words(facts.disputed, "unit"),
        )
        sentences.append(format_latex(says, count=count, statuses=join_words(statuses)))
    elif facts.rounds and not facts.rounds[0].round.is_open:
        sentences.append(Latex("No unit was disputed."))
    if len(facts.rounds) > 1:
        how = (
            "The raters of a disputed unit saw the values and reasons of each other, discussed them, and "
            "kept or changed their values. Round~II is therefore agreement after discussion, not reliability."
        )
        sentences.append(_describe_round(facts.rounds[1], how))
    else:
        sentences.append(Latex("Round~II has not been opened."))
    if excluded := len(uncounted_annotators(project)):
        says = "The ratings of {count} are excluded from all statistics."
        sentences.append(format_latex(says, count=count_words(excluded, "rater")))
    else:
        sentences.append(Latex("The ratings of no rater are excluded."))
    # Ratings that are in no statistic.
    if gaps := sum(each.without_value for each in facts.rounds):
        says = "Answers “cannot rate” or “not applicable”, which have no value: {count}."
        sentences.append(format_latex(says, count=gaps))
    return Latex(" ".join(sentences))


def _agreement_text(page: PaperPage, facts: Facts) -> Latex:
    if page.kept is None or not page.kept.tables:
        return format_latex(
            "Agreement is measured by Krippendorff's alpha {source}. It is undefined: {reason}",
            source=cite("krippendorff2018"),
            reason=_end_sentence(page.reason or "there are no ratings to compare yet"),
        )
    says = (
        rf"Agreement is Krippendorff's alpha {cite('krippendorff2018')}; values of .800 or more are "
        "reliable by his convention, those from .667 are tentative. Only Round~I is reliability: its "
        "ratings are independent of each other."
    )
    if len(facts.rounds) > 1:
        says += " Round~II is agreement after discussion: raters knew the values of each other."
    return Latex(says)


def _agreement_tables(page: PaperPage, facts: Facts, rounds: str, levels: str) -> list[PaperTable]:
    # Columns about Round II would be empty before it is opened.
    second = ("round_2_alpha", "round_2_within_one") if len(facts.rounds) > 1 else ()
    others = ("percent_agreement", "weighted_kappa", "fleiss_kappa", "gwet_ac", "icc_ak")
    tables = page.table(
        *("rounds", "dimension", "round_1_alpha", "round_1_within_one", *second),
        title=f"Krippendorff's alpha and agreement within one point, {rounds}",
        level=levels,
    )
    tables += page.figure("alpha", title=f"Krippendorff's alpha, {rounds}", level=levels)
    tables += page.table(
        *("round-1-coefficients", "dimension", *others),
        title=f"Other coefficients of agreement, {_ONE}",
        level=levels,
    )
    tables += page.figure("round-1-distribution", title="Values given in Round I, all raters together")
    if facts.disputed:
        ended = ("settled", "adjudicated", "irresolvable", "left_open")
        tables += page.table(
            *("rounds", "dimension", "opened", *ended), title="Disputes opened after Round I", name="disputes"
        )
        tables += page.figure(
            "movement", title="Difference of the values of disputed units in Round I and after discussion"
        )
    return tables


def _low_alphas(page: PaperPage) -> Iterator[Latex]:
    rows = page.kept.table("rounds") if page.kept else None
    if rows is None:
        return
    keys = [column.key for column in rows.columns]
    alphas: Mapping[str, Cell] = {str(row[0].value): row[keys.index("round_1_alpha")] for row in rows.rows}
    low: list[str] = []
    middling: list[str] = []
    for name, cell in alphas.items():
        if isinstance(cell.value, float) and cell.value < RELIABLE:
            alpha = f"{cell.value:.3f}".replace("-", MINUS)
            (low if cell.value < TENTATIVE else middling).append(f"{name} ({alpha})")
    if low:
        says = "Alpha of Round~I is below .667, too low for conclusions by the convention, on {low}."
        yield format_latex(says, low=join_words(low))
    if middling:
        says = "Alpha of Round~I allows only tentative conclusions on {low}."
        yield format_latex(says, low=join_words(middling))


def _few(facts: Facts) -> Iterator[Latex]:
    raters = facts.rounds[0].raters if facts.rounds else 0
    if raters < FEW_RATERS:
        yield format_latex(
            "Only {raters} took part. Whether other raters would agree as well is not known.",
            raters=count_words(raters, "rater"),
        )
    if facts.documents < FEW_DOCUMENTS:
        yield format_latex(
            "The intervals are over only {documents}.", documents=count_words(facts.documents, "document")
        )


def _exclusions(project: Project, facts: Facts) -> Iterator[Latex]:
    if excluded := len(uncounted_annotators(project)):
        yield format_latex("The ratings of {count} are excluded.", count=count_words(excluded, "rater"))
    if facts.rounds and (unfinished := facts.rounds[0].unfinished):
        yield format_latex("Incomplete assignments of Round~I: {count}.", count=unfinished)
    status = Dispute.Status
    left = sum(facts.disputes.get(each, 0) for each in (status.OPEN, status.LEFT_OPEN, status.IRRESOLVABLE))
    if left:
        yield format_latex("Disputes without a settled value: {count}.", count=left)


def _systems_text(page: PaperPage) -> Latex:
    if page.kept is None or not page.kept.tables:
        reason = page.reason or "there are no ratings yet"
        return format_latex("Means of systems are undefined: {reason}", reason=_end_sentence(reason))
    return Latex(
        "The score of an item is the mean of its raters; the mean of a system is over its items. Two systems "
        "can surely differ although their intervals overlap, since they share documents: the possible ranks "
        "show which differences are sure."
    )


def _systems_tables(page: PaperPage, rounds: str) -> list[PaperTable]:
    after = "values at the end of Round II, after discussion" if rounds == _BOTH else "values of Round I"
    return [
        *page.table(
            "means", title=f"Mean score of every system, {after} (bold: the highest, underlined: the second)"
        ),
        *page.figure("means", title=f"Mean scores of systems with intervals, {after}"),
        *page.table("ranks", title=f"Possible ranks of systems, {after}"),
    ]


def _end_sentence(reason: str) -> str:
    return reason if reason.endswith((".", "?", "!")) else f"{reason}."
