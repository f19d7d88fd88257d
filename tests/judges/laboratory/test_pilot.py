"""The pilot: a judge on the development documents, where it differs from people, and versions compared."""

import pytest
from django.test import Client

from annotate.results.commands import compute_page
from annotate.results.registry import result_of
from judges.core.models import DevelopmentDocument, Judge
from judges.laboratory.cases import Case, CaseKind, most_different
from judges.laboratory.commands.proposals import draw_development
from judges.laboratory.queries.pilot import DEVELOPMENT_ITEMS, pilot_of, units_of
from judges.runs.filtered import filtered_items
from tests.factories import Cast
from tests.judges.factories import make_judge, make_judgment
from tests.judges.laboratory.rumours import MARK, REASON, judge_all, make_rumours
from tests.judges.pages import address, text_of


def case(name: str, value: float, judge: float | None) -> Case:
    return Case(1, name, CaseKind.AGREED, (value,), value, judge)


def test_those_farthest_from_people_come_first_and_units_without_a_value_nowhere() -> None:
    cases = [case("a", 3, 3), case("b", 1, 4), case("c", 5, 2.5), case("d", 3, None), case("e", 4, 1)]
    assert [each.name for each in most_different(cases)] == ["b", "e", "c", "a"]


@pytest.fixture
def cast() -> Cast:
    """Two judges have judged all: one as the model does, one a point too low on every text."""
    cast = make_rumours()
    judge_all(cast, make_judge(cast.project, "rts", name="First"))
    second = make_judge(cast.project, "rts", name="Second")
    for item in cast.items:
        make_judgment(second, item, cast.dimensions[0], value=int(item.text[-1]), rationale="Well put.")
    return cast


@pytest.mark.django_db
def test_it_is_about_the_development_documents_alone(cast: Cast) -> None:
    draw_development(project=cast.project, share=0.4, by=cast.admin)
    drawn = set(DevelopmentDocument.objects.values_list("document", flat=True))
    own = [item for item in cast.items if item.document_id in drawn]
    judge = cast.project.judges.get(name="First")
    found = pilot_of(judge, cast.dimensions[0])
    assert {each.item for each in found.cases} == {item.pk for item in own}
    marked = {item.pk for item in own if MARK in item.text}
    assert {each.item for each in found.cases[: len(marked)]} == marked
    assert (found.items, found.rated, found.off) == (len(own), len(own), len(marked))
    assert found.mean_difference == pytest.approx(3 * len(marked) / len(own))
    assert set(filtered_items(cast.project, DEVELOPMENT_ITEMS)) == {item.pk for item in own}
    assert len(filtered_items(cast.project, found.example)) == 1
    (unit,) = units_of(found, found.cases[:1])
    assert unit.judgment is not None
    assert (unit.judgment.judge_id, unit.judgment.value) == (judge.pk, 4)


@pytest.mark.django_db
def test_the_page_leads_from_asking_to_the_next_version(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    assert "Sample the development part" in text_of(client.get(address(cast, "pilot/")))
    draw_development(project=cast.project, share=0.4, by=cast.admin)
    answer = client.get(address(cast, "pilot/"))
    page, html = text_of(answer), answer.content.decode()
    assert "Largest differences" in page
    assert "judge 4, people 1" in page
    assert REASON in page
    assert "items=marked%3Ddevelopment" in html
    assert "judges/prompts/" in html
    second = cast.project.judges.get(name="Second")
    other = text_of(client.get(address(cast, "pilot/"), {"judge": second.pk}))
    assert "it is a point or more from people on 0 of 24 units" in other
    assert "Well put." in other
    assert client.get(address(cast, "pilot/"), {"judge": 99_999}).status_code == 422
    imported = Judge.objects.create(
        project=cast.project, name="Imported", method="rts", model="gpt", endpoint=None, template=None
    )
    read = client.get(address(cast, "pilot/"), {"judge": imported.pk})
    assert "as soon as it has values" in text_of(read)
    assert "Correct the prompt" not in text_of(read)
    client.force_login(cast.researcher)
    assert "Run it on the" not in text_of(client.get(address(cast, "pilot/")))


@pytest.mark.django_db
def test_versions_are_compared_on_the_same_units_of_the_development_documents(cast: Cast) -> None:
    def rows() -> list[list[object]]:
        result = result_of(cast.project, "pilot", {"judge": str(cast.project.judges.get(name="First").pk)})
        (table,) = compute_page(project=cast.project, result=result).tables
        return [[cell.value for cell in row] for row in table.rows]

    assert rows() == []
    draw_development(project=cast.project, share=0.4, by=cast.admin)
    ((dimension, name, items, first, second, gain, _),) = rows()
    assert (dimension, name, items, second) == ("Fluency", "Second", 24, 1.0)
    assert isinstance(first, float)
    assert isinstance(gain, float)
    assert gain == pytest.approx(1 - first)
