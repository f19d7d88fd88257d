"""Marked passages, a part of the agreement page: agreement of raters on words that they mark as reasons."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from django.db.models import Count, QuerySet
from django.utils.translation import gettext, gettext_lazy

from agreement import MarkedText, Stream, gamma, unitizing_alpha, word_f1
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import ComparisonSide, Item, Membership, Project, Rating, Round
from annotate.core.rounds import rounds_of
from annotate.rating.evidence import Passage, passages_from_json
from annotate.rating.queries.assignments import texts_of
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text

_WORD = re.compile(r"\S+")
_SAYS = gettext_lazy(
    "From Round I: on each dimension, the items in which at least two raters marked a passage, each with "
    "its document. Raters who marked nothing are excluded: no mark does not mean that they saw no reason. "
    "The results show whether raters who mark choose the same passages."
)
_HOW_TO_READ = gettext_lazy(
    "Alpha is about characters and corrected for chance. Gamma aligns whole passages with each other, so "
    "that two halves are not the whole. F1 is about words and not corrected: the longer the passages, the "
    "higher it is by luck. Intervals resample documents."
)
_PAIRS_SAY = gettext_lazy("The same for every pair of raters, without intervals if they share few items.")

Marked = Mapping[str, Sequence[MarkedText]]
"""By dimension key."""


def passages_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return both tables, nothing before Round I. Up to five queries."""
    round = rounds_of(project).get(1)
    if round is None:
        return []
    marked = marked_texts(round)
    asked = FrozenGuideline.from_json(round.guideline.content).dimensions
    dimensions = [each for each in asked if each.is_scale or each.key in marked]
    tables = [_all_raters(project, dimensions, marked), _pairs_of_raters(project, dimensions, marked)]
    return [Section(gettext("Marked passages"), str(_SAYS), [table for table in tables if table.rows])]


def has_passages_to_compare(project: Project) -> bool:
    """Return True if two raters marked the same item on a dimension in Round I. One query."""
    # A rater has one rating of a unit, so a unit with two marked ratings has two raters.
    units = _marked_ratings().filter(assignment__round__project=project, assignment__round__number=1)
    pairs = units.order_by().values("dimension", "assignment__item").annotate(raters=Count("pk"))
    return pairs.filter(raters__gt=1).exists()


def marked_texts(round: Round) -> Marked:
    """Return the passages that raters marked in Round I, by dimension key. Up to four queries."""
    given = _marked_ratings().filter(assignment__round=round).order_by("pk")
    rows = list(given.values_list("dimension__key", "assignment__item", "assignment__annotator", "evidence"))
    items = Item.objects.filter(pk__in={item for _, item, _, _ in rows}).select_related("document")
    # Passages of a comparison are in its sides, which follow the document's parts.
    sides: dict[int, list[str]] = {item.pk: [] for item in items}
    if compared := [item.pk for item in items if item.is_comparison]:
        rows_of_sides = ComparisonSide.objects.filter(item__in=compared).order_by("item", "position")
        for item, side in rows_of_sides.values_list("item", "output__text"):
            sides[item].append(side)
    texts = {item.pk: texts_of(item, sides[item.pk]) for item in items}
    documents = {item.pk: item.document.key for item in items}
    memberships = Membership.objects.filter(pk__in={rater for _, _, rater, _ in rows})
    names = {membership.pk: membership.rater_name for membership in memberships}
    by_unit: dict[tuple[str, int], dict[str, list[tuple[int, int]]]] = defaultdict(dict)
    for key, item, rater, stored in rows:
        by_unit[key, item][names[rater]] = _spans(passages_from_json(stored), texts[item])
    found: dict[str, list[MarkedText]] = defaultdict(list)
    # The resampling of documents depends on their order, which sorting fixes.
    for (key, item), spans in sorted(by_unit.items()):
        # The same joined text for all raters, in which passages and words are ranges of characters.
        whole = " ".join(texts[item])
        words = [match.span() for match in _WORD.finditer(whole)]
        found[key].append(MarkedText(documents[item], len(whole), words, spans))
    return found


def _marked_ratings() -> QuerySet[Rating]:
    return Rating.objects.filter(assignment__annotator__counted=True, evidence__isnull=False)


def _spans(passages: Sequence[Passage], texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return passages as character ranges of all parts joined by spaces."""
    begins = [sum(len(each) + 1 for each in texts[:part]) for part in range(len(texts))]
    return [(begins[each.part] + each.start, begins[each.part] + each.end) for each in sorted(passages)]


def _all_raters(project: Project, dimensions: Sequence[FrozenDimension], marked: Marked) -> Table:
    columns = [
        DIMENSION,
        Column("marked", gettext("items marked by anyone"), ColumnKind.COUNT),
        Column("compared", gettext("by two or more"), ColumnKind.COUNT),
        Column("raters", gettext("raters"), ColumnKind.COUNT),
        Column("alpha", gettext("unitizing alpha")),
        Column("gamma", gettext("gamma")),
        Column("word_f1", gettext("F1 of words")),
    ]
    rows = []
    for each in dimensions:
        texts, stream = marked.get(each.key, []), _stream(project, each)
        alpha = unitizing_alpha(texts, generator=stream)
        counts = alpha.counts
        rows.append(
            [
                text(each.name, key=each.key),
                Cell(counts.units),
                Cell(counts.pairable_units),
                Cell(counts.raters),
                figure(alpha),
                figure(gamma(texts, generator=stream)),
                figure(word_f1(texts, generator=stream)),
            ]
        )
    return Table("passages", gettext("Agreement on marked passages"), columns, rows, says=str(_HOW_TO_READ))


def _pairs_of_raters(project: Project, dimensions: Sequence[FrozenDimension], marked: Marked) -> Table:
    columns = [
        DIMENSION,
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        Column("other", gettext("Other rater"), ColumnKind.TEXT),
        Column("compared", gettext("items"), ColumnKind.COUNT),
        Column("alpha", gettext("unitizing alpha")),
        Column("word_f1", gettext("F1 of words")),
    ]
    rows = [row for each in dimensions for row in _pair_rows(project, each, marked.get(each.key, []))]
    return Table("pairs", gettext("Pairs of raters"), columns, rows, heads=3, says=str(_PAIRS_SAY))


def _pair_rows(project: Project, dimension: FrozenDimension, texts: Sequence[MarkedText]) -> list[list[Cell]]:
    rows = []
    for pair in combinations(sorted({rater for each in texts for rater in each.passages}), 2):
        # Only the texts that both of them marked.
        own = [
            replace(each, passages={rater: each.passages[rater] for rater in pair})
            for each in texts
            if set(pair) <= set(each.passages)
        ]
        stream = _stream(project, dimension).of(*pair)
        figures = (unitizing_alpha(own, generator=stream), word_f1(own, generator=stream))
        if own:
            named = [text(dimension.name, key=dimension.key), *map(text, pair)]
            rows.append([*named, Cell(len(own)), *map(figure, figures)])
    return rows


def _stream(project: Project, dimension: FrozenDimension) -> Stream:
    return Stream(project.seed).of("people", dimension.key, "passages")
