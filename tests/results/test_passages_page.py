"""Marked passages, a part of the agreement page: who is compared, and characters in several texts."""

import pytest
from django.test import Client

from annotate.core.models import Assignment, Item
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.evidence import Passage
from annotate.rating.queries.assignments import texts_of
from annotate.results.queries.passages import marked_texts
from tests.factories import Cast, make_project
from tests.questions.asking import make_questions, question_of, share_out
from tests.rating.rounds import assigned, frozen, opened
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


def marked(*passages: list[Passage]) -> Cast:
    """Each rater marks these passages of the first item; the text and its document have two parts."""
    cast = make_project(annotators=len(passages), raters_per_item=len(passages))
    Item.objects.filter(pk=cast.items[0].pk).update(text="Good boots.\r\nWarm.")
    document = cast.items[0].document
    document.parts = [{"label": "", "text": "They are warm."}, {"label": "", "text": "They pinch."}]
    document.save()
    round = opened(cast)
    for annotator, evidence in zip(cast.annotators, passages, strict=True):
        save_rating(
            assignment=assigned(cast, round, annotator, cast.items[0]),
            dimension=frozen(round),
            answer=Answer(value=3, evidence=tuple(evidence)),
            by=annotator.user,
        )
    return cast


def test_raters_with_marks_are_compared_over_all_parts_of_an_item() -> None:
    warm = [Passage(0, 12, 17), Passage(1, 9, 13)]
    cast = marked(warm, warm, [Passage(2, 5, 10)], [])
    (text,) = marked_texts(cast.project.rounds.get(number=1))["fluency"]
    joined = "Good boots.\nWarm. They are warm. They pinch."
    assert text.length == len(joined)
    spans = {joined[start:end] for each in text.passages.values() for start, end in each}
    assert spans == {"Warm.", "warm", "pinch"}
    (row,) = cells_of(cast.project, "passages", "passages")
    assert [row[name].value for name in ("marked", "compared", "raters")] == [1, 1, 3]
    pairs = cells_of(cast.project, "passages", "pairs")
    assert [pair["word_f1"].value for pair in pairs] == [1, 0, 0]
    assert pairs[0]["alpha"].value == 1


def test_agreement_has_the_part_once_two_raters_marked_an_item(client: Client) -> None:
    for other, is_listed in (([], False), ([Passage(0, 5, 9)], True)):
        cast = marked([Passage(0, 0, 4)], other)
        client.force_login(cast.researcher)
        page = client.get(f"/projects/{cast.project.slug}/results/agreement/").content.decode()
        assert ("?part=passages" in page) == is_listed
    old = client.get(f"/projects/{cast.project.slug}/results/passages/?table=pairs", follow=True)
    assert old.redirect_chain[0][0].endswith("/results/agreement/?part=passages&table=pairs")
    assert "Pairs of raters" in old.content.decode()


def test_what_one_rater_marked_is_compared_with_nothing() -> None:
    cast = marked([Passage(0, 0, 4)], [])
    (row,) = cells_of(cast.project, "passages", "passages")
    assert (row["marked"].value, row["compared"].value) == (1, 0)
    assert "marked by two raters" in row["alpha"].reason


def test_marks_in_a_side_of_a_comparison_are_read() -> None:
    cast = make_questions("preference", annotators=2)
    round = opened(cast)
    share_out(round, cast.annotators)
    assignment = Assignment.objects.filter(round=round, annotator=cast.annotators[0]).earliest("pk")
    texts = texts_of(assignment.item)
    save_rating(
        assignment=assignment,
        dimension=question_of(assignment, "preference"),
        answer=Answer(value=1, evidence=(Passage(len(texts) - 1, 0, 4),)),
        by=cast.annotators[0].user,
    )
    (text,) = marked_texts(round)["preference"]
    joined = " ".join(texts)
    assert [joined[start:end] for ((start, end),) in text.passages.values()] == [texts[-1][:4]]
