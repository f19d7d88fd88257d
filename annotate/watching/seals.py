"""Seals of the audit log: each holds the digest of an entry and of the seal before, so that none is forged.

Workers seal what is new, so that no act waits for another's. What is sealed cannot be changed, removed or
slipped in without breaking the chain from there on. The signed head, kept elsewhere, tells a chain that was
made anew from the one that was there.

Erasing a person replaces their names in sealed entries. The seals stay; an ErasedEntry has the new digest.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.core import signing
from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone

from annotate.core.audit import content_of, digest_of
from annotate.core.models import AuditEntry, AuditRetention, AuditSeal, ErasedEntry, Project

SALT = "annotate.watching.seals"
BEFORE_ALL = "0" * 64
SEALED_AT_ONCE = 1000


def seal_entries() -> int:
    """Seal up to a thousand entries that have none; return how many. Of two workers at once one seals."""
    sealed = AuditSeal.objects.filter(entry=OuterRef("pk"))
    unsealed = AuditEntry.objects.filter(~Exists(sealed)).order_by("pk")[:SEALED_AT_ONCE]
    try:
        with transaction.atomic():
            last = AuditSeal.objects.order_by("pk").last()
            before, count = last.digest if last else BEFORE_ALL, 0
            for entry in unsealed:
                before = _seal(entry, before).digest
                count += 1
    except IntegrityError:  # another worker sealed meanwhile
        return 0
    return count


def _seal(entry: AuditEntry, before: str) -> AuditSeal:
    content = content_of(entry)
    return AuditSeal.objects.create(
        entry=entry.pk,
        project=entry.project_id,
        content=content,
        previous=before,
        digest=digest_of(f"{before}{entry.pk}{entry.project_id}{content}"),
        at=timezone.now(),
    )


def removed_up_to() -> int:
    """Return the last entry that may be gone by retention; 0 where nothing was ever removed."""
    return AuditRetention.objects.aggregate(last=Max("up_to"))["last"] or 0


def problems_of(head: str = "") -> Iterator[str]:
    """Yield a sentence for each thing that is wrong with the log, or with this signed head of earlier."""
    wanted = _read_head(head) if head else None
    if head and wanted is None:
        yield "The head was not signed by this installation, or was changed."
    before, count, removed = BEFORE_ALL, 0, removed_up_to()
    erased = dict(ErasedEntry.objects.order_by("pk").values_list("entry", "content"))
    projects = set(Project.objects.values_list("pk", flat=True))
    seals = AuditSeal.objects.order_by("pk").iterator(chunk_size=SEALED_AT_ONCE)
    while batch := list(islice(seals, SEALED_AT_ONCE)):
        entries = AuditEntry.objects.in_bulk([seal.entry for seal in batch])
        for seal in batch:
            is_wanted = seal.project in projects and seal.entry > removed
            yield from _problems_of_seal(
                seal, entries.get(seal.entry), before, erased.get(seal.entry, seal.content), is_wanted
            )
            before, count = seal.digest, count + 1
            if wanted and wanted["seals"] == count and wanted["digest"] != before:
                yield f"Seal {count} is not the one that the head was signed for: the chain was made anew."
    if wanted and wanted["seals"] > count:
        yield f"The head was signed for {wanted['seals']} seals, and {count} are left."


def _problems_of_seal(
    seal: AuditSeal, entry: AuditEntry | None, before: str, content: str, is_wanted: bool
) -> Iterator[str]:
    if seal.previous != before or seal.digest != digest_of(
        f"{before}{seal.entry}{seal.project}{seal.content}"
    ):
        yield f"The chain is broken at the seal of entry {seal.entry}."
    if entry is not None and content_of(entry) != content:
        yield f"Entry {seal.entry} says something else than when it was sealed."
    if entry is None and is_wanted:
        yield f"Entry {seal.entry} is gone, and its project is not."


def signed_head() -> str:
    """Return how many seals there are and the digest of the last, signed: to be kept elsewhere."""
    last = AuditSeal.objects.order_by("pk").last()
    said = {"seals": AuditSeal.objects.count(), "digest": last.digest if last else BEFORE_ALL}
    return signing.dumps(said, salt=SALT)


def _read_head(head: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = signing.loads(head.strip(), salt=SALT)
    except signing.BadSignature:
        return None
    return found
