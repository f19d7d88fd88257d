"""Raters of recorded ratings: members of the project, or memberships without an account."""

from collections.abc import Mapping

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.models import (
    Assignment,
    AssignmentPlan,
    DisputeRater,
    Membership,
    Project,
    RecordedName,
    Role,
    User,
)


def possible_members(project: Project) -> list[Membership]:
    """Return the annotators with an account; an import may assign recorded ratings to them. One query."""
    annotators = Membership.objects.filter(project=project, role=Role.ANNOTATOR, active=True)
    return list(annotators.filter(user__isnull=False).order_by("label"))


@transaction.atomic
def name_recorded_raters(*, project: Project, members: Mapping[str, int], by: User) -> None:
    """Map a rater's name in files to a member (by key) before the import.

    The name of an existing membership keeps its meaning. Locks the project. Raises InvalidValueError for a
    member who is not one of its annotators with an account.
    """
    lock_project(project)
    memberships = {membership.pk: membership for membership in possible_members(project)}
    for name, member in members.items():
        if member not in memberships:
            raise InvalidValueError(gettext("Choose a member of this project whose ratings these are."))
        _, is_new = RecordedName.objects.update_or_create(
            project=project, name=name, defaults={"membership": memberships[member]}
        )
        if is_new:
            record(project, "place.recorded_name", name, after={"member": memberships[member].label}, by=by)


@transaction.atomic
def join_recorded_rater(*, recorded: Membership, member: Membership, by: User | None) -> int:
    """Give a member the ratings of a membership that has only recorded ones; return the number of its items.

    The recorded membership is removed: its invitations end, the audit log keeps its names, and files with its
    name refer to the member. If both have an assignment of an item that the member has not started, the
    member's becomes free for others. Locks the project and both memberships. Raises InvalidValueError for
    other memberships. Raises NotReadyError if both rated an item, or if only one counts in the statistics.
    """
    lock_project(recorded.project)
    # In the order of keys, as handing over work locks them.
    rows = Membership.objects.select_for_update(of=("self",)).filter(pk__in=(recorded.pk, member.pk))
    found = {each.pk: each for each in rows.select_related("project").order_by("pk")}
    if len(found) < 2:
        raise InvalidValueError(gettext("Choose a member of this project whose ratings these are."))
    recorded, member = found[recorded.pk], found[member.pk]
    _refuse(recorded, member)
    held = Assignment.objects.filter(annotator=recorded)
    theirs = Assignment.objects.filter(annotator=member)
    for round in set(held.values_list("round", flat=True)):
        # An annotator can have an item of a round only once; `_refuse` has excluded started ones.
        both = theirs.filter(round=round, item__in=held.filter(round=round).values("item"))
        both.update(annotator=None, position=None, reserved_until=None)
    # Counted before the update, after which this filter finds nothing.
    items = held.order_by().values("item").distinct().count()
    # The recorded items follow the member's own, because positions are unique.
    last = theirs.aggregate(last=Max("position"))["last"] or 0
    held.update(annotator=member, position=F("position") + last)
    DisputeRater.objects.filter(rater=recorded).update(rater=member)
    recorded.counting_decisions.update(membership=member)
    recorded.recorded_names.update(membership=member)
    RecordedName.objects.update_or_create(
        project=recorded.project, name=recorded.label, defaults={"membership": member}
    )
    # Invitations to the recorded membership end, because it is about to be deleted.
    offers = recorded.invitation_set.all()
    offers.filter(accepted_at=None, withdrawn_at=None).update(withdrawn_at=timezone.now())
    offers.update(membership=None)
    # A listed plan refers to memberships by key.
    plan = AssignmentPlan.objects.filter(project=recorded.project_id).first()
    if plan is not None and plan.pairs:
        pairs = ((item, member.pk if rater == recorded.pk else rater) for item, rater in plan.pairs)
        plan.pairs = [list(pair) for pair in dict.fromkeys(pairs)]
        plan.save(update_fields=["pairs"])
    names = {"label": recorded.label, "letter": recorded.alias, "pseudonym": recorded.pseudonym}
    told = {"member": member.label, "items": items}
    record(recorded.project, "place.joined", recorded.label, before=names, after=told, by=by)
    recorded.delete()
    return items


def _refuse(recorded: Membership, member: Membership) -> None:
    if recorded.user_id is not None:
        sentence = gettext("{label} has an account. Only a rater of recorded ratings can be joined.")
        raise InvalidValueError(sentence.format(label=recorded.label))
    if member not in possible_members(recorded.project):
        raise InvalidValueError(gettext("Choose a member of this project whose ratings these are."))
    named = {"first": recorded.label, "second": member.label}
    if recorded.counted != member.counted:
        sentence = gettext(
            "One of {first} and {second} counts in the statistics and the other does not. "
            "Decide the same for both under Quality first."
        )
        raise NotReadyError(sentence.format(**named))
    begun = Assignment.objects.filter(started_at__isnull=False).order_by()
    items = begun.filter(annotator=recorded).values("item")
    if both := begun.filter(annotator=member, item__in=items).values("item").distinct().count():
        sentence = ngettext(
            "{first} and {second} both rated {count} item, so they are two raters.",
            "{first} and {second} both rated {count} items, so they are two raters.",
            both,
        )
        raise NotReadyError(sentence.format(count=f"{both:,}", **named))
