"""The screen on which a judge learns: where it is wrong, and other judges on the same documents."""

import pytest
from django.test import Client

from annotate.results.commands import compute_page
from annotate.results.registry import result_of
from judges.core.models import DevelopmentDocument, Judge
from judges.laboratory.cases import Case, CaseKind, most_different
from judges.laboratory.commands.proposals import draw_parts
from judges.laboratory.queries.cases import Part, errors_of, units_of
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
@pytest.mark.parametrize("part", list(Part))
def test_errors_come_from_one_part(cast: Cast, part: str) -> None:
    draw_parts(project=cast.project, teach=6, select=8, by=cast.admin)
    drawn = set(DevelopmentDocument.objects.filter(part=part).values_list("document", flat=True))
    own = [item for item in cast.items if item.document_id in drawn]
    judge = cast.project.judges.get(name="First")
    found = errors_of(judge, cast.dimensions[0], part)
    assert {each.item for each in found.cases} == {item.pk for item in own}
    marked = {item.pk for item in own if MARK in item.text}
    assert {each.item for each in found.cases[: len(marked)]} == marked
    assert found.off == len(marked)
    ((_, judgment),) = units_of(found, found.cases[:1])
    assert judgment is not None
    assert (judgment.judge_id, judgment.value) == (judge.pk, 4)


@pytest.mark.django_db
def test_the_screen_leads_from_errors_to_versions(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    url = address(cast, "align/")
    assert "We advise 5 for teaching, 5 for selecting" in text_of(client.get(url))
    draw_parts(project=cast.project, teach=4, select=8, by=cast.admin)
    answer = client.get(url)
    page, html = text_of(answer), answer.content.decode()
    assert "4 teach · 8 select · 8 held out" in page
    assert "4 vs 1" in page
    assert REASON in page
    assert "items=marked%3Ddevelopment" in html
    second = cast.project.judges.get(name="Second")
    other = text_of(client.get(url, {"judge": second.pk}))
    assert "A point or more from people on 0 of 24 units for selecting." in other
    assert "Well put." in other
    assert client.get(url, {"judge": 99_999}).status_code == 422
    imported = Judge.objects.create(
        project=cast.project, name="Imported", method="rts", model="gpt", endpoint=None, template=None
    )
    assert "Imported" not in html, "It cannot be asked, so it cannot learn"
    assert client.get(url, {"judge": imported.pk}).status_code == 422
    assert (
        client.get(address(cast, "pilot/"), {"judge": second.pk})
        .headers["Location"]
        .endswith(f"align/?judge={second.pk}")
    )
    client.force_login(cast.researcher)
    assert "Run it on both" not in text_of(client.get(url))


@pytest.mark.django_db
def test_other_judges_are_compared_on_the_documents_for_selecting(cast: Cast) -> None:
    def rows() -> list[list[object]]:
        result = result_of(
            cast.project, "alignment", {"judge": str(cast.project.judges.get(name="First").pk)}
        )
        table = compute_page(project=cast.project, result=result).table("versions")
        return [[cell.value for cell in row] for row in table.rows] if table else []

    assert rows() == []
    draw_parts(project=cast.project, teach=4, select=8, by=cast.admin)
    ((dimension, name, items, first, second, gain, _),) = rows()
    assert (dimension, name, items, second) == ("Fluency", "Second", 24, 1.0)
    assert isinstance(first, float)
    assert isinstance(gain, float)
    assert gain == pytest.approx(1 - first)
