"""The page of questions that are not asked on a scale: one question at a time."""

from collections.abc import Sequence

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Project
from annotate.core.rounds import round_one
from annotate.questions import kind_of
from annotate.questions.scale import SCALE
from annotate.questions.spans import SPANS
from annotate.results.page import Section
from annotate.results.queries.agreement_page import AFTER_DISCUSSION, RELIABILITY
from annotate.results.questions.answers import answers_of_rounds
from annotate.results.questions.tables import tables_of
from annotate.results.registry import Chosen, Parameter


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
    """Return the statistics of the answers to one question."""
    rounds = answers_of_rounds(project, dimension, with_texts=dimension.kind == SPANS.key)
    says = [str(RELIABILITY), *([str(AFTER_DISCUSSION)] if len(rounds) > 1 else [])]
    if rounds[0].round.is_open:
        says.insert(0, gettext("Round I is still open: values may change."))
    return Section(f"{dimension.name}: {kind_of(dimension).name}", " ".join(says), tables_of(rounds))
