"""Leased judgments as questions to a model."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Document, Guideline, Item
from judges.core.material import contents_of, rotate_sides
from judges.core.models import Endpoint, Judge, Judgment, ScoreFrom
from judges.endpoints.questions import Question
from judges.endpoints.work import Call, Chain, Earlier, JudgmentWork, Outcome
from judges.methods import METHODS
from judges.methods.base import Message, Subject
from judges.methods.reading import Readable, Reading
from judges.methods.steps import MethodStep, SteppedMethod
from judges.runs.queries.calls import shared_by

FIRST_REPLY, FOLLOW_UP = "reply", "follow-up"


class Questions:
    """Builds questions from judgments of one run, and caches the judges and documents that they share."""

    def __init__(self) -> None:
        self._dimensions: dict[int, FrozenDimension] = {}
        self._in_order: Sequence[FrozenDimension] = ()
        self._judges: dict[int, Judge] = {}
        self._documents: dict[int, tuple[tuple[str, str], ...]] = {}
        self._references: dict[tuple[int, int], str] = {}  # by document and system
        self._contents: dict[int, Subject] = {}  # of items with questions of other kinds

    def work_of(self, judgments: Sequence[int], untried: Collection[int] = ()) -> list[JudgmentWork]:
        """Return the questions of these judgments in order, questions of one call together.

        untried: judges of which these are the first judgments of the run. Up to four queries, five if prompts
        show a reference, and three for questions of other kinds.
        """
        rows = Judgment.objects.filter(pk__in=judgments).order_by("pk")
        found = list(rows.values_list(*_COLUMNS, *_CALL, named=True))
        if found:
            self._learn(found)
        works = [self._work(row) for row in found]
        if untried:
            firsts = [row.judge if row.judge in untried else None for row in found]
            works = [replace(work, first_of=first) for work, first in zip(works, firsts, strict=True)]
        return _sort_by_call(works)

    def _learn(self, rows: Sequence[Any]) -> None:
        # All judgments are of one run, so one frozen guideline serves them all.
        if not self._dimensions:
            frozen = FrozenGuideline.from_json(Guideline.objects.get(runs=rows[0].run).content)
            self._dimensions = {dimension.id: dimension for dimension in frozen.dimensions}
            self._in_order = frozen.scales
        # Judges are loaded once for all judgments of the run.
        if unknown := {row.judge for row in rows} - self._judges.keys():
            self._judges |= Judge.with_candidates.select_related("template", "endpoint").in_bulk(unknown)
        wanted = {row.item__document for row in rows}
        # Only documents of these judgments stay in memory: a run may cover thousands.
        kept = {key: parts for key, parts in self._documents.items() if key in wanted}
        new = Document.objects.filter(pk__in=wanted - kept.keys()).values_list("pk", "parts")
        self._documents = kept | {
            key: tuple((part["label"], part["text"]) for part in parts) for key, parts in new
        }
        systems = {judge.reference_id for judge in self._judges.values() if judge.reference_id is not None}
        if systems:
            found = Item.objects.filter(document__in=wanted, system__in=systems)
            columns = found.values_list("document", "system", "text")
            self._references = {(document, system): text for document, system, text in columns}
        asked = {row.item for row in rows if not self._dimensions[row.dimension].is_scale}
        self._contents = contents_of(asked) if asked else {}

    def _subject(self, row: Any, judge: Judge) -> Subject:
        document, system = row.item__document, judge.reference_id
        # Planning rejects documents without the reference, so only a later deletion leaves it empty.
        reference = "" if system is None else self._references.get((document, system), "")
        if content := self._contents.get(row.item):
            return replace(rotate_sides(content, row.sample), reference=reference)
        return Subject(self._documents[document], row.item__text, row.other__text, reference)

    def _work(self, row: Any) -> JudgmentWork:
        judge, dimension = self._judges[row.judge], self._dimensions[row.dimension]
        together = dimensions_asked(judge, dimension, self._in_order, row.item)
        subject = self._subject(row, judge)
        own = judge.rescale(dimension)
        replies = replies_of_steps(row.steps)
        asked = question(judge, subject, together, sample=row.sample, replies=replies, dimension=dimension)
        takes_steps = judge.takes_steps or bool(row.steps)
        return JudgmentWork(
            judgment=row.pk,
            question=asked,
            method=METHODS[judge.method],
            dimension=own,
            together=[judge.rescale(each) for each in together],
            shared=shared_by(judge, row.item, row.sample, row.item__document, row.dimension, len(row.steps)),
            chain=_chain(judge, subject, own, row) or _follow_up(judge, subject, own, together, row),
            structured=judge.structured,
            attempts=row.attempts,
            # A planned judgment has a reason only after an unreadable reply.
            unreadable=_unreadable(row) if row.reason else None,
            keeps_messages=row.run__keeps_messages,
            # The prompt of a later step depends on earlier replies, so no other sample can share its call.
            unit=None if takes_steps else _unit(judge, row, subject),
            pattern=judge.template.pattern if judge.template else "",
            subject=subject,
            dialect=judge.endpoint.dialect if judge.endpoint else Endpoint.Dialect.OPENAI,
        )


_COLUMNS = (
    *("pk", "run", "judge", "dimension", "attempts", "item__document", "item__text", "other__text"),
    *("sample", "reason", "problem", "reply", "input_tokens", "output_tokens", "cost"),
    *("cached_tokens", "reasoning_tokens", "run__keeps_messages", "item", "other", "steps"),
)
_CALL = tuple(field.name for field in fields(Call))


def _unit(judge: Judge, row: Any, subject: Subject) -> tuple[int | None, ...] | None:
    """Return the key shared by samples that one call may return; None if each has a seed, or had a call
    before.
    """
    # Seeds differ by sample, and one call has one seed.
    if judge.samples == 1 or judge.seed is not None or row.attempts or judge.endpoint is None:
        return None
    if judge.asks_several:  # a sample is a call already
        return None
    # Samples with another order of the sides have another prompt.
    shared = (judge.pk, row.dimension, row.item, row.other, *subject.order)
    return shared if judge.endpoint.samples_in_one_call else None


def _unreadable(row: Any) -> Outcome:
    """Return the outcome of a returned judgment: a planned one with a reason was unreadable once."""
    return Outcome(
        row.pk,
        Judgment.Status.UNREADABLE,
        row.attempts,
        reply=row.reply,
        reason=row.reason,
        problem=row.problem,
        earlier=earlier_use(row),
        steps=row.steps,
        call=Call(**{name: getattr(row, name) for name in _CALL}),
    )


def earlier_use(row: Any) -> Earlier | None:
    """Return the usage of earlier calls, None if the server did not report it."""
    if row.input_tokens is None or row.output_tokens is None:
        return None
    return Earlier(row.input_tokens, row.output_tokens, row.cost, row.cached_tokens, row.reasoning_tokens)


def work_of(judgments: Sequence[int]) -> list[JudgmentWork]:
    """Return the questions of these judgments of one run, as `Questions` does. Up to four queries."""
    return Questions().work_of(judgments)


def dimensions_asked(
    judge: Judge, dimension: FrozenDimension, all_dimensions: Sequence[FrozenDimension], item: int
) -> list[FrozenDimension]:
    """Return the dimensions of the call that judges a dimension of an item, in the order of its prompt."""
    if not judge.asks_several:
        return [dimension]
    return judge.order_dimensions(judge.dimensions_of_call(all_dimensions), item)


def _sort_by_call(works: list[JudgmentWork]) -> list[JudgmentWork]:
    """Return work with judgments of one call adjacent, each call at the position of its first judgment."""
    if all(work.shared is None for work in works):
        return works
    first: dict[tuple[int, ...], int] = {}
    for work in works:
        if work.shared is not None:
            first.setdefault(work.shared, work.judgment)
    return sorted(works, key=lambda work: first[work.shared] if work.shared else work.judgment)


def question(
    judge: Judge,
    subject: Subject,
    dimensions: Sequence[FrozenDimension],
    *,
    sample: int = 0,
    replies: Sequence[str] = (),
    dimension: FrozenDimension | None = None,
) -> Question:
    """Return a judge's question for one call about a subject and dimensions. The judge needs its template.

    sample: each has a different seed, if seeds are used, or all would be the same reply. replies: to the
    previous steps, or the reply that gets a follow-up. dimension: of the follow-up, if a call covers several.
    """
    assert judge.template is not None
    method, asked = METHODS[judge.method], [judge.rescale(each) for each in dimensions]
    # A call about several dimensions has one wording for all of them.
    text = judge.template.text if judge.asks_several else judge.template.text_about(dimensions[0].id)
    step: MethodStep | None = None
    if isinstance(method, SteppedMethod):
        following = method.next_step(text, subject, asked[0], replies)
        if not isinstance(following, MethodStep):
            raise ValueError("All steps of this judgment are answered.")
        step, messages = following, following.messages
    else:
        messages = method.messages_about(text, subject, asked)
        if replies:
            # A follow-up continues the conversation: prompt, first reply, request for the score alone.
            asked = [judge.rescale(dimension or dimensions[0])]
            follow_up = Message("user", method.follow_up(asked[0]))
            messages = [*messages, Message("assistant", replies[0]), follow_up]
    schema: dict[str, Any] | None = None
    if judge.structured:
        schema = step.shape if step else method.schema_about(asked, subject)
    return Question(
        model=judge.model,
        messages=_prepend_system_message(judge.system_message, messages),
        temperature=judge.temperature,
        max_tokens=judge.max_tokens,
        max_tokens_name=judge.max_tokens_name,
        schema=schema,
        wants_probabilities=judge.score_from == ScoreFrom.PROBABILITIES,
        top_p=judge.top_p,
        seed=None if judge.seed is None else judge.seed + sample,
        stop=tuple(judge.stop),
        reasoning_effort=judge.reasoning_effort,
        extra_body=judge.extra_body,
    )


def _chain(judge: Judge, subject: Subject, dimension: FrozenDimension, row: Any) -> Chain | None:
    method = METHODS[judge.method]
    if not isinstance(method, SteppedMethod) or judge.template is None:
        return None
    text, replies = judge.template.text_about(dimension.id), replies_of_steps(row.steps)
    step = method.next_step(text, subject, dimension, replies)
    name = step.name if isinstance(step, MethodStep) else ""

    def go_on(reply: str) -> MethodStep | Reading:
        return method.next_step(text, subject, dimension, [*replies, reply])

    # Without steps, the usage belongs to an unreadable reply and not to earlier calls of the chain.
    return Chain(name, row.steps, earlier_use(row) if row.steps else None, go_on)


def _follow_up(
    judge: Judge, subject: Subject, dimension: FrozenDimension, together: Sequence[FrozenDimension], row: Any
) -> Chain | None:
    """Return the calls of a judge with a follow-up after an unreadable reply, None without one.

    The judge's rules parse the first reply; Concord's rules alone parse the reply to "State only the score".
    """
    method = METHODS[judge.method]
    if not judge.follows_up or judge.template is None or not method.follow_up(dimension):
        return None
    pattern, asked = judge.template.pattern, [judge.rescale(each) for each in together]

    def read_first(reply: str) -> MethodStep | Reading:
        reading = method.read_about(
            reply, dimension, asked, subject=subject, pattern=pattern, structured=judge.structured
        )
        is_over = isinstance(reading, Readable) or not reply.strip()
        return reading if is_over else MethodStep(FOLLOW_UP, ())

    def read_second(reply: str) -> MethodStep | Reading:
        reading = method.read_about(reply, dimension, [dimension], subject=subject)
        first = replies_of_steps(row.steps)[0].strip()
        # The second reply is a bare score, so the reasons come from the first one.
        return replace(reading, rationale=first) if isinstance(reading, Readable) else reading

    if row.steps:
        return Chain(FOLLOW_UP, row.steps, earlier_use(row), read_second, is_last=True)
    return Chain(FIRST_REPLY, (), None, read_first)


def replies_of_steps(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the replies to steps, in order."""
    return [str(step["reply"]) for step in steps]


def _prepend_system_message(own: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages after a judge's own system message, merged with the prompt's:

    servers accept only one.
    """
    if not own:
        return tuple(messages)
    of_prompt = [message.content for message in messages if message.role == "system"]
    rest = (message for message in messages if message.role != "system")
    return (Message("system", "\n\n".join([own, *of_prompt])), *rest)
