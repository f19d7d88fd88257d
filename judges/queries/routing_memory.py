"""What a preview need not read and compute again while r is moved, kept by what it was made from."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from django.core.cache import cache
from django.db.models import Count, F, Max, Sum

from judges.models import Judge, Judgment
from judges.queries.scores import Material

T = TypeVar("T")
SECONDS = 600


def remembered(parts: Sequence[object], make: Callable[[], T]) -> T:
    """Return what was made from these parts before, or make and keep it. Arrays count by their contents."""
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
        digest.update(b"\0")
    key = f"routing-{digest.hexdigest()}"
    found: Any = cache.get(key)
    if found is None:
        found = make()
        cache.set(key, found, SECONDS)
    return found  # type: ignore[no-any-return]


def version_of(judges: Sequence[Judge], material: Material) -> list[object]:
    """Return what changes whenever values of these judges, or the items, change. One query."""
    done = Judgment.objects.filter(judge__in=judges, other__isnull=True, status=Judgment.Status.DONE)
    sums = (
        done.order_by("judge")
        .values_list("judge")
        .annotate(
            Count("pk"),
            Max("pk"),
            Max("answered_at"),
            total=Sum("value"),
            of_items=Sum(F("value") * F("item")),
            of_dimensions=Sum(F("value") * F("dimension")),
        )
    )
    return [list(sums), [one.id for one in material.dimensions], material.items]
