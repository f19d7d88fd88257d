"""Marks of judges by which a project's items are found."""

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from annotate.items.registry import ItemMark
from judges.core.models import Judgment


def _judged() -> Q:
    return Q(Exists(Judgment.objects.filter(item=OuterRef("pk"), status=Judgment.Status.DONE)))


ITEM_MARKS = (
    ItemMark("judged", _("judged"), _judged),
    ItemMark("unjudged", _("not judged yet"), lambda: ~_judged()),
)
