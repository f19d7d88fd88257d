"""A project that asks one question of every kind, answered in both rounds."""

from random import Random
from typing import Any

from annotate.core.guideline import DimensionSpec, PointSpec
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Dispute, Item
from annotate.disputes.commands.disputes import adjudicate, answer_dispute
from annotate.questions import Given
from annotate.questions.kind import hidden_dimensions
from annotate.rating.commands.ratings import Answer, SubmittedAnswer, save_ratings
from annotate.rating.commands.rounds import close_round_one, open_round_one, open_round_two
from annotate.rating.queries.assignments import asked_dimensions, content_of
from annotate.setup.commands import add_dimension
from tests.factories import Cast
from tests.questions.asking import make_questions, share_out

EVERY_KIND = ("labels", "parts", "preference", "ranking", "spans", "text")
GRAMMAR = {"dimension": "labels", "values": ["grammar"]}


def make_every_kind(**size: int) -> Cast:
    """Make a project with a question of every kind, and one that is only asked after an answer."""
    cast = make_questions(*EVERY_KIND, **({"annotators": 3, "systems": 3, "documents": 6} | size))
    sorts = tuple(PointSpec(number, name) for number, name in enumerate(("News", "Advice", "Other"), 1))
    for spec in (
        DimensionSpec("Fluency", "How good the sentences are."),
        DimensionSpec("Sort", "What it is.", scale_maximum=3, measurement_level="nominal", points=sorts),
        DimensionSpec("Harm", "How bad the grammar is.", shown_if=GRAMMAR),
    ):
        add_dimension(project=cast.project, dimension=spec)
    return cast


def answer_every_kind(cast: Cast, *, most: int | None = None) -> None:
    """Open Round I and give every annotator's answers, or only those about the first items."""
    round = open_round_one(project=cast.project, by=cast.admin)
    share_out(round, cast.annotators)
    chance = Random(1)
    assignments = Assignment.objects.filter(round=round).exclude(annotator=None).order_by("item", "annotator")
    for assignment in assignments.select_related("item", "annotator", "round__guideline", "round__project"):
        annotator, position = assignment.annotator, assignment.position
        if annotator is None or (most is not None and (position or 0) > most):
            continue
        asked = asked_dimensions(assignment, guideline_of(round))
        content = content_of(assignment)
        answers = {each.key: _answer(each.key, content, chance) for each in asked}
        given = {each.id: answers[each.key] for each in asked}
        hidden = hidden_dimensions(asked, {key: _as_given(**one) for key, one in given.items()})
        sent = [SubmittedAnswer(each, Answer(**answers[each.key])) for each in asked if each.id not in hidden]
        for saved in save_ratings(assignment=assignment, given=sent, by=annotator.user):
            assert not isinstance(saved, Exception), saved


def _as_given(value: float | None = None, data: Any = None) -> Given:
    """Return an answer for conditions, which read no numbers of labels."""
    return Given(0 if value is None else value, data)


def _answer(key: str, content: Any, chance: Random) -> dict[str, Any]:
    """Return an answer in which the first systems do better."""
    sides, parts = len(content.sides), len(content.parts)
    if key == "labels":
        return {"data": {"labels": [each for each in ("grammar", "spelling") if chance.random() < 0.4]}}
    if key == "parts":
        return {"data": {"parts": ["yes" if chance.random() < 0.6 else "no" for _ in range(parts)]}}
    if key == "preference":
        return {"value": chance.choice((-2, -1, -1, 0, 1, 2))}
    if key == "ranking":
        return {"data": {"ranks": chance.sample(range(1, sides + 1), sides)}}
    if key == "spans":
        kinds = [("accuracy", "minor"), ("accuracy", "major"), ("fluency", "minor")]
        starts = chance.sample(range(0, 20, 5), chance.randrange(3))
        marked = [(start, *chance.choice(kinds)) for start in starts]
        return {
            "data": {
                "spans": [
                    {"part": 0, "start": start, "end": start + 4, "category": category, "severity": severity}
                    for start, category, severity in marked
                ]
            }
        }
    if key == "text":
        return {"data": {"text": f"It reads {chance.choice(('well', 'badly', 'oddly'))}."}}
    return {"value": chance.choice((1, 2, 3))}


def discuss_every_kind(cast: Cast) -> None:
    """Close Round I, open Round II, agree in a dispute about each question, and decide another one."""
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    for key in (*EVERY_KIND, "fluency", "sort"):
        disputes = list(Dispute.objects.filter(dimension__key=key).order_by("number")[:2])
        for number, dispute in enumerate(disputes):
            first = dispute.item.assignments.filter(round__number=1).order_by("annotator")[0]
            held = first.ratings.get(dimension=dispute.dimension)
            if number:
                adjudicate(dispute=dispute, value=held.value, data=held.data, note="Decided.", by=cast.admin)
                continue
            for rater in cast.annotators[1:]:
                dispute.refresh_from_db()
                if dispute.status == "open":
                    answer_dispute(
                        dispute=dispute, rater=rater, value=held.value, data=held.data, comment="Agreed."
                    )


def comparisons_of(cast: Cast) -> list[Item]:
    """Return a project's comparisons."""
    return list(Item.objects.filter(document__project=cast.project).exclude(kind="output").order_by("pk"))
