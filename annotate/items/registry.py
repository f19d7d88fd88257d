"""Marks by which items are found: annotate's own, and those that other apps add."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotate.core.models import Assignment, Dispute, GoldItem


@dataclass(frozen=True)
class ItemMark:
    """Something that an item has or not: its name in addresses, what it is called, and the condition."""

    name: str
    label: str | Promise
    condition: Callable[[], Q]


def _has_dispute(*statuses: str) -> Q:
    found = Dispute.objects.filter(item=OuterRef("pk"))
    return Q(Exists(found.filter(status__in=statuses) if statuses else found))


MARKS: dict[str, ItemMark] = {
    mark.name: mark
    for mark in (
        ItemMark("disputed", _("disputed"), _has_dispute),
        ItemMark("open", _("with an open dispute"), lambda: _has_dispute("open", "irresolvable")),
        ItemMark(
            "routed",
            _("sent to people"),
            lambda: Q(Exists(Assignment.objects.filter(item=OuterRef("pk"), plan=Assignment.Plan.ROUTED))),
        ),
        ItemMark("gold", _("gold"), lambda: Q(Exists(GoldItem.objects.filter(item=OuterRef("pk"))))),
    )
}
