"""Records of annotators' reading of guideline versions."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import InvalidValueError
from annotate.core.models import Acknowledgement, Guideline, Membership, User


@transaction.atomic
def acknowledge_wording(*, annotator: Membership, version: int, by: User) -> None:
    """Record that the annotator has read a version of the guideline; a repeated call changes nothing.

    Locks the annotator's row. Raises InvalidValueError for an unknown version.
    """
    Membership.objects.select_for_update().get(pk=annotator.pk)
    guideline = Guideline.objects.filter(project=annotator.project_id, version=version).first()
    if guideline is None:
        raise InvalidValueError(gettext("The guideline has no such version."))
    last = Acknowledgement.objects.filter(annotator=annotator).order_by("-pk").first()
    if last and last.guideline_id == guideline.pk:
        return
    Acknowledgement.objects.create(annotator=annotator, guideline=guideline, at=timezone.now())
    record(annotator.project, "guideline.acknowledged", guideline, after={"version": version}, by=by)
