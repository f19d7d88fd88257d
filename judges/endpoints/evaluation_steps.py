"""Parts of a prompt written by a model: steps for each dimension, or the schema of SummEQuAL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.jobs import JobKind, TakenOverError, own_row, persistently, wake_worker
from annotate.core.models import Dimension, Document, Project, User
from judges.core.models import Judge, PromptTemplate, StepsWriting
from judges.endpoints.archiving import refuse_archived
from judges.endpoints.client import call_once
from judges.endpoints.commands import edit_template, edit_wording
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import server_of
from judges.endpoints.prices import prices_of
from judges.endpoints.questions import Question, Reply, Server
from judges.methods import METHODS
from judges.methods.base import Message
from judges.methods.proposed_parts import (
    ask_for_schema,
    ask_for_steps,
    has_schema,
    has_steps,
    replace_schema,
    replace_steps,
    schema_in,
    steps_in,
)
from judges.methods.reading import Unreadable

LONGEST_STEPS = 800  # tokens
EXAMPLES = 3  # documents for which a model proposes a schema
SCHEMA = "schema"  # its key among the replies, next to ids of dimensions
Status = StepsWriting.Status


@dataclass(frozen=True)
class WrittenSteps:
    """The steps for a dimension and the version of the prompt that has them, or why there are none.

    For a schema, dimension is the word "schema", and steps are its lines.
    """

    dimension: str
    template: PromptTemplate
    steps: list[str]
    problem: str = ""
    cost: Decimal | None = None


def write_steps(
    *,
    template: PromptTemplate,
    judge: Judge,
    by: User | None,
    replies: Mapping[str, str] | None = None,
    keep_reply: Callable[[str, str, Decimal | None], object] = lambda *_: None,
) -> Iterator[WrittenSteps]:
    """Let a judge's model write the steps of each dimension without a wording, or a schema.

    Each reply is stored at once as a wording of the prompt, in the next version if this one has judgments. A
    process that dies loses one call: the next start continues with the other dimensions. No transaction is
    open during a call. Raises InvalidValueError and KeyMissingError.

    replies: earlier replies by the dimension's id, which replace calls of the model. keep_reply: receives the
    dimension's id, a new reply and its cost before the reply is parsed.
    """
    _refuse_without_part(template)
    if judge.endpoint is None:
        raise InvalidValueError(
            gettext("{judge} was imported and has no endpoint that could be asked.").format(judge=judge.name)
        )
    server, prices = server_of(judge.endpoint, calls_in_flight=1), prices_of(judge.endpoint, judge.model)
    scales: Sequence[FrozenDimension | None] = current_guideline(template.project).scales
    for dimension in [None] if writes_schema(template) else scales:
        key = str(dimension.id) if dimension else SCHEMA
        # Written by an earlier attempt or by a person, which no new steps replace.
        if key in template.wordings:
            continue
        written = WrittenSteps(dimension.name if dimension else SCHEMA, template, [])
        # A reply that an earlier attempt paid replaces the call.
        text = (replies or {}).get(key)
        if text is None:
            message = ask_for_steps(dimension) if dimension else ask_for_schema(_examples(template.project))
            try:
                reply = _ask(server, judge, message)
            except RequestFailed as error:
                yield replace(written, problem=error.sentence)
                continue
            cost = prices.cost(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
            # Before it is parsed, so that a crash or an unreadable reply does not lose what was paid.
            persistently(partial(keep_reply, key, reply.text, cost))
            text, written = reply.text, replace(written, cost=cost)
        steps = steps_in(text) if dimension else schema_in(text)
        if isinstance(steps, Unreadable):
            yield replace(written, problem=steps.reason)
            continue
        if dimension:
            own = Dimension.objects.get(pk=dimension.id)
            wording = replace_steps(template.text, steps)
            # Each wording may write a new version, which the next dimension continues from.
            template = edit_wording(template=template, dimension=own, text=wording, by=by)
        else:
            template = edit_template(template=template, text=replace_schema(template.text, steps), by=by)
        yield replace(written, template=template, steps=steps)


def writes_schema(template: PromptTemplate) -> bool:
    """Return True if a model writes the schema of this prompt, in one call, and no steps."""
    return METHODS[template.method].takes_steps and has_schema(template.text)


def has_written_part(template: PromptTemplate) -> bool:
    """Return True if a model can write a part of this prompt."""
    return has_steps(template.text) or writes_schema(template)


def _refuse_without_part(template: PromptTemplate) -> None:
    if not has_written_part(template):
        raise InvalidValueError(
            gettext("The prompt has no numbered steps behind a line “Evaluation steps:”, and no schema.")
        )


def _examples(project: Project) -> list[str]:
    # Always the first ones, so that a repeated call shows the model the same documents.
    documents = Document.objects.filter(project=project).order_by("pk")[:EXAMPLES]
    return ["\n\n".join(part["text"] for part in each.parts) for each in documents]


def _ask(server: Server, judge: Judge, message: Message) -> Reply:
    question = Question(
        judge.model,
        (message,),
        temperature=judge.temperature,
        max_tokens=LONGEST_STEPS,
        max_tokens_name=judge.max_tokens_name,
        reasoning_effort=judge.reasoning_effort,
        extra_body=judge.extra_body,
    )
    return call_once(server, question)


# The same as a job: asked for on a prompt's page.


def latest_steps_writing(template: PromptTemplate) -> StepsWriting | None:
    """Return the latest steps job for any version of a prompt. One query."""
    same = StepsWriting.objects.filter(
        template__project=template.project_id, template__name=template.name
    ).select_related("template", "judge")
    return same.order_by("-pk").first()


@transaction.atomic
def start_steps_writing(*, template: PromptTemplate, judge: Judge, by: User | None) -> StepsWriting:
    """Start a job in which a judge's model writes the steps of each dimension without its own wording.

    Returns the running job of this prompt if there is one. Locks the project. Raises InvalidValueError if the
    prompt has no steps, or the judge has no endpoint.
    """
    lock_project(template.project)
    # Two jobs for one prompt would pay for the same steps.
    latest = latest_steps_writing(template)
    if latest and latest.status in StepsWriting.UNDER_WAY:
        return latest
    _refuse_without_part(template)
    if judge.endpoint_id is None:
        raise InvalidValueError(gettext("{name} is imported and calls no model.").format(name=judge.name))
    if reason := refuse_archived(judge):
        raise InvalidValueError(reason)
    writing = StepsWriting.objects.create(template=template, judge=judge, created_by=by)
    wake_worker(STEPS_JOB, writing.pk)
    return writing


def _write_all(writing: StepsWriting) -> str:
    """Call the model for each dimension; return the reason why some have no steps, or an empty string.

    No transaction is open during a call. A killed worker loses the call in flight; steps received earlier are
    stored as wordings of the prompt.
    """
    problems = []
    written_steps = write_steps(
        template=writing.template,
        judge=writing.judge,
        by=writing.created_by,
        replies=writing.replies,
        keep_reply=partial(_keep_reply, writing),
    )
    for written in written_steps:
        # Another attempt continues from the version that has the steps of this one.
        _note(writing, template=written.template)
        if written.problem:
            problems.append(f"{written.dimension}: {written.problem}")
    return " ".join(problems)


def _keep_reply(writing: StepsWriting, dimension: str, text: str, cost: Decimal | None) -> None:
    writing.replies = {**(writing.replies or {}), dimension: text}
    # One unknown cost makes the sum unknown: NULL plus a cost stays NULL.
    _note(writing, replies=writing.replies, spent=None if cost is None else F("spent") + cost)


def _note(writing: StepsWriting, **fields: object) -> None:
    """Store the version that has the steps, or a reply and its cost; raises TakenOverError."""
    if not own_row(writing).update(**fields):
        raise TakenOverError


STEPS_JOB = JobKind(
    "steps",
    StepsWriting,
    _write_all,
    does="calls a model for the evaluation steps of a prompt",
    statuses={Status.WAITING: Status.ASKING},
    finished=Status.FINISHED,
    related=("template__project", "judge__endpoint", "created_by"),
)
