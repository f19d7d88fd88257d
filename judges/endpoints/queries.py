"""Queries on endpoints, prompts and judges, each with a fixed number of database queries."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.models import Dimension, Document, Item, Project
from annotate.questions import kind_of
from judges.core.material import contents_of, rotate_sides
from judges.core.models import Endpoint, EndpointKey, Judge, Judgment, PromptTemplate, ScoreFrom
from judges.endpoints.dialects import DIALECTS
from judges.methods import METHODS, Method
from judges.methods.base import Message, Subject
from judges.methods.reading import Reading
from judges.methods.reading.parts import fold_name
from judges.methods.template import placeholders
from judges.methods.variants import VARIANTS, Variant

READY = "Reply with the word: ready"
BETWEEN_REPLIES = "\n---\n"
MOST_REPLIES = 50  # that are read to try a prompt's pattern
_OF_DIMENSION = frozenset({"dimension", "definition", "guidelines", "points", "ends"})
HOSTS_WITH_SCHEMAS = (
    *("api.openai.com", "api.mistral.ai", "api.x.ai", "api.fireworks.ai"),
    "generativelanguage.googleapis.com",
)
"""Servers of which all present models take a JSON schema."""
CHARACTERS_A_TOKEN = 4
# A planned judgment with calls or steps was sent before, with the present text of its prompt.
ASKED = ~Q(status=Judgment.Status.PLANNED) | Q(attempts__gt=0) | Q(steps_done__gt=0)


SHIPPED_PROMPTS: Mapping[str, Variant] = {
    **{key: Variant(key, key, method.label, method.default_template) for key, method in METHODS.items()},
    **VARIANTS,
}
"""The shipped prompts by the key that can create a judge; the default of each method comes first."""


def shipped_prompt(key: str) -> Variant:
    """Return the prompt with this key. Raises KeyError."""
    return SHIPPED_PROMPTS[key]


def shipped_prompts_of(method: str) -> list[tuple[Variant, str]]:
    """Return the prompts of a method, its default first, each with its label after the method's name."""
    of_method = (each for each in SHIPPED_PROMPTS.values() if each.method == method)
    return [(each, METHODS[method].title(each.label)) for each in of_method]


# Endpoints for lists on pages.


def endpoints_of(project: Project, *, archived: bool | None = False) -> QuerySet[Endpoint]:
    """Return a project's endpoints by name, each with `judges_count`. One query.

    archived: True for archived ones only, False for the others; None: all.
    """
    endpoints = Endpoint.objects.filter(project=project).select_related("entered_key")
    if archived is not None:
        endpoints = endpoints.filter(archived_at__isnull=not archived)
    # Without candidates of searches and copies of drift checks, which are hidden everywhere.
    own = Count("judges", filter=Q(judges__tried_by=None, judges__rechecks=None))
    return endpoints.annotate(judges_count=own).order_by("name")


def entered_key_of(endpoint: Endpoint) -> EndpointKey | None:
    """Return the metadata of an endpoint's entered key, if it has one. One query."""
    # No page needs the key, so the secret stays in the database.
    keys = EndpointKey.objects.filter(endpoint=endpoint).defer("encrypted")
    return keys.select_related("entered_by", "endpoint").first()


def usual_trial(endpoint: Endpoint) -> dict[str, str]:
    """Return a model in use at this endpoint, if any, and a short message. One query."""
    models = endpoint.judges.order_by("-pk").values_list("model", flat=True)
    return {"model": models.first() or "", "message": READY}


# Judges as pages list them.


def judges_of(project: Project, *, archived: bool = False) -> list[dict[str, Any]]:
    """Return a project's judges by name, with method and counts: the archived ones, or the others.

    Two queries.
    """
    judges = Judge.objects.filter(project=project, archived_at__isnull=not archived)
    judgments = Judgment.objects.filter(judge__project=project).values_list("judge", "status")
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for judge, status, count in judgments.annotate(count=Count("pk")).order_by():
        counts[judge][status] = count
    found, status = judges.select_related("endpoint", "template").order_by("name"), Judgment.Status
    return [
        {
            "judge": each,
            "method": method_label(each),
            **{str(name): counts[each.pk][name] for name in (status.DONE, status.UNREADABLE, status.FAILED)},
            "waiting": counts[each.pk][status.PLANNED] + counts[each.pk][status.LEASED],
        }
        for each in found
    ]


def usable_judges(project: Project) -> QuerySet[Judge]:
    """Return the judges that can be called; imported and archived ones cannot."""
    judges = Judge.objects.filter(
        project=project, archived_at=None, endpoint__isnull=False, endpoint__archived_at=None
    )
    return judges.select_related("endpoint", "template").order_by("name")


def judgments_by_status(judge: Judge) -> list[tuple[str, int]]:
    """Return the number of a judge's judgments by status, empty without any. One query."""
    rows = judge.judgments.values_list("status").annotate(count=Count("pk")).order_by("status")
    return [(str(Judgment.Status(status).label), count) for status, count in rows]


def method_label(judge: Judge) -> str:
    """Return the name of a judge's method; its key if this Concord does not have the method."""
    return METHODS[judge.method].title() if judge.method in METHODS else judge.method


def refusal(judge: Judge, dimension: FrozenDimension) -> str | None:
    """Return the reason why a judge cannot judge a dimension, None if it can."""
    method, scale = METHODS[judge.method], judge.own_scale
    if reason := method.refuses_kind(dimension):
        return reason
    if judge.endpoint is not None and (refused := DIALECTS[judge.endpoint.dialect].refuses(judge)):
        return refused.sentence
    if scale is not None and (reason := scale.refuses(dimension)):
        return reason
    # The method sees the judge's own scale, as its prompt shows it.
    dimension = judge.rescale(dimension)
    if judge.score_from == ScoreFrom.PROBABILITIES:
        return method.refuses(dimension) or method.refuses_probabilities(dimension)
    return method.refuses(dimension)


def refusal_of_scope(
    judge: Judge, dimensions: Sequence[FrozenDimension], all_dimensions: Sequence[FrozenDimension]
) -> str | None:
    """Return the reason why a judge cannot judge exactly these dimensions, None if it can.

    A judge with several dimensions per call needs all of them or none. With fewer it would be paid for
    unwanted scores, in a prompt that differs from run to run. A comparison without a dimension would be paid
    again on each.
    """
    if judge.asks_pairs and judge.template:
        texts = [judge.template.text_about(each.id) for each in dimensions]
        if any(texts.count(text) > 1 and not placeholders(text) & _OF_DIMENSION for text in texts):
            return gettext("Its prompt names no dimension; choose one dimension for its answers.")
    if not judge.asks_several:
        return None
    asked = judge.dimensions_of_call(all_dimensions)
    if {each.id for each in asked} != {each.id for each in dimensions}:
        names = ", ".join(each.name for each in asked)
        return gettext(
            "It asks about these dimensions in one call; choose all of them and no others: {names}."
        ).format(names=names)
    return _refusal_of_names(asked, structured=judge.structured)


def refusal_of_reference(judge: Judge) -> str | None:
    """Return the reason why a judge has no reference to show, None if it has or needs none.

    Up to two queries.
    """
    if judge.template is None or not any("reference" in placeholders(text) for text in judge.template.texts):
        return None
    if judge.reference_id is None:
        return gettext(
            "Its prompt shows a reference, and the system whose texts these were is gone; make a new judge."
        )
    documents = Document.objects.filter(project=judge.project_id, items__isnull=False).distinct()
    # Every document needs the reference, or its prompt would have a gap.
    without = documents.exclude(items__system=judge.reference_id).count()
    return (
        gettext("{count} documents have no text of the system that it shows as reference.").format(
            count=without
        )
        if without
        else None
    )


def _refusal_of_names(dimensions: Sequence[FrozenDimension], *, structured: bool) -> str | None:
    """Return the reason why no reply could distinguish the dimensions, None if one could.

    JSON of a shape has keys for fields, and one may be the displayed name of another dimension.
    """
    names = [fold_name(each.name) for each in dimensions]
    if len(set(names)) < len(names):
        return gettext(
            "Two dimensions have the same name, but for case, spaces, hyphens and underscores, so no reply "
            "could tell them apart."
        )
    keys = [{fold_name(each.name), fold_name(each.key)} for each in dimensions]
    if structured and len(set().union(*keys)) < sum(map(len, keys)):
        return gettext(
            "The key of one dimension is the name of another, so fields of JSON could not tell them apart; "
            "rename one, or ask for replies in text."
        )
    return None


def has_structured_output(endpoint: Endpoint) -> bool:
    """Return True if a server accepts a JSON schema, by its documentation or an earlier answer.

    One query, none for known servers.
    """
    if urlsplit(endpoint.base_url).hostname in HOSTS_WITH_SCHEMAS:
        return True
    answered = Judgment.objects.filter(judge__endpoint=endpoint, judge__structured=True)
    return answered.filter(status=Judgment.Status.DONE).exists()


# Prompts as a model would get them: templates and their versions, previewed on a real item.


@dataclass(frozen=True)
class PromptPreview:
    """A prompt about one item and one dimension, or why there is none."""

    problem: str = ""
    messages: Sequence[Message] = ()
    item: Item | None = None
    number: int = 0
    items: int = 0
    dimension: FrozenDimension | None = None

    @property
    def tokens(self) -> int:
        return estimated_tokens(self.messages)


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Return the approximate number of tokens in messages: one per four characters."""
    return -(-sum(len(message.content) for message in messages) // CHARACTERS_A_TOKEN)


def templates_of(project: Project) -> list[PromptTemplate]:
    """Return all versions of all templates by name, the newest first, with `judges_count`. One query."""
    versions = PromptTemplate.objects.filter(project=project).annotate(judges_count=Count("judges"))
    return list(versions.order_by("name", "-version"))


def versions_of(template: PromptTemplate) -> QuerySet[PromptTemplate]:
    """Return all versions of a template, the newest first. One query."""
    same = PromptTemplate.objects.filter(project=template.project_id, name=template.name)
    return same.order_by("-version")


def wordings_of(project: Project, template: PromptTemplate | None) -> list[tuple[str, str, bool]]:
    """Return the key and name of each dimension, and whether a version has its own wording. One query."""
    own = template.wordings if template else {}
    rows = project.dimensions.values_list("pk", "key", "name")
    return [(key, name, str(pk) in own) for pk, key, name in rows]


def was_asked(template: PromptTemplate) -> bool:
    """Return True if a judgment used this version. One query."""
    return Judgment.objects.filter(Q(judge__template=template) & ASKED).exists()


def preview_of(
    project: Project,
    method: str,
    text: str,
    *,
    dimension: str,
    number: int,
    wordings: Mapping[str, str] | None = None,
) -> PromptPreview:
    """Return the prompt about an item, by its number from 1. Up to five queries.

    wordings: replacements of the prompt for dimensions with their own wording, by id.
    """
    guideline, asks_kinds = current_guideline(project), METHODS[method].asks_kinds
    # A method asks either about scales or about questions of other kinds.
    dimensions = [each for each in guideline.dimensions if each.is_scale != asks_kinds]
    chosen = next((each for each in dimensions if each.key == dimension), None) or next(
        iter(dimensions), None
    )
    # A question that compares is asked about comparisons, all others about outputs.
    items = Item.objects.none()
    if chosen:
        items = Item.objects.filter(document__project=project, kind=kind_of(chosen).item_kind)
    items = items.order_by("document", "pk")
    count = items.count()
    if chosen is None or not count:
        return PromptPreview(gettext("Add a dimension and import items to see what the model would read."))
    # A number out of range shows the nearest item.
    number = min(max(number, 1), count)
    item = items.select_related("document")[number - 1]
    text = (wordings or {}).get(str(chosen.id), text)
    asked = dimensions if METHODS[method].asks_several else [chosen]
    shown = PromptPreview(item=item, number=number, items=count, dimension=chosen)
    if asks_kinds:
        # Sample 0 shows the sides in their own order.
        subject = rotate_sides(contents_of([item.pk])[item.pk], 0)
    else:
        subject = _subject(item, pair=METHODS[method].asks_pairs)
    try:
        return replace(shown, messages=METHODS[method].messages_about(text, subject, asked))
    except ValueError as error:
        return replace(shown, problem=str(error))


def keys_of_dimensions(project: int) -> dict[int, str]:
    """Return the keys of a project's dimensions. One query."""
    return dict(Dimension.objects.filter(project=project).values_list("pk", "key"))


def _subject(item: Item, *, pair: bool) -> Subject:
    """Return an item, for comparing methods with another system's output for the same document."""
    parts = tuple((part["label"], part["text"]) for part in item.document.parts)
    example = gettext("(the text of the system that the judge names)")
    if not pair:
        return Subject(parts, item.text, reference=example)
    others = Item.objects.filter(document=item.document, kind=Item.Kind.OUTPUT)
    other = others.exclude(pk=item.pk).order_by("pk").first()
    return Subject(
        parts,
        item.text,
        other.text if other else gettext("(no other system wrote for this document)"),
        example,
    )


def tried_replies(
    project: Project, method: Method, pattern: str, replies: str, dimension: FrozenDimension
) -> list[tuple[str, Reading]]:
    """Return the first 50 pasted replies, which lines of three dashes divide, each with its reading."""
    pasted = replies.replace("\r\n", "\n").split(BETWEEN_REPLIES)[:MOST_REPLIES]
    together = current_guideline(project).scales if method.asks_several else [dimension]
    return [
        (reply.strip(), method.read_about(reply, dimension, together, pattern=pattern)) for reply in pasted
    ]
