"""Requests for drafts, and examples in prompts."""

from typing import Any

from judges.laboratory.cases import MOST_CASES, MOST_TRIED, Case, CaseKind, ask_for_reflection, examples_text
from judges.methods import METHODS
from tests.judges.methods.dimensions import FIVE


def make_case(name: str, *, value: float = 2, judge: float | None = 4, **how: Any) -> Case:
    return Case(1, name, CaseKind.DIFFERENCE, (1, 2), value, judge, text=f"Text {name}.", **how)


def test_reflection_shows_prompt_material_and_both_reasons() -> None:
    case = make_case(
        "a", document="Review one.\n\nReview two.", rationale="It reads well.", reasons=("A rumour.",)
    )
    request = ask_for_reflection("Rate {{ text }}.", FIVE, [case], ["Be strict."]).content
    assert "<prompt>\nRate {{ text }}.\n</prompt>" in request
    assert (
        "Document: Review one. Review two.\n"
        "Text: Text a.\n"
        "Scores of people at first: 1, 2\n"
        "What they settled on: 2\n"
        "Reason of people: A rumour.\n"
        "Score of the model: 4\n"
        "Reason of the model: It reads well.\n"
    ) in request
    assert "- Be strict.\n" in request


def test_reflection_takes_the_largest_errors_and_the_last_additions() -> None:
    cases = [make_case(f"{index}", judge=2 + index / 10) for index in range(MOST_CASES + 2)]
    tried = [f"Addition {index}." for index in range(MOST_TRIED + 1)]
    request = ask_for_reflection("Rate {{ text }}.", FIVE, cases, tried).content
    assert request.count("Text: Text") == MOST_CASES
    assert "Text 0." not in request
    assert request.index("Text 7.") < request.index("Text 2.")
    assert "Addition 0." not in request
    assert f"Addition {MOST_TRIED}." in request


def test_long_document_keeps_the_beginning_of_each_part() -> None:
    reviews = "\n\n".join(f"Review {index}. " + "word " * 300 for index in range(8))
    request = ask_for_reflection("Rate {{ text }}.", FIVE, [make_case("a", document=reviews)], [])
    (document,) = [line for line in request.content.splitlines() if line.startswith("Document: ")]
    assert all(f"Review {index}." in document for index in range(8))
    assert len(document) < 1300


def test_example_shows_a_point_in_the_form_of_the_method() -> None:
    case = make_case("a", value=5 / 3, judge=2, document="Review one.", rationale="It omits the price.")
    text = examples_text([case], lambda point: METHODS["mcq"].show_answer(point, FIVE))
    assert text == "Document: Review one.\nText: Text a.\nReason: It omits the price.\nAnswer: B"


def test_example_calls_the_rationale_of_another_value_wrong() -> None:
    case = make_case("a", judge=4, rationale="It reads well.", reasons=("It omits the price.",))
    text = examples_text([case], "Score: {}".format)
    assert text == "Text: Text a.\nReason: It omits the price.\nWrong reason: It reads well.\nScore: 2"
