"""An annotator's view of Round I: one item, the next position, new wording of the guideline."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from django.core.cache import caches
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from annotate.core.guideline import FrozenDimension, FrozenGuideline, FrozenPoint
from annotate.core.guidelines import Change, changes_of_wording, guideline_of, name_on_page
from annotate.core.models import (
    Acknowledgement,
    Assignment,
    Guideline,
    Item,
    Membership,
    PracticeAnswer,
    PrivateNote,
    Project,
    Rating,
    Round,
    TextFormat,
    WorkOrder,
)
from annotate.fastpath.queries import MOMENT, NUMBERS, Prepared
from annotate.fastpath.statements import send_together
from annotate.questions import Given, ItemContent, QuestionKind, kind_of
from annotate.rating.evidence import passages_as_sent, passages_from_json
from annotate.rating.queries.assignments import (
    asked_dimensions,
    available_assignments,
    content_of,
    met_together,
    order_for_rater,
    own_order,
    stored_answer,
)

LAST_POSITION = 2**31 - 1
LONGEST_BUTTON_ROW = 11
MOST_WORDED_POINTS = 7  # more buttons in a row are too narrow for words


@dataclass(frozen=True)
class ScaleChoice:
    """A possible value: its name, its meaning, and its digit key, if any."""

    value: float
    name: str
    point: FrozenPoint
    key: str


@dataclass(frozen=True)
class Row:
    dimension: FrozenDimension
    rating: Rating | None
    content: ItemContent = field(default_factory=ItemContent)

    @property
    def kind(self) -> QuestionKind:
        return kind_of(self.dimension)

    @property
    def question(self) -> dict[str, Any]:
        given = stored_answer(self.rating)
        if given is None and self.rating is not None and self.rating.data:
            given = Given(0, self.rating.data)  # started, without a number yet
        return self.kind.input_context(self.dimension, given, self.content)

    @property
    def data(self) -> str:
        return json.dumps(self.rating.data) if self.rating and self.rating.data else ""

    @property
    def condition(self) -> str:
        return json.dumps(self.dimension.shown_if)

    @property
    def has_buttons(self) -> bool:
        """Whether there is a button a value: for short scales and categories; otherwise a number is typed."""
        return self.dimension.is_named or len(self.dimension.values) <= LONGEST_BUTTON_ROW

    @property
    def has_many_points(self) -> bool:
        """Whether the buttons show numbers only, with their words in a line above."""
        return not self.dimension.is_named and len(self.dimension.values) > MOST_WORDED_POINTS

    @property
    def has_one_and_ten(self) -> bool:
        """Whether the key 1 may start 10; categories have names instead of numbers."""
        return self.has_buttons and not self.dimension.is_named and {1, 10} <= set(self.dimension.values)

    @property
    def choices(self) -> list[ScaleChoice]:
        keys = _keys(self.dimension.values)
        return [
            ScaleChoice(
                value,
                name_on_page(self.dimension, value),
                self.dimension.point(value) or FrozenPoint(int(value), "", ""),
                keys.get(value, ""),
            )
            for value in self.dimension.values
        ]

    @property
    def chosen(self) -> FrozenPoint | None:
        return self.dimension.point(self.rating.value) if self.rating else None

    @property
    def evidence(self) -> str:
        return passages_as_sent(passages_from_json(self.rating.evidence if self.rating else None))


def _keys(values: Sequence[float]) -> dict[float, str]:
    # On scales within 0 to 10 the key is the value, 0 for 10 if possible; otherwise a number.
    if values[0] >= 0 and values[-1] <= 10:
        ten: dict[float, str] = {} if 0 in values else {10: "0"}
        return {value: str(value) for value in values if value < 10 and isinstance(value, int)} | ten
    return dict(zip(values, "1234567890", strict=False))


@dataclass(frozen=True)
class PositionInOrder:
    """Where an item stands among the annotator's own, by document.

    nth_item, all_items: in this visit to the document, as far as others leave them. A return is a visit of
    its own, so that no count announces a repeat.
    all_documents: None if items come from a shared queue, since their number is not known yet.
    """

    nth_item: int
    all_items: int
    nth_document: int
    all_documents: int | None


@dataclass(frozen=True)
class ShownSide:
    """An output of a comparison: its number on this annotator's page, its part in passages, its content."""

    number: int
    part: int
    text: str
    format: str


@dataclass(frozen=True)
class ItemPage:
    """All data of an item on the rating page; no system, no values of others."""

    assignment: Assignment
    title: str
    parts: list[dict[str, str]]
    text: str
    rows: list[Row]
    previous: int | None
    next: int | None
    note: str = ""
    document: int = 0
    position_in_order: PositionInOrder | None = None
    sides: Sequence[ShownSide] = ()
    format: str = TextFormat.PLAIN


def first_position(round: Round, annotator: Membership) -> int | None:
    """Return the position of the first item in the annotator's order, None without any. One query."""
    return _first(own_order(round, annotator))


def first_unfinished(round: Round, annotator: Membership) -> int | None:
    return _first(own_order(round, annotator).filter(completed_at__isnull=True))


def _first(assignments: QuerySet[Assignment]) -> int | None:
    first: int | None = assignments.order_by().aggregate(first=Min("position"))["first"]
    return first


def item_page(assignment: Assignment) -> ItemPage:
    """Return the page of an assignment (see `access.assignment_for_annotator`). Up to eight queries."""
    guideline = guideline_of(assignment.round)
    # All queries that do not depend on each other make one round trip.
    here = _current_position(assignment)
    with send_together():
        asked_item, asked_ratings = _ITEM.ask(assignment.item_id), _RATINGS.ask(assignment.pk)
        asked_before, asked_after = _BEFORE.ask(*here), _AFTER.ask(*here)
        asked_note = _NOTE.ask(assignment.annotator_id or 0, assignment.item_id)
        asked_position = _ask_position_in_order(assignment)
    item = asked_item.all()[0]
    ratings = {rating.dimension_id: rating for rating in asked_ratings.all()}
    before, after, note = asked_before.first(), asked_after.first(), asked_note.first()
    # The questions in this annotator's order, with the item's content if a kind reads it.
    dimensions: Sequence[FrozenDimension] = asked_dimensions(assignment, guideline)
    if assignment.annotator:
        dimensions = order_for_rater(dimensions, assignment.round, assignment.annotator)
    reads_item = any(kind_of(each).reads_item for each in dimensions)
    content = content_of(assignment) if reads_item else ItemContent()
    return ItemPage(
        assignment=assignment,
        title=item.document.title,
        parts=item.document.parts,
        text=item.text,
        format=item.format,
        sides=order_sides(content, len(item.document.parts)),
        rows=[Row(dimension, ratings.get(dimension.id), content) for dimension in dimensions],
        previous=before.position if before else None,
        next=after.position if after else None,
        note=note.text if note else "",
        document=item.document_id,
        position_in_order=asked_position(item.document_id),
    )


def order_sides(content: ItemContent, document_parts: int) -> list[ShownSide]:
    return [
        ShownSide(number, document_parts + 1 + side, content.sides[side], content.formats[side])
        for number, side in enumerate(content.order, start=1)
    ]


def _ask_position_in_order(assignment: Assignment) -> Callable[[int], PositionInOrder | None]:
    """Start the queries for an item's position; the returned function reads it for the item's document.

    None if documents are mixed. Three queries.
    """
    if assignment.round.work_order == WorkOrder.MIXED:
        return lambda _document: None
    here, position = _current_position(assignment), assignment.position or 0
    asked_documents, asked_own = _DOCUMENTS.ask(*here), _OWN_OF_DOCUMENT.ask(*here[:2], assignment.item_id)
    to_take = here[1], assignment.item_id, timezone.now()
    # Sent ahead where the answer is likely needed; `read` asks later if another item came from the queue.
    asked_to_take = _TO_TAKE.ask(*to_take) if assignment.plan == Assignment.Plan.N_OF_M else None

    def read(document: int) -> PositionInOrder:
        documents, own = asked_documents.all(), asked_own.all()
        # A document can come again, as a repeat or after an assignment was returned: this visit is the
        # assignments around this one without another document between.
        others = [each for each in documents if each["item__document"] != document]
        begins = max((each["before"] for each in others if each["before"] is not None), default=0)
        ends = min((each["after"] for each in others if each["after"] is not None), default=LAST_POSITION)
        visit = [each["position"] for each in own if begins < each["position"] < ends]
        all_items, all_documents = len(visit), cast("int | None", len(documents))
        # Items from a shared queue: this visit may get more of them, and later documents are unknown.
        if any(each["taken"] for each in documents):
            all_items += len((asked_to_take or _TO_TAKE.ask(*to_take)).all())
            all_documents = None
        return PositionInOrder(
            nth_item=sum(each <= position for each in visit),
            all_items=all_items,
            nth_document=sum(each["first"] <= position for each in documents),
            all_documents=all_documents,
        )

    return read


def _documents(project: int, annotator: int, position: int) -> QuerySet[Any, dict[str, Any]]:
    """Return the positions of an annotator's assignments of each document relative to a position.

    One row for each document: to count distinct documents in the database takes three times as long.
    """
    mine: Any = met_together(project).filter(annotator=annotator).order_by()
    found: QuerySet[Any, dict[str, Any]] = mine.values("item__document").annotate(
        first=Min("position"),
        before=Max("position", filter=Q(position__lt=position)),
        after=Min("position", filter=Q(position__gt=position)),
        taken=Count("pk", filter=Q(plan=Assignment.Plan.N_OF_M)),
    )
    return found


def _own_of_document(project: int, annotator: int, item: int) -> QuerySet[Any, dict[str, Any]]:
    mine: Any = met_together(project).filter(annotator=annotator, item__document=_document_of(item))
    found: QuerySet[Any, dict[str, Any]] = mine.order_by().values("position")
    return found


def _document_of(item: int) -> Subquery:
    return Subquery(Item.objects.filter(pk=item).values("document"))


def _to_take(annotator: int, item: int, now: datetime) -> QuerySet[Item]:
    """Return the items of an item's document that the annotator can still reserve from a shared queue."""
    assignments = available_assignments(now=now).filter(round__number=1, item=OuterRef("pk"))
    mine = Assignment.objects.filter(round__number=1, annotator=annotator, item=OuterRef("pk"))
    return Item.objects.filter(Exists(assignments), ~Exists(mine), document=_document_of(item)).only("pk")


_TO_TAKE = Prepared(_to_take, *NUMBERS[:2], MOMENT)


def add_next(page: ItemPage) -> ItemPage:
    """Return a page with its current successor, and whether it ends its document. Three queries."""
    with send_together():
        asked_after, asked_position = (
            _AFTER.ask(*_current_position(page.assignment)),
            _ask_position_in_order(page.assignment),
        )
    after = asked_after.first()
    return replace(
        page, next=after.position if after else None, position_in_order=asked_position(page.document)
    )


def _current_position(assignment: Assignment) -> tuple[int, int, int]:
    return assignment.round.project_id, assignment.annotator_id or 0, assignment.position or 0


def _order(project: int, annotator: int) -> QuerySet[Assignment]:
    return met_together(project).filter(annotator=annotator).order_by("position").only("position")


def _assignments_before(project: int, annotator: int, position: int) -> QuerySet[Assignment]:
    return _order(project, annotator).filter(position__lt=position).reverse()[:1]


def _assignments_after(project: int, annotator: int, position: int) -> QuerySet[Assignment]:
    return _order(project, annotator).filter(position__gt=position)[:1]


_DOCUMENTS, _OWN_OF_DOCUMENT = Prepared(_documents, *NUMBERS), Prepared(_own_of_document, *NUMBERS)
_BEFORE, _AFTER = Prepared(_assignments_before, *NUMBERS), Prepared(_assignments_after, *NUMBERS)
_NOTE = Prepared(
    lambda annotator, item: PrivateNote.objects.filter(annotator=annotator, item=item), *NUMBERS[:2]
)
_ITEM = Prepared(lambda pk: Item.objects.select_related("document").filter(pk=pk), NUMBERS[0])
_RATINGS = Prepared(lambda assignment: Rating.objects.filter(assignment=assignment), NUMBERS[0])


@dataclass(frozen=True)
class NewWording:
    """The changes in wording since the annotator last read it; `version` is the one in force."""

    version: int
    changes: list[Change]


def new_wording(round: Round, annotator: Membership, *, shown: str = "") -> NewWording | None:
    """Return the wording that an annotator has to read before continuing, None if nothing is new.

    Up to three queries.

    shown: the version on the annotator's page, for an annotator without ratings. Annotators who start with
    the version in force have nothing new to read.
    """
    # Version 1 is the wording of the opening, before any change.
    if not round.is_open or round.guideline.version == 1:
        return None
    # Before the first rating only the page knows the version that the annotator has read.
    known = last_known_version(annotator) or _version(round, shown)
    if known is None or known.pk == round.guideline_id:
        return None
    changes = list(changes_of_wording(FrozenGuideline.from_json(known.content), guideline_of(round)))
    return NewWording(round.guideline.version, changes) if changes else None


def has_guidelines_to_read(annotator: Membership, guideline: FrozenGuideline) -> bool:
    """Return True on a first visit to a project with guidelines. Up to three queries.

    An annotator with ratings or practice answers has already visited it.
    """
    if not (guideline.guidelines or any(each.guidelines for each in guideline.dimensions)):
        return False
    return not (
        Acknowledgement.objects.filter(annotator=annotator).exists()
        or Rating.objects.filter(assignment__annotator=annotator).exists()
        or PracticeAnswer.objects.filter(membership=annotator).exists()
    )


def last_known_version(annotator: Membership) -> Guideline | None:
    """Return the version last read, else the last one with ratings; late answers may have an older one."""
    read = Acknowledgement.objects.select_related("guideline").filter(annotator=annotator)
    if last := read.order_by("-pk").first():
        return last.guideline
    rated = Rating.objects.select_related("guideline").filter(
        assignment__annotator=annotator, guideline__isnull=False
    )
    found = rated.order_by("-updated_at").first()
    return found.guideline if found else None


def _version(round: Round, number: str) -> Guideline | None:
    if not number.isdecimal():
        return None
    # Nine digits fit into the database's integer, whatever the page sends.
    return Guideline.objects.filter(project=round.project_id, version=int(number[:9])).first()


# Rendering the rows takes most of a page's time, so the ones of an item without answers are rendered once.
INDENTED = re.compile(r">\s*\n\s*<")
ANYWHERE = 2_000_000_011  # placeholder of the position in the cached HTML


def practice_rows_as_html(project: Project, page: ItemPage, address: str) -> SafeString:
    """Return the rows of a practice item; the page sends its answers below the URL `address`."""
    round = page.assignment.round
    # Practice asks for every gold value, whatever the others are.
    context = {"project": project, "round": round, "rows": page.rows, "address": address, "practises": True}
    return render_to_string("rating/_rows.html", context)


def rows_as_html(project: Project, page: ItemPage) -> SafeString:
    """Return the rows and their explanations; rendering them takes most of the time of a page."""
    round, position = page.assignment.round, page.assignment.position
    context = {"project": project, "round": round, "rows": page.rows}
    address = reverse("rate_item", args=[project.slug, ANYWHERE])
    here = address.replace(f"/rate/{ANYWHERE}/", f"/rate/{position}/")
    # Rows with answers or with content of the item belong to one page only.
    if any(row.rating or row.kind.reads_item for row in page.rows):
        return render_to_string("rating/_rows.html", {**context, "address": here})
    asked = [row.dimension.key for row in page.rows]
    # The rows contain translated words, so each language has its own entry.
    version = (round.guideline.version, round.guideline.digest, get_language())
    # The key has version and digest of the wording, so no entry gets outdated.
    about = repr((project.slug, *version, round.status, asked))
    key = f"rating rows {hashlib.sha256(about.encode()).hexdigest()}".replace(" ", "-")
    kept = caches["process"].get(key)
    if kept is None:
        html = render_to_string("rating/_rows.html", {**context, "address": address})
        kept = INDENTED.sub(">\n<", html)  # a sixth of it is the template's indentation
        caches["process"].set(key, kept, timeout=None)
    # The template has escaped its content, and the inserted path has only a slug and a number.
    return SafeString(kept.replace(address, here))
