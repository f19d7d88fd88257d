from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from agreement.streams import Stream
from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guidelines import guideline_of
from annotate.core.models import Item, ItemTag, Project, User
from annotate.core.rounds import round_one
from annotate.rating.commands.units import WantedUnit, ask_for_units
from annotate.rating.queries.assignments import dimensions_of_kind

BATCH = 5000
ORIGIN = "items chosen by an admin"


@transaction.atomic
def tag_items(*, project: Project, items: QuerySet[Item], tag: str, by: User) -> int:
    """Give items a tag; return the number of items that lacked it.

    Raises InvalidValueError for an empty tag.
    """
    name = " ".join(tag.split())
    if not name:
        raise InvalidValueError(gettext("Give the tag a name."), fields={"tag": gettext("Give it a name.")})
    # Read before the write, because the audit log records only the items that change.
    lacking = list(items.exclude(tags__name=name).order_by().values_list("pk", flat=True))
    rows = (ItemTag(item_id=key, name=name) for key in lacking)
    # Another admin may add the same tag since the read; the unique constraint then skips the row.
    ItemTag.objects.bulk_create(rows, BATCH, ignore_conflicts=True)
    _record(project, "items.tagged", name, len(lacking), by)
    return len(lacking)


@transaction.atomic
def untag_items(*, project: Project, items: QuerySet[Item], tag: str, by: User) -> int:
    count, _ = ItemTag.objects.filter(item__in=items.order_by().values("pk"), name=tag).delete()
    _record(project, "items.untagged", tag, count, by)
    return count


@transaction.atomic
def send_to_people(*, project: Project, items: QuerySet[Item], raters: int, by: User) -> int:
    """Require this number of raters for every dimension that applies to these items; return the number of
    units that lacked some.

    Safe to run twice. Locks the project, then the items' assignments. Raises NotReadyError unless Round I is
    open, for gold items, and if no dimension applies to any of the items.
    """
    lock_project(project)
    round = round_one(project)
    if round is None or not round.is_open:
        raise NotReadyError(gettext("Items are sent to people while Round I is open."))
    # Questions about outputs and about comparisons belong to different items.
    guideline = guideline_of(round)
    asked = {kind: dimensions_of_kind(guideline, kind) for kind in Item.Kind.values}
    units = [
        WantedUnit(item, dimension.id, 1.0)
        for item, kind in items.order_by("pk").values_list("pk", "kind")
        for dimension in asked[kind]
    ]
    if not units and items.exists():
        raise NotReadyError(gettext("No dimension of this project applies to these items."))
    missing = ask_for_units(
        round=round,
        units=units,
        raters=raters,
        origin=ORIGIN,
        seed=Stream(project.seed).of("items", by.pk).shuffler().randrange(2**31),
    )
    _record(project, "items.sent_to_people", f"{raters} raters", missing, by)
    return missing


def _record(project: Project, act: str, subject: str, count: int, by: User) -> None:
    # An act without any effect leaves no entry in the audit log.
    if count:
        record(project, act, subject, after={"items" if "tag" in act else "units": count}, by=by)
