"""Details of one judgment, and changes of stored replies under the present rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from annotate.core import jobs
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from judges.core.contents import contents_of, rotate_sides
from judges.core.judge_settings import SettingSection, names_of_settings
from judges.core.models import Judge, Judgment, Rereading
from judges.core.models.judges import ScoreFrom
from judges.methods import METHODS
from judges.methods.base import Subject
from judges.methods.reading import Readable

Status = Judgment.Status
READ_AT_ONCE = 500


@dataclass(frozen=True)
class OtherReading:
    """A judgment whose reply has another reading by the present rules, and this reading."""

    judgment: Judgment
    status: Judgment.Status
    value: float | None
    rationale: str
    reason: str
    data: Mapping[str, Any] | None = None

    @property
    def changes_judgment(self) -> bool:
        """Return True if the reading changes."""
        before = self.judgment
        return (self.status, self.value, self.data) != (before.status, before.value, before.data)


def rereadings(judges: Sequence[Judge]) -> Iterator[OtherReading]:
    """Yield the changes from parsing the replies of judges again, in the order of the judgments.

    Excludes judgments that a person corrected, judges that read probabilities, and values from several
    replies.
    """
    for batch in rereadings_in_batches(judges):
        yield from batch


def rereadings_in_batches(judges: Sequence[Judge]) -> Iterator[list[OtherReading]]:
    """Yield the changes for every five hundred replies, even empty lists, so that the caller can report
    progress.
    """
    for judge in judges:
        if judge.score_from == ScoreFrom.TEXT and not judge.takes_steps:
            dimensions = {each.id: each for each in current_guideline(judge.project).dimensions}
            answered = Judgment.objects.filter(judge=judge, status__in=[Status.DONE, Status.UNREADABLE])
            stored = answered.filter(is_corrected=False).exclude(reply="").select_related("judge__project")
            replies = stored.order_by("pk").iterator(READ_AT_ONCE)
            while batch := list(islice(replies, READ_AT_ONCE)):
                contents = contents_of({each.item_id for each in batch}) if judge.asks_kinds else {}
                readings = [_read_anew(judge, each, dimensions, contents) for each in batch]
                yield [each for each in readings if each.changes_judgment]


def _read_anew(
    judge: Judge,
    judgment: Judgment,
    dimensions: Mapping[int, FrozenDimension],
    contents: Mapping[int, Subject],
) -> OtherReading:
    content = contents.get(judgment.item_id)
    together = judgment.asked_dimensions or [judgment.dimension_id]
    reading = METHODS[judge.method].read_about(
        judgment.reply,
        judge.rescale(dimensions[judgment.dimension_id]),
        [judge.rescale(dimensions[pk]) for pk in together if pk in dimensions],
        subject=content and rotate_sides(content, judgment.sample),
        pattern=judge.template.pattern if judge.template else "",
        structured=judge.structured,
    )
    if isinstance(reading, Readable):
        return OtherReading(judgment, Status.DONE, reading.value, reading.rationale, "", reading.data)
    return OtherReading(judgment, Status.UNREADABLE, None, "", reading.reason)


LONGEST = 60  # displayed characters of a reply


def as_row(found: OtherReading) -> dict[str, Any]:
    """Return the change, for lists and programs: judgment, value before and after, reply."""
    judgment, reply = found.judgment, " ".join(found.judgment.reply.split())
    return {
        "judgment": judgment.pk,
        "before": judgment.status if judgment.value is None else f"{judgment.value:g}",
        "after": str(found.status) if found.value is None else f"{found.value:g}",
        "reply": reply if len(reply) <= LONGEST else reply[: LONGEST - 1] + "…",
    }


def judges_of(rereading: Rereading) -> list[Judge]:
    """Return the judges of a rereading. One query."""
    judges = Judge.objects.filter(project=rereading.project_id).order_by("pk")
    return list(judges if rereading.judge_id is None else judges.filter(pk=rereading.judge_id))


def is_silent(rereading: Rereading) -> bool:
    """Return True if a rereading that needs a worker seems to have none."""
    return rereading.status in Rereading.UNDER_WAY and jobs.is_silent(rereading)


_REQUEST = list(names_of_settings(SettingSection.SAMPLING, SettingSection.READING, SettingSection.MORE))


def parameters_of(judgment: Judgment) -> list[tuple[str, object]]:
    """Return the parameters of a judgment's call, as name and value, without the model.

    The judge's parameters if none were stored: it had no call, or its answer was imported.
    """
    if judgment.parameters:
        sent = {name: value for name, value in judgment.parameters.items() if name != "model"}
        return [(name.replace("_", " "), value) for name, value in sent.items()]
    judge = judgment.judge
    values = ((name.replace("_", " "), getattr(judge, name)) for name in _REQUEST)
    return [(name, value) for name, value in values if value or (value == 0 and value is not False)]


def names_asked_together(judgment: Judgment) -> list[str]:
    """Return the dimensions of its call in the prompt's order, empty if it was the only one. One query."""
    if len(judgment.asked_dimensions) < 2:
        return []
    names = dict(judgment.judge.project.dimensions.values_list("pk", "name"))
    return [names[pk] for pk in judgment.asked_dimensions if pk in names]
