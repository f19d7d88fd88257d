"""Marks that filter items, and pages that take a filter: annotate's own, and those from other apps."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotate.core.models import Assignment, Dispute, GoldItem


@dataclass(frozen=True)
class ItemMark:
    """A property of items: its name in URLs, its label, and its condition."""

    name: str
    label: str | Promise
    condition: Callable[[], Q]


@dataclass(frozen=True)
class ItemLead:
    """An action of an admin on the filtered items, on a page that takes their filter as `items`."""

    route: str
    label: str | Promise


LEADS: dict[str, ItemLead] = {}
"""By the app that adds it."""


def _has_dispute(*statuses: str) -> Q:
    found = Dispute.objects.filter(item=OuterRef("pk"))
    return Q(Exists(found.filter(status__in=statuses) if statuses else found))


MARKS: dict[str, ItemMark] = {
    mark.name: mark
    for mark in (
        ItemMark("disputed", _("disputed"), _has_dispute),
        # An irresolvable dispute needs an adjudicator, so it is not settled yet.
        ItemMark("open", _("with an open dispute"), lambda: _has_dispute("open", "irresolvable")),
        ItemMark(
            "routed",
            _("sent to people"),
            lambda: Q(Exists(Assignment.objects.filter(item=OuterRef("pk"), plan=Assignment.Plan.ROUTED))),
        ),
        ItemMark("gold", _("gold"), lambda: Q(Exists(GoldItem.objects.filter(item=OuterRef("pk"))))),
    )
}
