"""What a worker tells of itself."""

from datetime import timedelta

from django.utils import timezone

from annotate.models import WorkerSign

FORGOTTEN_AFTER = timedelta(days=7)


def give_sign(*, worker: str) -> None:
    """Write that a worker is there, and forget workers that have been gone for long."""
    now = timezone.now()
    WorkerSign.objects.update_or_create(name=worker[:200], defaults={"seen_at": now})
    WorkerSign.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()


def take_sign_back(*, worker: str) -> None:
    """Write that a worker is no longer there."""
    WorkerSign.objects.filter(name=worker[:200]).delete()
