"""Removal of audit log entries past the operator's retention period."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotate.core.models import AuditEntry, AuditRetention

AT_ONCE = 1000
logger = logging.getLogger(__name__)


def remove_old_entries() -> int:
    """Remove entries that are older than the operator keeps them; return how many.

    The last act of each project stays: by it, results know whether they are still right. A thousand at a
    time, each a transaction.
    """
    if settings.AUDIT_DAYS is None:
        return 0
    removed, before = 0, timezone.now() - timedelta(days=settings.AUDIT_DAYS)
    while batch := _remove_some(before):
        removed += batch
    if removed:
        logger.info("Removed %d entries of the audit log from before %s", removed, before)
    return removed


@transaction.atomic
def _remove_some(before: datetime) -> int:
    of_projects = AuditEntry.objects.filter(project__isnull=False)
    last = of_projects.exclude(act__startswith="export.").values("project").annotate(last=Max("pk"))
    old = of_projects.filter(at__lt=before).exclude(pk__in=last.values("last"))
    found = list(old.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    if not found:
        return 0
    if not AuditRetention.objects.filter(up_to__gte=found[-1]).exists():
        AuditRetention.objects.create(at=timezone.now(), before=before, up_to=found[-1])
    return AuditEntry.objects.filter(pk__in=found).delete()[0]
