"""New wording of the guideline, until an annotator who is rating has read it."""

from dataclasses import dataclass

from annotate.core.guideline import FrozenGuideline
from annotate.core.guidelines import Change, changes_of_wording, guideline_of
from annotate.core.models import Acknowledgement, Guideline, Membership, PracticeAnswer, Rating, Round


@dataclass(frozen=True)
class NewWording:
    """The changes in wording since the annotator last read it; `version` is the one in force."""

    version: int
    changes: list[Change]


def new_wording(round: Round, annotator: Membership, *, shown: str = "") -> NewWording | None:
    """Return the wording that an annotator has to read before continuing, None if nothing is new.

    Up to three queries.

    shown: the version on the annotator's page, for an annotator without ratings. Annotators who start with
    the version in force have nothing new to read.
    """
    if not round.is_open or round.guideline.version == 1:
        return None
    known = last_known_version(annotator) or _version(round, shown)
    if known is None or known.pk == round.guideline_id:
        return None
    changes = list(changes_of_wording(FrozenGuideline.from_json(known.content), guideline_of(round)))
    return NewWording(round.guideline.version, changes) if changes else None


def has_guidelines_to_read(annotator: Membership, guideline: FrozenGuideline) -> bool:
    """Return True on a first visit to a project with guidelines. Up to three queries.

    An annotator with ratings or practice answers has already visited it.
    """
    if not (guideline.guidelines or any(each.guidelines for each in guideline.dimensions)):
        return False
    return not (
        Acknowledgement.objects.filter(annotator=annotator).exists()
        or Rating.objects.filter(assignment__annotator=annotator).exists()
        or PracticeAnswer.objects.filter(place=annotator).exists()
    )


def last_known_version(annotator: Membership) -> Guideline | None:
    """Return the version last read, else the last one with ratings; late answers may have an older one."""
    read = Acknowledgement.objects.select_related("guideline").filter(annotator=annotator)
    if last := read.order_by("-pk").first():
        return last.guideline
    rated = Rating.objects.select_related("guideline").filter(
        assignment__annotator=annotator, guideline__isnull=False
    )
    found = rated.order_by("-updated_at").first()
    return found.guideline if found else None


def _version(round: Round, number: str) -> Guideline | None:
    if not number.isdecimal():
        return None
    return Guideline.objects.filter(project=round.project_id, version=int(number[:9])).first()
