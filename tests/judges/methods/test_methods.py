"""What holds for all methods, on every scale that a dimension can have."""

import json
import subprocess
import sys
from dataclasses import asdict

import pytest

from annotate.core.guideline import FrozenDimension, FrozenPoint
from annotate.setup.presets import TEMPLATES
from judges.methods import METHODS, Method
from judges.methods.base import Readable, Subject
from tests.judges.methods.dimensions import BINARY, FIVE, HUNDRED, LABELLED, TEN, TOPICS, dimension

SCALES = {
    "1-5": FIVE,
    "1-5 labelled": LABELLED,
    "1-10": TEN,
    "1-100": HUNDRED,
    "binary": BINARY,
    "ordered names": dimension(maximum=3, level="ordinal", labels=("Poor", "Fair", "Good")),
    "categories": TOPICS,
}
AMOUNTS = [name for name in SCALES if name != "categories"]
REFUSED = {
    ("mcq", "1-100"),
    ("mcq_reversed", "1-100"),
    *((key, "categories") for key in ("h2h", "pairwise", "stars", "op_i")),
    *(("classes", name) for name in AMOUNTS),
}
SINGLE = [method for method in METHODS.values() if not (method.takes_steps or method.asks_kinds)]
CASES = [
    pytest.param(method, scale, id=f"{method.key} {name}")
    for method in SINGLE
    for name, scale in SCALES.items()
    if (method.key, name) not in REFUSED
]


def subject(method: Method) -> Subject:
    return Subject((("", "An article."),), "A summary.", "Another." if method.asks_pairs else None)


def prompt(method: Method, scale: FrozenDimension) -> str:
    return "\n".join(
        message.content for message in method.messages(method.default_template, subject(method), scale)
    )


def test_all_methods_are_registered():
    assert set(METHODS) == {
        *("rts", "mcq", "mcq_reversed", "h2h", "stars", "direct", "g_eval", "several"),
        *("op_i", "op", "rate_explain", "analyse_rate", "recipe", "pairwise", "classes"),
        *("facts_share", "facts_any", "content_units", "summequal", "questions"),
    }
    assert all(METHODS[key].key == key for key in METHODS)


@pytest.mark.parametrize(("method", "scale"), CASES)
def test_prompt_shows_the_judged_content(method, scale):
    content = prompt(method, scale)
    assert "An article." in content
    assert "A summary." in content
    assert scale.definition in content
    assert "{{" not in content


@pytest.mark.parametrize(("method", "scale"), CASES)
def test_every_candidate_is_read_as_its_value(method, scale):
    for answer, value in method.candidates(scale).items():
        assert method.read(answer, scale) == Readable(value)


@pytest.mark.parametrize(("method", "scale"), CASES)
def test_answer_of_an_example_is_read_as_its_value(method, scale):
    for value in () if method.asks_pairs else scale.whole_values:
        reading = method.read(method.show_answer(value, scale), scale)
        assert isinstance(reading, Readable)
        assert reading.value == value


def test_answer_of_an_example_has_the_form_of_the_prompt():
    shown = {key: METHODS[key].show_answer(4, LABELLED) for key in ("rts", "mcq", "mcq_reversed", "stars")}
    assert shown == {"rts": "Score: 4", "mcq": "Answer: D", "mcq_reversed": "Answer: B", "stars": "Stars: 4"}


@pytest.mark.parametrize(("method", "scale"), CASES)
def test_every_reply_of_the_schema_is_read_as_its_value(method, scale):
    schema = method.json_schema(scale)
    assert schema["required"] == list(schema["properties"])
    reasons = [name for name in schema["properties"] if name == "reason"]
    (field,) = schema["properties"].keys() - {"reason"}
    values = []
    for answer in schema["properties"][field]["enum"]:
        reading = method.read_structured(
            json.dumps({**dict.fromkeys(reasons, "Because."), field: answer}), scale
        )
        assert isinstance(reading, Readable), (answer, reading)
        assert reading.rationale == ("Because." if reasons else "")
        values.append(reading.value)
    own = {"h2h": [1, 0, 0.5], "pairwise": [1, 0], "mcq_reversed": list(reversed(scale.values))}
    assert values == own.get(method.key, list(scale.values))


@pytest.mark.parametrize(("key", "name"), sorted(REFUSED))
def test_method_rejects_each_unsupported_scale_with_a_message(key, name):
    method = METHODS[key]
    refusal = method.refuses(SCALES[name])
    assert refusal is not None
    assert refusal.startswith(f"The scale of {SCALES[name].name}" if "mcq" in key else SCALES[name].name)
    with pytest.raises(ValueError, match="^" + refusal[:20]):
        prompt(method, SCALES[name])


@pytest.mark.parametrize(("method", "scale"), CASES)
def test_method_accepts_each_scale_it_can_judge(method, scale):
    assert method.refuses(scale) is None


def test_scales_have_a_line_for_each_point():
    content = prompt(METHODS["rts"], LABELLED)
    assert "\n1 = A pile: What A pile means.\n2 = Loose: What Loose means.\n" in content
    assert "a number from 1 to 5" in content


def test_long_scales_show_their_ends():
    assert "\n1 = the lower end\n100 = the upper end\n" in prompt(METHODS["rts"], HUNDRED)


def test_prompt_lists_categories_by_name():
    content = prompt(METHODS["rts"], TOPICS)
    assert "the name of one of these: Sport; Politics; Politics abroad" in content
    assert "\n0 = Sport: What Sport means.\n" in content


def test_options_are_the_points_from_the_lowest_up():
    content = prompt(METHODS["mcq"], LABELLED)
    assert "\nA: A pile: What A pile means.\nB: Loose: What Loose means.\n" in content
    assert "\nE: One text: What One text means.\n" in content
    assert METHODS["mcq"].candidates(LABELLED) == {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}


def test_options_of_points_without_a_meaning_are_their_numbers():
    assert "\nB: 2 on the scale from 1 to 5\n" in prompt(METHODS["mcq"], FIVE)


def test_two_outputs_and_a_tie():
    content = prompt(METHODS["h2h"], FIVE)
    assert "\nA: Text 1 is better.\nB: Text 2 is better.\nC: It is a tie" in content
    assert METHODS["h2h"].candidates(FIVE) == {"A": 1.0, "B": 0.0, "C": 0.5}


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_every_dimension_of_the_templates_can_be_judged(template):
    for number, spec in enumerate(template.dimensions):
        fields = {name: value for name, value in asdict(spec).items() if name in vars(FIVE)}
        fields["points"] = tuple(FrozenPoint(**asdict(point)) for point in spec.points)
        scale = FrozenDimension(id=number, key=spec.name.lower(), **fields)
        for method in SINGLE:
            assert (
                method.refuses_kind(scale)
                or method.refuses(scale)
                or spec.definition in prompt(method, scale)
            )


def test_methods_load_nothing_of_the_web_application():
    script = (
        "import sys, judges.methods; names = {name.partition('.')[0] for name in sys.modules}; "
        "print(*sorted(names & {'django', 'celery', 'openai', 'concord', 'numpy'}))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""
