"""Letting a model write the evaluation steps of a prompt, one call for each dimension."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.models import Dimension, User
from judges.core.models import Judge, PromptTemplate
from judges.endpoints.client import ask_once
from judges.endpoints.commands import edit_wording
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.questions import Question, Server
from judges.endpoints.replies import Reply
from judges.endpoints.work import Prices
from judges.methods.evaluation_steps import ask_for_steps, has_steps, steps_in, with_steps
from judges.methods.readings import Unreadable

LONGEST_STEPS = 800  # tokens


@dataclass(frozen=True)
class WrittenSteps:
    """The steps for a dimension and the version of the prompt that has them, or why there are none."""

    dimension: str
    template: PromptTemplate
    steps: list[str]
    problem: str = ""
    cost: Decimal | None = None


def write_steps(*, template: PromptTemplate, judge: Judge, by: User | None) -> Iterator[WrittenSteps]:
    """Let a judge's model write the steps of each dimension that has no wording of its own yet.

    Each reply is a wording of the prompt as soon as it is there, in the next version where this one has
    judgments. A process that dies loses one call: who begins again goes on with the other dimensions. No
    transaction is open during a call. Raises InvalidValueError and KeyMissingError.
    """
    if not has_steps(template.text):
        raise InvalidValueError("The prompt has no numbered steps behind a line “Evaluation steps:”.")
    if judge.endpoint is None:
        raise InvalidValueError(f"{judge.name} was imported and has no endpoint that could be asked.")
    server, prices = server_of(judge.endpoint, calls_in_flight=1), Prices.of(judge.endpoint)
    for dimension in current_guideline(template.project).dimensions:
        if str(dimension.id) in template.wordings:
            continue
        written = _write(template, judge, server, prices, dimension, by)
        template = written.template
        yield written


def _write(
    template: PromptTemplate,
    judge: Judge,
    server: Server,
    prices: Prices,
    dimension: FrozenDimension,
    by: User | None,
) -> WrittenSteps:
    try:
        reply = _ask(server, judge, dimension)
    except RequestFailed as error:
        return WrittenSteps(dimension.name, template, [], error.sentence)
    cost = prices.cost(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
    steps = steps_in(reply.text)
    if isinstance(steps, Unreadable):
        return WrittenSteps(dimension.name, template, [], steps.reason, cost)
    own = Dimension.objects.get(pk=dimension.id)
    saved = edit_wording(template=template, dimension=own, text=with_steps(template.text, steps), by=by)
    return WrittenSteps(dimension.name, saved, steps, "", cost)


def _ask(server: Server, judge: Judge, dimension: FrozenDimension) -> Reply:
    question = Question(
        judge.model,
        (ask_for_steps(dimension),),
        temperature=judge.temperature,
        max_tokens=LONGEST_STEPS,
        max_tokens_name=judge.max_tokens_name,
        reasoning_effort=judge.reasoning_effort,
        extra_body=judge.extra_body,
    )
    return asyncio.run(ask_once(server, question))
