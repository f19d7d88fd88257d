"""Opening and closing rounds, and their deadlines."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from uuid import uuid4

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from agreement.streams import Stream
from annotate.core.audit import record
from annotate.core.configuration import ProjectHeldError, holding_project, lock_project
from annotate.core.database import lock_rows, long_write, step, write_in_steps
from annotate.core.errors import InvalidValueError, NotReadyError, RoundClosedError
from annotate.core.guideline import FrozenGuideline
from annotate.core.guidelines import current_guideline
from annotate.core.jobs import JobKind
from annotate.core.mails import give_notice, members_of
from annotate.core.models import (
    Assignment,
    BridgingItem,
    Dispute,
    DisputeEvent,
    DisputeRater,
    Guideline,
    Item,
    Membership,
    NoticeKind,
    Project,
    Role,
    Round,
    User,
    WorkOrder,
)
from annotate.core.rounds import assignments_of_raters, round_one, rounds_of, seed_of_round
from annotate.disputes.commands.state import ask_raters
from annotate.disputes.queries.rules import ValueSpread, rules_of, spreads_of
from annotate.fastpath.queries import NUMBERS, WORD, compile_once
from annotate.material.commands.parts import split_items
from annotate.questions import KINDS
from annotate.rating.commands.plans import (
    NewAssignment,
    give_planned_items,
    round_of_checks,
    write_assignments,
)
from annotate.rating.planning import sort_by_group
from annotate.rating.queries.plans import items_of_round_one, plan_of
from annotate.webhooks.commands import announce
from annotate.webhooks.events import ROUND_CLOSED

BATCH = 5000
DISPUTES_AT_ONCE = 100
FINISHERS: list[Callable[[Round], bool]] = []
"""What apps write in steps into an open Round I; each returns whether all places follow from it."""


def open_round_one(*, project: Project, by: User | None, as_planned: bool = True) -> Round:
    """Freeze the guideline and create every item's assignments; return an open Round I unchanged.

    Assignments follow the project's plan, or stay free for reservation, as recorded ratings need them. Locks
    the project's row; free assignments follow in steps, see `finish_round`. Raises NotReadyError without
    dimensions or items, if Round I was closed, and for an impossible plan.
    """

    def decide(project: Project) -> Round:
        if existing := open_or_unopened(project):
            return existing
        _split_for_parts(project)
        round = _new_round(project, 1, by)
        round_of_checks(round)
        if not (as_planned and give_planned_items(round=round)):
            note_finished(round, finished=False)
        return round

    return _change_round(project, 1, Round.Status.OPEN, decide)


@transaction.atomic
def open_round_one_for_units(*, project: Project, by: User | None) -> Round:
    """Freeze the guideline without creating assignments, which `ask_for_units` creates; return an open round.

    Items imported later get no assignments automatically. Locks the project's row. Raises the errors of
    `open_round_one`.
    """
    project = lock_project(project)
    if existing := open_or_unopened(project):
        return existing
    _split_for_parts(project)
    round = _new_round(project, 1, by, every_item=False)
    # Bridging items are hidden gold items, which only the round of checks assigns.
    if BridgingItem.objects.filter(gold__item__document__project=project).exists():
        round_of_checks(round)
    return round


def open_or_unopened(project: Project) -> Round | None:
    """Return the open Round I, None if it can be opened. Raises NotReadyError if it cannot."""
    if existing := round_one(project):
        if existing.is_open:
            return existing
        raise NotReadyError(gettext("Round I of this project is closed; a closed round is not opened again."))
    if not project.dimensions.exists():
        raise NotReadyError(gettext("Add at least one dimension before you open Round I."))
    # Questions and items must fit: a question that compares outputs needs items of its kind.
    items = Item.objects.filter(document__project=project)
    if not items.exists():
        raise NotReadyError(gettext("Import items before you open Round I."))
    there = set(items.order_by().values_list("kind", flat=True).distinct())
    comparing = [each for each in project.dimensions.all() if KINDS[each.kind].compares]
    if lacking := [each for each in comparing if KINDS[each.kind].item_kind not in there]:
        says = (
            gettext("{name} compares two outputs: draw comparisons of two before you open Round I.")
            if lacking[0].kind == "preference"
            else gettext(
                "{name} compares outputs: draw comparisons of three or more before you open Round I."
            )
        )
        raise NotReadyError(says.format(name=lacking[0].name))
    return None


def _split_for_parts(project: Project) -> None:
    if project.dimensions.filter(kind="parts").exists():
        split_items(project=project)


@transaction.atomic
def add_assignments(*, round: Round, items: Iterable[int]) -> int:
    """Create the missing free assignments of items (their ids) in Round I; return their number."""
    raters = FrozenGuideline.from_json(round.guideline.content).raters_per_item
    # Only items without any assignment get theirs, so a second run of a step adds nothing.
    made, left = 0, iter(items)
    # BATCH counts rows: an item has one for each rater.
    while batch := list(islice(left, max(BATCH // raters, 1))):
        there = set(Assignment.objects.filter(round=round, item__in=batch).values_list("item_id", flat=True))
        made += write_assignments(
            NewAssignment(round.pk, item, slot, None, None, Assignment.Plan.N_OF_M, round.seed)
            for item in batch
            if item not in there
            for slot in range(raters)
        )
    return made


def close_round_one(*, project: Project, by: User | None) -> Round:
    """Close Round I and open a dispute for each unit beyond the threshold; return a closed one unchanged.

    Locks the project, as an import does, the round, and then all its assignments, in order. A running import
    or save finishes first, and a later one finds the round closed. Disputes follow in steps, see
    `finish_round`.
    """

    def decide(project: Project) -> Round:
        round = _locked_round(project, 1)
        if not round.is_open:
            return round
        # A save locks its assignment first: it commits before this lock, or finds the round closed.
        lock_rows(Assignment.objects.filter(round=round))
        closed_at = _close(round, by)
        # The hidden round ends with Round I; `Round.objects` does not show it.
        Round.all_rounds.filter(project=project, number=Round.CHECKS).update(
            status=Round.Status.CLOSED, closed_at=closed_at, closed_by=by
        )
        note_finished(round, finished=False)
        return round

    return _change_round(project, 1, Round.Status.CLOSED, decide)


def open_round_two(*, project: Project, by: User | None) -> Round:
    """Freeze the guideline and hand each open dispute to its Round I raters; an open Round II is returned.

    Locks the project's row. Raises NotReadyError unless Round I is closed, or when Round II was closed.
    """

    def decide(project: Project) -> Round:
        if existing := _open_round_two(project):
            return existing
        round = _new_round(project, 2, by)
        note_finished(round, finished=False)
        return round

    return _change_round(project, 2, Round.Status.OPEN, decide)


def _open_round_two(project: Project) -> Round | None:
    rounds = rounds_of(project)
    if 1 not in rounds or rounds[1].is_open:
        raise NotReadyError(gettext("Close Round I before you open Round II."))
    if 2 in rounds:
        if rounds[2].is_open:
            return rounds[2]
        raise NotReadyError(
            gettext("Round II of this project is closed; a closed round is not opened again.")
        )
    if not rounds[1].disputes.exists():
        raise NotReadyError(gettext("Round I left no disputes, so there is nothing to discuss in Round II."))
    return None


def close_round_two(*, project: Project, by: User | None) -> Round:
    """Close Round II; record disputes that still differ as unresolved. Returns a closed Round II.

    Locks the project, the round and then all disputes, in order, so that no answer is lost.
    """

    def decide(project: Project) -> Round:
        round = _locked_round(project, 2)
        if not round.is_open:
            return round
        # An answer locks its dispute first: it commits before this lock, or finds the round closed.
        lock_rows(Dispute.objects.filter(round__project=project))
        _close(round, by)
        note_finished(round, finished=False)
        return round

    return _change_round(project, 2, Round.Status.CLOSED, decide)


def _change_round(
    project: Project, number: int, status: Round.Status, decide: Callable[[Project], Round]
) -> Round:
    """Open or close a round in one step, then finish it, also if another process did the same."""
    with long_write():
        try:
            with step():
                round = decide(lock_project(project))
        # Another process may hold the project for the same change: then help to finish it.
        except ProjectHeldError:
            own = Round.objects.filter(project=project, number=number, status=status, is_unfinished=True)
            if (same := own.first()) is None:
                raise
            round = same
        if round.is_unfinished:
            finish_round(round=round)
    return round


def finish_round(*, round: Round) -> None:
    """Write the effects of opening or closing a round in steps, then release the project.

    Each step first reads the existing rows, so this is safe to run twice, and by two workers at once.
    """
    # The unfinished round marks the project as held, which would block its own steps.
    with holding_project():
        if round.number == 2:
            (_hand_disputes_to_raters if round.is_open else _leave_disputes_open)(round)
        elif round.is_open and not any(finish(round) for finish in FINISHERS):
            items = items_of_round_one(round.project).order_by("pk").values_list("pk", flat=True)
            write_in_steps(items.iterator(BATCH), lambda some: add_assignments(round=round, items=some))
        elif not round.is_open:
            _open_disputes(round)
    with step():
        note_finished(round, finished=True)


ROUND_JOB = JobKind(
    "round",
    Round,
    lambda round: finish_round(round=round),
    does="finishes opening or closing a round",
    reason="problem",
    related=("project",),
    condition=lambda: Q(is_unfinished=True, problem=""),
)


def note_finished(round: Round, *, finished: bool) -> None:
    """Mark the round's project as busy until `finish_round` has finished, or release it.

    This process finishes the round itself. A worker does if it takes longer than the worker timeout.
    """
    round.is_unfinished, round.lease = not finished, None if finished else uuid4()
    round.attempts, round.problem, round.touched_at = 0, "", timezone.now()
    round.save(update_fields=["is_unfinished", "lease", "attempts", "problem", "touched_at"])


def _leave_disputes_open(round: Round) -> None:
    apart = Dispute.objects.filter(round__project=round.project_id, status=Dispute.Status.OPEN)
    kind, at, by = DisputeEvent.Kind.LEFT_OPEN, round.closed_at or timezone.now(), round.closed_by
    note = "Round II was closed before the values met."

    def write(keys: Sequence[int]) -> None:
        # Read again in each step: another worker may have written some of them.
        own = list(apart.filter(pk__in=keys).values_list("pk", flat=True))
        Dispute.objects.filter(pk__in=own).update(
            status=Dispute.Status.LEFT_OPEN, updated_at=at, active_at=at
        )
        DisputeRater.objects.filter(dispute__in=own).update(since=None)
        DisputeEvent.objects.bulk_create(
            DisputeEvent(dispute_id=dispute, at=at, actor=by, kind=kind, note=note) for dispute in own
        )

    write_in_steps(list(apart.order_by("pk").values_list("pk", flat=True)), write)


def freeze_guideline(project: Project, *, note: str = "", by: User | None = None) -> Guideline:
    """Return the project's current guideline as a version; create one unless an equal one exists."""
    frozen = current_guideline(project)
    # The digest finds equal wording, so Round II has the version of Round I if nothing changed.
    digest = frozen.digest()
    if found := _VERSION.first(project.pk, digest):
        return found
    last = project.guideline_versions.aggregate(last=Max("version"))["last"] or 0
    made = {"version": last + 1, "content": frozen.to_json(), "note": note, "made_by": by}
    version, _ = project.guideline_versions.get_or_create(digest=digest, defaults=made)
    return version


_VERSION = compile_once(
    lambda project, digest: Guideline.objects.filter(project=project, digest=digest), NUMBERS[0], WORD
)


def _new_round(
    project: Project,
    number: int,
    by: User | None,
    *,
    every_item: bool = True,
) -> Round:
    plan = plan_of(project)
    round = Round.objects.create(
        project=project,
        number=number,
        guideline=freeze_guideline(project),
        seed=seed_of_round(project, number),
        every_item=every_item,
        work_order=plan.work_order,
        dimension_order=plan.dimension_order,
        opened_at=timezone.now(),
        opened_by=by,
    )
    facts = {
        "guideline": str(round.guideline),
        "every_item": every_item,
        "work_order": round.work_order,
        "dimension_order": round.dimension_order,
    }
    record(project, "round.opened", round, after=facts, by=by)
    _tell_members(round, opened=True)
    return round


def _locked_round(project: Project, number: int) -> Round:
    # Without `of`, the lock would include the guideline's row.
    locked = Round.objects.select_for_update(of=("self",)).select_related("guideline")
    round = locked.filter(project=project, number=number).first()
    if round is None:
        raise NotReadyError(gettext("Round {value} has not been opened.").format(value="I" * number))
    return round


def _close(round: Round, by: User | None) -> datetime:
    round.status, round.closed_at, round.closed_by = Round.Status.CLOSED, timezone.now(), by
    round.save(update_fields=["status", "closed_at", "closed_by"])
    record(round.project, "round.closed", round, by=by)
    announce(round.project_id, ROUND_CLOSED, {"round": round.number})
    _tell_members(round, opened=False)
    return round.closed_at


def _tell_members(round: Round, *, opened: bool) -> None:
    give_notice(
        project=round.project,
        kind=NoticeKind.ROUNDS,
        about=f"round {round.pk} {'opened' if opened else 'closed'}",
        facts={"round": round.numeral, "opened": opened},
        to=members_of(round.project),
    )


def _open_disputes(round: Round) -> None:
    rules = rules_of(round.project)
    apart = [spread for spread in spreads_of(round) if spread.points >= rules[spread.dimension].threshold]
    # From the round's seed: a second run gives each dispute the same number, and so finds it.
    # Random, because raters see the numbers, and the order of items could reveal their systems.
    Stream(round.seed).of("disputes").shuffler().shuffle(apart)
    # The disputes of a document get successive numbers; documents keep their random order.
    if round.work_order == WorkOrder.BY_DOCUMENT:
        items = sort_by_group(list(dict.fromkeys(spread.item for spread in apart)), _document_of_items(round))
        position_of = {item: number for number, item in enumerate(items)}
        dimension = {key: number for number, key in enumerate(rules)}
        apart.sort(key=lambda spread: (position_of[spread.item], dimension[spread.dimension]))
    at, by, kind = round.closed_at or timezone.now(), round.closed_by, DisputeEvent.Kind.OPENED

    def write(numbered: Sequence[tuple[int, ValueSpread]]) -> None:
        # An earlier run of this step may have written some of these disputes.
        numbers = [number for number, _ in numbered]
        there = set(round.disputes.filter(number__in=numbers).values_list("number", flat=True))
        disputes = Dispute.objects.bulk_create(
            Dispute(
                round=round,
                item_id=spread.item,
                dimension_id=spread.dimension,
                number=number,
                spread=spread.points,
                threshold=rules[spread.dimension].threshold,
                tolerance=rules[spread.dimension].tolerance,
                updated_at=at,
                active_at=at,
            )
            for number, spread in numbered
            if number not in there
        )
        DisputeEvent.objects.bulk_create(
            DisputeEvent(dispute=dispute, at=at, actor=by, kind=kind) for dispute in disputes
        )
        ask_raters(disputes)

    write_in_steps(enumerate(apart, start=1), write, most=DISPUTES_AT_ONCE)


def _document_of_items(round: Round) -> dict[int, int]:
    return dict(Item.objects.filter(document__project=round.project_id).values_list("pk", "document"))


def _hand_disputes_to_raters(second: Round) -> None:
    by_annotator: dict[Membership, list[Assignment]] = defaultdict(list)
    first = rounds_of(second.project)[1]
    # A fixed order before the shuffle, so that the seed alone decides.
    for assignment in assignments_of_raters(first).select_related("annotator").order_by("item"):
        if assignment.annotator:
            by_annotator[assignment.annotator].append(assignment)
    for annotator, own in by_annotator.items():
        # A copy of the project has the same pseudonym, but another key.
        Stream(second.seed).of("annotator", annotator.pseudonym).shuffler().shuffle(own)
    if second.work_order == WorkOrder.BY_DOCUMENT:
        document_of = _document_of_items(second)
        for annotator, own in by_annotator.items():
            assignment_of = {assignment.item_id: assignment for assignment in own}
            by_annotator[annotator] = [
                assignment_of[item] for item in sort_by_group(list(assignment_of), document_of)
            ]

    def write(assignments: Sequence[NewAssignment]) -> None:
        items = {assignment.item for assignment in assignments}
        # Slots are the same as in Round I, so a second run recognizes existing rows.
        there = set(Assignment.objects.filter(round=second, item__in=items).values_list("item", "slot"))
        write_assignments(
            assignment for assignment in assignments if (assignment.item, assignment.slot) not in there
        )

    write_in_steps(
        (
            NewAssignment(
                second.pk,
                assignment.item_id,
                assignment.slot,
                annotator.pk,
                position,
                Assignment.Plan.DISPUTES,
                second.seed,
            )
            for annotator, own in by_annotator.items()
            for position, assignment in enumerate(own, start=1)
        ),
        write,
    )


STEPS: dict[str, tuple[Callable[..., Round], str]] = {
    "open-1": (open_round_one, gettext_noop("Round I is open: annotators can rate.")),
    "close-1": (close_round_one, gettext_noop("Round I is closed and its disputes are open.")),
    "open-2": (open_round_two, gettext_noop("Round II is open: raters can discuss their disputes.")),
    "close-2": (close_round_two, gettext_noop("Round II is closed.")),
}


@transaction.atomic
def set_deadline(*, round: Round, deadline: date | None, by: User) -> Round:
    """Set, move or remove (None) a round's deadline; its passing has no automatic effect.

    Locks the round's row. Raises RoundClosedError, and InvalidValueError for a different date in the past.
    """
    locked = Round.objects.select_for_update().get(pk=round.pk)
    # An unchanged date may be over by now, and saving it again must not fail.
    if locked.deadline == deadline:
        return locked
    if not locked.is_open:
        raise RoundClosedError(gettext("{locked} is closed, so it needs no deadline.").format(locked=locked))
    if deadline is not None and deadline < timezone.localdate():
        raise InvalidValueError(gettext("This day is over; choose today or a later one."))
    before, after = {"deadline": locked.deadline}, {"deadline": deadline}
    record(locked.project, "round.deadline_set", locked, by=by, before=before, after=after)
    locked.deadline = deadline
    locked.save(update_fields=["deadline"])
    return locked


DAYS_BEFORE = (7, 2)


def note_deadlines() -> None:
    """Notify annotators with work in a round that ends in 7 or 2 days, once each; safe to run at any time.

    After a pause only the nearer notice is created. Three queries, and two for each round that ends soon.
    """
    today = timezone.localdate()
    soon = Round.objects.filter(
        status=Round.Status.OPEN, deadline__gte=today, deadline__lte=today + timedelta(days=DAYS_BEFORE[0])
    )
    for round in soon.select_related("project"):
        assert round.deadline is not None
        left = (round.deadline - today).days
        # These days are part of the notice's `about`, which makes each notice unique.
        days = min(each for each in DAYS_BEFORE if left <= each)
        give_notice(
            project=round.project,
            kind=NoticeKind.DEADLINES,
            about=f"round {round.pk} {round.deadline} {days}",
            facts={"round": round.numeral, "deadline": f"{round.deadline}"},
            to=_annotators_with_work(round),
        )


def _annotators_with_work(round: Round) -> QuerySet[User]:
    annotators = members_of(round.project, Role.ANNOTATOR)
    open_assignments = Assignment.objects.filter(round=round, completed_at=None)
    # Every annotator can reserve a free assignment.
    if open_assignments.filter(annotator=None).exists():
        return annotators
    return annotators.filter(pk__in=open_assignments.values("annotator__user"))
