"""The page of questions that are not asked on a scale: one question at a time."""

from collections.abc import Callable, Sequence

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient, alpha_by_distance
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Project
from annotate.core.rounds import round_one
from annotate.questions import Given, kind_of
from annotate.questions.scale import SCALE
from annotate.questions.spans import SPANS
from annotate.results.queries.agreement_page import AFTER_DISCUSSION, RELIABILITY
from annotate.results.questions.answers import (
    QuestionAnswers,
    Rounds,
    agreement_table,
    answers_of_rounds,
    end_of,
    means_table,
)
from annotate.results.questions.tables import (
    labels_tables,
    parts_tables,
    preference_tables,
    ranking_tables,
    spans_tables,
)
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import Cell, Column, ColumnKind, Section, Table, text


def has_other_questions(project: Project) -> bool:
    """Return True if a project has a question that is not on a scale. One query."""
    return project.dimensions.exclude(kind=SCALE.key).exists()


def _questions(project: Project) -> Sequence[tuple[str, str]]:
    found = project.dimensions.exclude(kind=SCALE.key).order_by("position").values_list("key", "name")
    if not found:
        sentence = gettext("This project asks for values on scales only; see Agreement and Systems.")
        raise NotReadyError(sentence)
    return list(found)


QUESTION = Parameter("question", gettext_lazy("Question"), _questions)


def questions_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the tables of the chosen question, none before Round I. Up to nine queries."""
    round = round_one(project)
    dimension = guideline_at(project, round).dimension(chosen[QUESTION.name]) if round else None
    return [] if dimension is None else [question_section(project, dimension)]


def question_section(project: Project, dimension: FrozenDimension) -> Section:
    rounds = answers_of_rounds(project, dimension, with_texts=dimension.kind == SPANS.key)
    says = [str(RELIABILITY), *([str(AFTER_DISCUSSION)] if len(rounds) > 1 else [])]
    if rounds[0].round.is_open:
        says.insert(0, gettext("Round I is still open: values may change."))
    return Section(f"{dimension.name}: {kind_of(dimension).name}", " ".join(says), tables_of(rounds))


def generic_tables(rounds: Rounds) -> list[Table]:
    """Return alpha by the kind's own distance, and the mean of `value` of each system."""
    last, tables = rounds[-1], []
    if last.kind.has_distance:
        title = gettext("Krippendorff’s alpha, by the distance of answers")
        tables.append(agreement_table([(title, [_distance_alpha(each) for each in rounds])]))
    low, high = last.kind.bounds(last.dimension.options)
    name = gettext("mean: {name}").format(name=last.kind.number_name)
    return [*tables, means_table(last, [("mean", name, last.values)], low, high, says=end_of(rounds))]


def _distance_alpha(answers: QuestionAnswers) -> Coefficient:
    position: dict[tuple[float, str], int] = {}
    distinct: list[Given] = []
    codes = np.full(answers.values.shape, np.nan)
    for rater, row in enumerate(answers.given):
        for item, given in enumerate(row):
            if given is not None:
                if given.canonical not in position:
                    position[given.canonical] = len(distinct)
                    distinct.append(given)
                codes[rater, item] = position[given.canonical]

    def distance(one: Given, other: Given) -> float:
        return answers.kind.distance(answers.dimension, one, other) or 0.0

    return alpha_by_distance(
        codes,
        distinct,
        distance,
        name=answers.dimension.kind,
        documents=answers.documents,
        generator=answers.stream,
        resampling=answers.resampling,
    )


def text_tables(rounds: Rounds) -> list[Table]:
    """Return the number of written answers, and their lengths."""
    last = rounds[-1]
    columns = [
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        Column("answers", gettext("answers"), ColumnKind.COUNT),
        Column("characters", gettext("characters"), ColumnKind.COUNT),
    ]
    found = [*zip(last.raters, last.values, strict=True), (gettext("all"), last.values)]
    rows = [[text(name), Cell(int((~np.isnan(own)).sum())), Cell(int(np.nansum(own)))] for name, own in found]
    says = gettext("Texts have no distance, so there is no coefficient. Exports contain the texts.")
    return [Table("answers", gettext("Texts written"), columns, rows, says=says)]


# A function takes the answers of each round and returns tables. `agreement` comes first: a row for each
# coefficient and a column for each round. Tables of systems show what raters hold at the end of the last
# round.
TABLES_OF_KINDS: dict[str, Callable[[Rounds], list[Table]]] = {
    "labels": labels_tables,
    "parts": parts_tables,
    "preference": preference_tables,
    "ranking": ranking_tables,
    "spans": spans_tables,
    "text": text_tables,
}
"""By the key of a kind; others have `generic_tables`."""


def tables_of(rounds: Rounds) -> list[Table]:
    """Return the tables of a question, none without an answer."""
    if not rounds[-1].items:
        return []
    return TABLES_OF_KINDS.get(rounds[-1].dimension.kind, generic_tables)(rounds)
