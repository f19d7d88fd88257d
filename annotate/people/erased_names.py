"""Replaces the names of an erased person in the audit log and other texts about them."""

import re
from collections.abc import Iterator
from typing import Any

from allauth.account.models import EmailAddress

from annotate.core.models import (
    AuditEntry,
    ComputedResult,
    DataImport,
    Erasure,
    FormerName,
    Invitation,
    KeptAnswer,
    Membership,
    User,
)

BATCH = 1000
SAID = ("subject", "note", "before", "after")  # by an entry, beside who acted


class ErasedNames:
    """The names of a person, and their substitutes.

    Email addresses and names of several words are replaced everywhere. A name of one word may be another
    person's, so it is replaced only in the whole values "Ann" and "Ann (annotator)".
    """

    def __init__(self, person: User, erased_address: str) -> None:
        places = list(Membership.objects.filter(user=person).order_by("pk"))
        former = FormerName.objects.filter(user=person)
        self.addresses = {person.email, *former.values_list("email", flat=True)}
        self.addresses |= set(EmailAddress.objects.filter(user=person).values_list("email", flat=True))
        self.addresses |= set(Invitation.objects.filter(accepted_by=person).values_list("email", flat=True))
        names = {person.name, *former.values_list("name", flat=True)} | {place.label for place in places}
        self.person, self.erased_address = person, erased_address
        self.pseudonyms = {place.project_id: place.pseudonym for place in reversed(places)}
        self._address = _anywhere(self.addresses)
        self._name = _anywhere({name for name in names if " " in name.strip()})
        self._whole = re.compile(
            rf"^({'|'.join(map(re.escape, names - {''})) or '(?!)'})(?= \(\w+\)$|$)", re.IGNORECASE
        )

    def replace_in(self, said: Any, *, project: int | None) -> Any:
        """Return a text, or a value of JSON, without the person's names."""
        if isinstance(said, str):
            pseudonym = self.pseudonyms.get(project or 0, f"person-{self.person.pk}")
            for pattern, instead in (
                (self._address, self.erased_address),
                (self._name, pseudonym),
                (self._whole, pseudonym),
            ):
                said = pattern.sub(instead, said)
            return said
        if isinstance(said, dict):
            return {name: self.replace_in(value, project=project) for name, value in said.items()}
        if isinstance(said, list):
            return [self.replace_in(value, project=project) for value in said]
        return said


def _anywhere(names: set[str]) -> re.Pattern[str]:
    found = "|".join(sorted(map(re.escape, names - {""}), key=len, reverse=True)) or "(?!)"
    return re.compile(rf"(?<![\w.+-])({found})(?!\w|[.-]\w)", re.IGNORECASE)


def erase_names(names: ErasedNames) -> dict[int, int]:
    """Replace a person's names in audit logs, reports of imports and kept answers. Delete computed results.

    Call it in the transaction that erases, while the account still has its names. Returns the number of
    changed entries by project.
    """
    permission = Erasure.objects.create(user=names.person)
    counts: dict[int, int] = {}
    for entry in list(_entries_with(names)):
        columns = ("actor_name", "actor_email", *SAID)
        AuditEntry.objects.filter(pk=entry.pk).update(**{each: getattr(entry, each) for each in columns})
        if entry.project_id:
            counts[entry.project_id] = counts.get(entry.project_id, 0) + 1
    FormerName.objects.filter(user=names.person).delete()
    permission.delete()
    ComputedResult.objects.filter(project__in=names.pseudonyms).delete()
    for upload in DataImport.objects.filter(project__in=names.pseudonyms).iterator(BATCH):
        said = {each: getattr(upload, each) for each in ("mapping", "report", "message")}
        changed = {each: names.replace_in(value, project=upload.project_id) for each, value in said.items()}
        if changed != said:
            DataImport.objects.filter(pk=upload.pk).update(**changed)
    for answer in KeptAnswer.objects.iterator(BATCH):
        if (content := names.replace_in(answer.content, project=None)) != answer.content:
            KeptAnswer.objects.filter(pk=answer.pk).update(content=content)
    return counts


def _entries_with(names: ErasedNames) -> Iterator[AuditEntry]:
    """Yield the changed entries, unsaved."""
    for entry in AuditEntry.objects.order_by("pk").iterator(BATCH):
        before = {each: getattr(entry, each) for each in SAID}
        after = {each: names.replace_in(value, project=entry.project_id) for each, value in before.items()}
        is_actor = entry.actor_id == names.person.pk
        if is_actor or after != before:
            for each, value in after.items():
                setattr(entry, each, value[:300] if each == "subject" else value)
            if is_actor:
                entry.actor_name, entry.actor_email = "", names.erased_address
            yield entry
