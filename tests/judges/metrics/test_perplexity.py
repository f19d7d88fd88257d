"""`manage.py perplexity`: how familiar a judge's model finds texts, by what servers say of given ones."""

import json
import math
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from judges.core.models import Judge, MetricValue
from judges.endpoints.client import TextProbabilities
from judges.endpoints.questions import Server
from tests.factories import make_project
from tests.judges.factories import make_judge, make_priced_endpoint
from tests.judges.provider import Provider, providing
from tests.judges.small_model import small_model

TEXT = "It is good."


@pytest.fixture
def items():
    cast = make_project(documents=1, systems=2)
    for item in cast.items:
        item.text = TEXT
        item.save()
    return cast.items


def echo_of(*log_probabilities: float | None) -> str:
    """What vLLM answers: the text's tokens, the first without a probability, and one that it wrote itself."""
    starts = [0, *range(2, 2 * len(log_probabilities), 2)]
    found = {"token_logprobs": [*log_probabilities, -9.0], "text_offset": [*starts, len(TEXT)]}
    return json.dumps({"choices": [{"text": "", "logprobs": found}], "usage": {"prompt_tokens": 50}})


def judge_at(provider: Provider, items) -> Judge:
    endpoint = make_priced_endpoint(
        items[0].document.project, provider.base_url, input_price=2, output_price=8
    )
    return make_judge(endpoint.project, endpoint=endpoint, name="Small")


def measure(judge: Judge, *options: str) -> dict[str, object]:
    out = StringIO()
    call_command("perplexity", judge.project.slug, "--judge", judge.name, "--json", *options, stdout=out)
    found: dict[str, object] = json.loads(out.getvalue())
    return found


@pytest.mark.django_db
def test_each_output_needs_one_call_and_its_value_is_stored_at_once(items) -> None:
    with providing(body=echo_of(None, -1.0, -2.0)) as provider:
        judge = judge_at(provider, items)
        assert measure(judge) == {
            "metric": f"Perplexity under {judge.model}",
            "values": 2,
            "problems": [],
            "cost": "0.000200",
        }
        values = MetricValue.objects.values_list("value", flat=True)
        assert list(values) == [pytest.approx(math.exp(1.5))] * 2
        [first, second] = provider.asked
        assert first["echo"] is True
        assert first["prompt"] == second["prompt"] == TEXT
        MetricValue.objects.filter(item=items[1]).delete()  # as if a process had died before it
        assert measure(judge)["values"] == 1
        assert len(provider.asked) == 3


@pytest.mark.django_db
def test_one_call_per_document_covers_all_its_outputs(items) -> None:
    document = items[0].document
    document.parts = [{"label": "Review 1", "text": "It is"}, {"label": "Review 2", "text": "good"}]
    document.save()
    with providing(body=echo_of(None, -1.0, -2.0)) as provider:
        judge = judge_at(provider, items)
        said = measure(judge, "--documents")
        assert said["metric"] == f"Document perplexity under {judge.model}"
        assert (said["values"], said["cost"]) == (2, "0.000100")
        assert [each["prompt"] for each in provider.asked] == ["It is\n\ngood"]
        values = dict(MetricValue.objects.values_list("item", "value"))
        assert values == {item.pk: pytest.approx(math.exp(1.5)) for item in items}
        assert measure(judge)["values"] == 2, "the outputs have another metric"
        assert measure(judge, "--documents")["values"] == 0


@pytest.mark.django_db
def test_server_without_input_probabilities_is_rejected_with_a_message(items) -> None:
    said = json.dumps({"choices": [{"text": "x", "logprobs": None}]})
    with providing(body=said) as provider, pytest.raises(CommandError) as refused:
        measure(judge_at(provider, items))
    assert "returns no log-probabilities of its input; use a server that does" in str(refused.value)
    assert not MetricValue.objects.exists()


@pytest.mark.django_db
def test_rejected_output_has_no_value_and_the_others_continue(items) -> None:
    with providing(body=echo_of(None)) as provider, pytest.raises(CommandError) as refused:
        measure(judge_at(provider, items))
    assert str(refused.value).count("The text is one token, which has none before it.") == 2
    Judge.objects.all().delete()
    with (
        providing(status=400, error="Its maximum context length is 3 tokens.") as provider,
        pytest.raises(CommandError) as refused,
    ):
        measure(judge_at(provider, items))
    assert str(refused.value).count("maximum context length") == 2


@pytest.mark.django_db
@pytest.mark.parametrize("probability", [-9999.0, -math.inf, math.nan])
def test_too_unlikely_output_has_no_value_and_a_reason(items, probability) -> None:
    with providing(body=echo_of(None, probability)) as provider, pytest.raises(CommandError) as refused:
        measure(judge_at(provider, items))
    assert str(refused.value).count("its perplexity is no finite number") == 2
    assert not MetricValue.objects.exists()


@pytest.mark.django_db
def test_name_of_another_metric_is_rejected(items) -> None:
    with providing(body=echo_of(None, -1.0)) as provider:
        judge = judge_at(provider, items)
        judge.project.metrics.create(name=f"Perplexity under {judge.model}", source="imported from a.csv")
        with pytest.raises(CommandError, match="is another metric already"):
            measure(judge)


@pytest.mark.long
@pytest.mark.once
def test_llama_cpp_server_is_called_token_by_token() -> None:
    """The small model finds a sentence more probable than its words in another order."""
    with small_model() as address:
        asked = TextProbabilities(Server(address, "none", 60, 1), "small")
        in_order = asked.of_text("The cat sat on the mat and looked at the door.")
        disordered = asked.of_text("Door the at looked and mat the on sat cat the.")
        asked.close()
    assert in_order.input_tokens == len(in_order.log_probabilities) + 1
    assert in_order.perplexity is not None
    assert disordered.perplexity is not None
    assert 1 < in_order.perplexity < disordered.perplexity / 3
