"""Dialects: requests and answers have the shapes of the providers' own packages, and each error its state."""

import json
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.core.outbound import PrivateAddressError
from judges.core.models import Endpoint
from judges.endpoints.client import Client, ask_once, use_client
from judges.endpoints.connections import client_of_one
from judges.endpoints.dialects import DIALECTS
from judges.endpoints.dialects.anthropic_messages import SHORTEST_CACHED, VERSION
from judges.endpoints.dialects.base import SCHEMA_NAME
from judges.endpoints.failures import ANTHROPIC_LIMITS, ProviderError, RequestFailed, seconds_until_reset
from judges.endpoints.questions import Question, Reply, RequestProblem, Server
from judges.methods.base import Message
from tests.judges import anthropic_fake, gemini_fake
from tests.judges.anthropic_fake import anthropic_serving, message
from tests.judges.gemini_fake import content, gemini_serving
from tests.judges.http_fake import Answer, serving_answers
from tests.judges.provider import providing

ANTHROPIC, GEMINI = Endpoint.Dialect.ANTHROPIC, Endpoint.Dialect.GEMINI
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 99}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}
PLAIN = Question("m", (Message("system", "You judge."), Message("user", "Hello")), None, 300)
FULL = replace(PLAIN, stop=("###",), reasoning_effort="low", schema=SCHEMA)
LONG = "x" * SHORTEST_CACHED


def asked(server, dialect: str, question: Question = PLAIN, key: str = "planted-key") -> Reply:
    return ask_once(Server(server.base_url, key, 5, 1, dialect), question)


def failed(server, dialect: str) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        asked(server, dialect)
    return caught.value


def body(dialect: str, question: Question) -> dict[str, Any]:
    return DIALECTS[dialect].body(question)


# Shapes: the providers' packages decide


@pytest.mark.parametrize(
    "question",
    [
        PLAIN,
        FULL,
        replace(PLAIN, reasoning_effort="none"),
        replace(PLAIN, reasoning_effort="2048"),
        replace(PLAIN, messages=(Message("system", LONG), Message("user", f"{LONG}end", len(LONG)))),
    ],
)
def test_requests_have_the_shape_of_the_anthropic_package(question):
    from anthropic.types import message_create_params
    from pydantic import ConfigDict, TypeAdapter, with_config

    shape = with_config(ConfigDict(extra="forbid"))(message_create_params.MessageCreateParamsNonStreaming)
    sent = body(ANTHROPIC, question)
    TypeAdapter(shape).validate_python(sent)
    assert not {"temperature", "top_p", "seed"} & sent.keys()


def test_version_matches_the_anthropic_package():
    import anthropic

    with anthropic.Anthropic(api_key="k") as client:
        sent = {name.lower(): value for name, value in client.default_headers.items()}
    assert sent["anthropic-version"] == VERSION
    assert DIALECTS[ANTHROPIC].key_headers("k") == {"authorization": sent["authorization"]}


@pytest.mark.parametrize(
    "question",
    [
        PLAIN,
        FULL,
        replace(FULL, reasoning_effort="512"),
        replace(PLAIN, reasoning_effort="none", temperature=0.5, top_p=0.9, seed=7, n=3),
        replace(PLAIN, wants_probabilities=True, extra_body={"generationConfig": {"topK": 20}}),
    ],
)
def test_requests_have_the_shape_of_the_gemini_package(question):
    from google.genai import types

    sent = body(GEMINI, question)
    types.GenerationConfig.model_validate(sent["generationConfig"])
    for each in sent["contents"]:
        types.Content.model_validate(each)
    types.Content.model_validate(sent["systemInstruction"])


def test_gemini_requests_match_its_package():
    from google import genai
    from google.genai import types

    with gemini_serving() as server:
        asked(server, GEMINI, replace(FULL, temperature=0.5, top_p=0.9, seed=7))
        options = types.HttpOptions(base_url=server.base_url.removesuffix("/v1beta"), api_version="v1beta")
        with genai.Client(api_key="k", enterprise=False, http_options=options) as client:
            client.models.generate_content(
                model="m",
                contents="Hello",
                config=types.GenerateContentConfig(
                    system_instruction="You judge.",
                    temperature=0.5,
                    top_p=0.9,
                    seed=7,
                    max_output_tokens=300,
                    stop_sequences=["###"],
                    thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW),
                    response_mime_type="application/json",
                    response_json_schema=SCHEMA,
                ),
            )
    own, theirs = server.asked
    theirs["systemInstruction"].pop("role", None)  # the package's own, which says nothing
    # The package writes this name as Python does, which Google reads as well.
    level = theirs["generationConfig"].pop("thinkingConfig")["thinking_level"]
    assert own["generationConfig"].pop("thinkingConfig") == {"thinkingLevel": level}
    for name in own.keys() | theirs.keys():
        assert own[name] == theirs[name]
    assert server.paths == ["/v1beta/models/m:generateContent"] * 2


def test_fake_replies_have_the_shape_of_the_packages():
    from anthropic.types import Message as AnthropicMessage
    from google.genai import types

    AnthropicMessage.model_validate(message())
    types.GenerateContentResponse.model_validate(content())


# Replies


def test_a_message_is_read_with_cached_and_thinking_tokens():
    with anthropic_serving() as server:
        reply = asked(server, ANTHROPIC)
    assert (reply.text, reply.finish_reason, reply.problem) == ("Score: 4", "end_turn", None)
    assert (reply.input_tokens, reply.output_tokens) == (100, 50)
    assert (reply.cached_tokens, reply.reasoning_tokens) == (30, 20)
    assert reply.model == "claude-haiku-4-5-20251001"
    assert server.keys == {"Bearer planted-key"}


def test_content_of_gemini_is_read_without_its_thoughts_which_are_output_tokens():
    with gemini_serving() as server:
        reply = asked(server, GEMINI)
    assert (reply.text, reply.finish_reason, reply.problem) == ("Score: 4", "STOP", None)
    assert (reply.input_tokens, reply.output_tokens) == (100, 50)
    assert (reply.cached_tokens, reply.reasoning_tokens) == (40, 30)
    assert server.keys == {"planted-key"}


def test_log_probabilities_of_gemini_are_read_at_each_token():
    token = {"token": "4", "logProbability": -0.1}
    found = {
        "chosenCandidates": [token],
        "topCandidates": [{"candidates": [token, {"token": "5", "logProbability": -2.4}]}],
    }
    with gemini_serving(of=lambda _: Answer(content("4", logprobsResult=found))) as server:
        reply = asked(server, GEMINI, replace(PLAIN, wants_probabilities=True))
    assert [(each.text, each.top_logprobs) for each in reply.tokens or ()] == [("4", {"4": -0.1, "5": -2.4})]
    assert server.asked[0]["generationConfig"]["responseLogprobs"] is True


@pytest.mark.parametrize(
    ("said", "problem", "refusal"),
    [
        (message("", stop_reason="refusal"), RequestProblem.REFUSED, ""),
        (
            message("", stop_reason="refusal", stop_details={"type": "refusal", "explanation": "Not this."}),
            RequestProblem.REFUSED,
            "Not this.",
        ),
        (message("The", stop_reason="max_tokens"), RequestProblem.TRUNCATED, ""),
        (message("The", stop_reason="model_context_window_exceeded"), RequestProblem.TOO_LONG, ""),
    ],
)
def test_reasons_to_stop_of_anthropic_have_their_state(said, problem, refusal):
    with anthropic_serving(of=lambda _: Answer(said)) as server:
        reply = asked(server, ANTHROPIC)
    assert (reply.problem, reply.refusal) == (problem, refusal)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (content("", reason="SAFETY"), RequestProblem.FILTERED),
        (content("", reason="PROHIBITED_CONTENT"), RequestProblem.FILTERED),
        (content("The", reason="MAX_TOKENS"), RequestProblem.TRUNCATED),
        ({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}, RequestProblem.FILTERED),
    ],
)
def test_reasons_to_stop_of_gemini_have_their_state(said, problem):
    with gemini_serving(of=lambda _: Answer(said)) as server:
        assert asked(server, GEMINI).problem is problem


def test_tool_call_is_reported_by_name_and_is_no_content():
    use = {"type": "tool_use", "id": "t", "name": "search", "input": {}}
    with anthropic_serving(of=lambda _: Answer(message(content=[use], stop_reason="tool_use"))) as server:
        reply = asked(server, ANTHROPIC)
    assert (reply.text, reply.tool) == ("", "search")
    call = {"functionCall": {"name": "search", "args": {}}}
    with gemini_serving(of=lambda _: Answer(content(content={"parts": [call]}))) as server:
        reply = asked(server, GEMINI)
    assert (reply.text, reply.tool) == ("", "search")


# Caching and reasoning


def test_a_long_beginning_that_all_questions_share_is_marked_to_be_cached():
    messages = (Message("system", LONG), Message("user", f"{LONG}end", len(LONG)))
    sent = body(ANTHROPIC, replace(PLAIN, messages=messages))
    marked = {"cache_control": {"type": "ephemeral"}}
    assert sent["system"] == [{"type": "text", "text": LONG, **marked}]
    first, rest = sent["messages"][0]["content"]
    assert (first, rest) == ({"type": "text", "text": LONG, **marked}, {"type": "text", "text": "end"})
    short = body(ANTHROPIC, replace(PLAIN, messages=(Message("user", "Hello you", 5),)))
    assert short["messages"][0]["content"] == "Hello you"


@pytest.mark.parametrize(
    ("effort", "anthropic", "gemini"),
    [
        ("high", {"type": "adaptive"}, {"thinkingLevel": "HIGH"}),
        ("none", {"type": "disabled"}, {"thinkingBudget": 0}),
        ("2048", {"type": "enabled", "budget_tokens": 2048}, {"thinkingBudget": 2048}),
        ("", None, None),
    ],
)
def test_a_reasoning_effort_is_a_level_or_a_budget(effort, anthropic, gemini):
    question = replace(PLAIN, reasoning_effort=effort)
    assert body(ANTHROPIC, question).get("thinking") == anthropic
    assert body(GEMINI, question)["generationConfig"].get("thinkingConfig") == gemini


def test_a_shape_goes_to_anthropic_without_the_ends_of_numbers():
    sent = body(ANTHROPIC, FULL)["output_config"]
    assert sent["effort"] == "low"
    assert sent["format"]["schema"]["properties"]["score"] == {"type": "integer"}
    named = {"type": "object", "properties": {"minimum": {"type": "integer", "minimum": 1}}}
    sent = body(ANTHROPIC, replace(PLAIN, schema=named))["output_config"]
    assert sent["format"]["schema"]["properties"] == {"minimum": {"type": "integer"}}


# Errors and limits

RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"}
PER_DAY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


@pytest.mark.parametrize(
    ("status", "kind", "says", "headers", "expected"),
    [
        (429, "rate_limit_error", "Slow down.", {"retry-after": "7"}, (False, False, 7, None)),
        (529, "overloaded_error", "Overloaded", {}, (False, False, 5, None)),
        (500, "api_error", "Internal server error", {}, (False, False, None, None)),
        (400, "invalid_request_error", "max_tokens: wrong", {}, (False, True, None, None)),
        (400, "invalid_request_error", "prompt is too long: 9 > 8", {}, (False, True, None, "too_long")),
        (400, "invalid_request_error", "Your credit balance is too low.", {}, (True, False, None, None)),
        (401, "authentication_error", "invalid x-api-key", {}, (True, False, None, None)),
        (402, "billing_error", "Pay first.", {}, (True, False, None, None)),
        (403, "permission_error", "Not yours.", {}, (True, False, None, None)),
        (404, "not_found_error", "model: m", {}, (True, False, None, None)),
        (413, "request_too_large", "Too large.", {}, (False, True, None, "too_long")),
    ],
)
def test_errors_of_anthropic_have_their_state_and_words(status, kind, says, headers, expected):
    said = Answer(anthropic_fake.error(kind, says), status, headers)
    with anthropic_serving(of=lambda _: said) as server:
        error = failed(server, ANTHROPIC)
    problem = error.problem and error.problem.value
    assert (error.fatal_for_run, error.permanent, error.wait, problem) == expected
    assert says in error.sentence


@pytest.mark.parametrize(
    ("status", "name", "says", "details", "expected"),
    [
        (429, "RESOURCE_EXHAUSTED", "Quota.", [RETRY_INFO], (False, False, 22, None)),
        (429, "RESOURCE_EXHAUSTED", "Quota of today.", [PER_DAY, RETRY_INFO], (True, False, None, None)),
        (503, "UNAVAILABLE", "The model is overloaded.", [], (False, False, None, None)),
        (400, "INVALID_ARGUMENT", "Wrong.", [], (False, True, None, None)),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds 8.",
            [],
            (False, True, None, "too_long"),
        ),
        (400, "INVALID_ARGUMENT", "API key not valid.", [BAD_KEY], (True, False, None, None)),
        (403, "PERMISSION_DENIED", "Not yours.", [], (True, False, None, None)),
        (404, "NOT_FOUND", "models/m is not found.", [], (True, False, None, None)),
    ],
)
def test_errors_of_gemini_have_their_state_and_words(status, name, says, details, expected):
    said = Answer(gemini_fake.error(status, name, says, *details), status)
    with gemini_serving(of=lambda _: said) as server:
        error = failed(server, GEMINI)
    problem = error.problem and error.problem.value
    assert (error.fatal_for_run, error.permanent, error.wait, problem) == expected
    assert says in error.sentence


def test_key_is_in_no_message():
    said = Answer(anthropic_fake.error("authentication_error", "planted-key is no key."), 401)
    with anthropic_serving(of=lambda _: said) as server:
        assert failed(server, ANTHROPIC).sentence == "The server refuses the key: [key] is no key."


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_key_goes_to_no_other_server_than_the_endpoints(host):
    heard = []

    def hear(request):
        heard.append(request)
        return Answer({})

    with serving_answers(hear) as url:
        server = Server("http://127.0.0.1:9/v1", "planted-key", 5, 1)
        elsewhere = url.replace("127.0.0.1", host)
        with (
            client_of_one(server, {"authorization": "Bearer planted-key"}) as client,
            pytest.raises(PrivateAddressError, match="its key is not sent"),
        ):
            client.get(elsewhere)
    assert heard == []


def test_anthropic_limits_give_the_time_of_the_next_call(clock):
    soon = (clock.now + timedelta(seconds=20)).isoformat().replace("+00:00", "Z")
    later = (clock.now + timedelta(seconds=40)).isoformat().replace("+00:00", "Z")
    headers = {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": soon,
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": later,
        "anthropic-ratelimit-output-tokens-remaining": "5",
    }
    assert seconds_until_reset(headers, ANTHROPIC_LIMITS) == 40
    assert (
        seconds_until_reset({**headers, "anthropic-ratelimit-input-tokens-remaining": "1"}, ANTHROPIC_LIMITS)
        == 20
    )


@pytest.mark.parametrize("dialect", [ANTHROPIC, GEMINI])
def test_server_of_another_dialect_has_an_explanation(dialect):
    with providing(body='{"greeting": "hello"}') as provider:
        sentence = failed(provider, dialect).sentence
    assert sentence.startswith(f"No {DIALECTS[dialect].kind.label} server answers at")


def test_models_are_listed_by_name():
    with anthropic_serving() as server:
        found = use_client(Server(server.base_url, "k", 5, 1, ANTHROPIC), Client.list_models)
    assert found == ["claude-a", "claude-b"]
    with gemini_serving() as server:
        found = use_client(Server(server.base_url, "k", 5, 1, GEMINI), Client.list_models)
    assert found == ["a", "b"]


# What OpenAI-compatible servers answer in 2026


def completion(**message) -> str:
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})


@pytest.mark.parametrize(
    ("said", "text", "tool"),
    [
        ({"content": [{"type": "text", "text": "Score: "}, {"type": "text", "text": "4"}]}, "Score: 4", ""),
        ({"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "4"}]}, "4", ""),
        (
            {"content": None, "tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]},
            "",
            "search",
        ),
        (
            {
                "content": None,
                "tool_calls": [{"function": {"name": SCHEMA_NAME, "arguments": '{"score": 4}'}}],
            },
            '{"score": 4}',
            "",
        ),
    ],
)
def test_parts_are_joined_and_calls_of_tools_are_seen(said, text, tool):
    with providing(body=completion(**said)) as provider:
        reply = asked(provider, Endpoint.Dialect.OPENAI)
    assert (reply.text, reply.tool) == (text, tool)


@pytest.mark.parametrize(
    ("code", "expected"),
    [(402, (True, None)), (429, (False, 1.0)), (502, (False, None)), ("oops", (False, None))],
)
def test_an_error_inside_an_answer_of_200_is_an_error(code, expected):
    error = {"code": code, "message": "Provider returned error"}
    for said in ({"error": error}, {"choices": [{"error": error, "message": {"content": ""}}]}):
        with providing(body=json.dumps(said)) as provider:
            caught = failed(provider, Endpoint.Dialect.OPENAI)
        assert (caught.fatal_for_run, caught.wait) == expected
        assert "Provider returned error" in caught.sentence


def test_an_error_inside_an_answer_of_200_has_its_state_in_other_dialects_too():
    said = Answer(anthropic_fake.error("billing_error", "Pay first."))
    with anthropic_serving(of=lambda _: said) as server:
        assert failed(server, ANTHROPIC).fatal_for_run
    said = Answer(gemini_fake.error(503, "UNAVAILABLE", "The model is overloaded."))
    with gemini_serving(of=lambda _: said) as server:
        assert failed(server, GEMINI).sentence == "The server failed: The model is overloaded."
    limited = content("", reason="PUP_LIMITED_DISABLED")
    with gemini_serving(of=lambda _: Answer(limited)) as server:
        assert failed(server, GEMINI).fatal_for_run


@pytest.mark.parametrize(
    ("status", "said", "fatal", "problem"),
    [
        (402, {"message": "Insufficient Balance"}, True, None),
        (403, {"message": "Requires moderation", "metadata": {"flagged_input": "x"}}, False, "filtered"),
        (403, {"message": "Not allowed to use this model."}, True, None),
        (413, {"message": "Request too large"}, False, "too_long"),
        (413, {}, False, "too_long"),
    ],
)
def test_error_about_one_item_does_not_end_the_run(status, said, fatal, problem):
    with providing(status=status, body=json.dumps({"error": said})) as provider:
        error = failed(provider, Endpoint.Dialect.OPENAI)
    assert (error.fatal_for_run, error.problem and error.problem.value) == (fatal, problem)
    assert said.get("message", "") in error.sentence


# Answers of any form

TOKEN = {"token": "4", "logProbability": -0.1, "logprob": -0.1, "top_logprobs": []}
LOGPROBS = {"chosenCandidates": [TOKEN], "topCandidates": [{"candidates": [TOKEN]}]}
CHOICE = {
    "message": {"content": [{"type": "text", "text": "4"}], "tool_calls": [{"function": {"name": "f"}}]},
    "logprobs": {"content": [TOKEN]},
    "finish_reason": "stop",
}
VALID = [
    message(stop_reason="refusal", stop_details={"explanation": "no"}),
    content(logprobsResult=LOGPROBS),
    {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}},
    {"choices": [CHOICE], "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}},
    {"data": [{"id": "m"}], "models": [{"name": "m", "supportedGenerationMethods": ["generateContent"]}]},
    gemini_fake.error(429, "RESOURCE_EXHAUSTED", "Slow.", RETRY_INFO, PER_DAY),
    anthropic_fake.error("invalid_request_error", "no", error_code="x"),
    {"error": {"code": 403, "message": "no", "metadata": {"flagged_input": "x"}}},
    {"key": "1", "response": content()},
    {"custom_id": "1", "result": {"type": "succeeded", "message": message()}},
    {"custom_id": "1", "response": {"status_code": 200, "body": {"choices": [CHOICE]}}},
]
ODD = st.sampled_from([None, 0, -1, 2**40, 0.5, "", "x", [], [None], ["x"], {}, {"x": None}])


@st.composite
def spoilt_answers(draw) -> Any:
    """Draw a valid answer with something else at one place."""
    answer = holder = deepcopy(draw(st.sampled_from(VALID)))
    while True:
        key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.booleans()):
            holder[key] = draw(ODD)
            return answer
        holder = inner


@pytest.mark.parametrize("dialect", list(DIALECTS))
@given(said=spoilt_answers())
@settings(max_examples=300, deadline=None)
def test_any_json_is_a_reply_an_error_or_neither(dialect, said):
    read = DIALECTS[dialect]
    assert isinstance(read.error(400, {}, said), ProviderError)
    with suppress(ProviderError):
        assert all(isinstance(each.text, str) for each in read.replies(said, None, 1) or ())
    assert all(isinstance(each, str) for each in read.models(said) or ())
    with suppress(KeyError):
        line = read.batch_line(said)
        assert line.reply is None or line.error is None
