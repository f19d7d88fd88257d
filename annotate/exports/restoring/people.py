"""Restoring raters under their pseudonyms, and stand-ins for accounts that an export does not contain."""

from annotate.core.models import Membership, OutsideRater, OutsideStudy, Role, User
from annotate.exports.restoring.archive import ExportArchive
from annotate.exports.restoring.restored import Restored
from annotate.people.commands import add_member
from annotate.people.outside import PERSON

ADMIN = "admin"


def restore_raters(restored: Restored, archive: ExportArchive) -> None:
    """Create a membership without an account for every pseudonym; excluded raters remain excluded."""
    counted: dict[str, bool] = {}
    for row in archive.rows("assignments"):
        if row["rater"]:
            counted.setdefault(row["rater"], True)
    for row in archive.rows("acknowledgements"):
        counted.setdefault(row["rater"], True)
    for row in archive.rows("raters"):
        counted.setdefault(row["rater"], True)
    for row in archive.rows("ratings"):
        counted[row["rater"]] = row["counted"]
    for pseudonym, counts in counted.items():
        membership = add_member(project=restored.project, role=Role.ANNOTATOR, label=pseudonym)
        membership.pseudonym, membership.counted = pseudonym, counts
        membership.save(update_fields=["pseudonym", "counted"])
        restored.raters[pseudonym] = membership


def restore_outside_raters(restored: Restored, archive: ExportArchive) -> None:
    """Create a closed study with its external raters."""
    study: OutsideStudy | None = None
    for row in archive.rows("raters"):
        if study is None:
            pay = {name: row[name] for name in ("pay_rule", "pay_rate", "currency")}
            study = OutsideStudy.objects.create(project=restored.project, **pay)
        OutsideRater.objects.create(
            study=study,
            place=restored.raters[row["rater"]],
            platform_id=str((row["parameters"] or {}).get(PERSON, "")),
            parameters=row["parameters"] or {},
            answers=row["answers"] or [],
            consented_at=row["consented_at"],
            consent_digest=row["consent_digest"],
            outcome="" if row["outcome"] == "working" else row["outcome"],
            ended_at=row["ended_at"],
        )


def actor(restored: Restored, by: str | None) -> User | None:
    """Return an account that represents the actor. Sign-in with it is impossible.

    It holds a rater's membership until an admin hands the membership over to a person.
    """
    if not by:
        return None
    if by not in restored.actors:
        address = f"{by}@{restored.project.slug}.invalid".lower()
        user, _ = User.objects.get_or_create(
            email=address, defaults={"name": by, "is_active": False, "password": "!"}
        )
        restored.actors[by] = user
        if by != ADMIN:
            Membership.objects.filter(pk=restored.raters[by].pk).update(user=user)
    return restored.actors[by]
