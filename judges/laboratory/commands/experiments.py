"""Making the judges of an experiment."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.models import Project, User
from judges.core.models import Judge
from judges.core.specification import JudgeSpec
from judges.endpoints.commands import add_judge
from judges.laboratory.factors import MOST_VARIANTS


@transaction.atomic
def make_variants(*, project: Project, variants: Sequence[JudgeSpec], by: User | None) -> list[Judge]:
    """Make judges of these settings and return them; one whose name is there already is taken as it is.

    All or none. Raises InvalidValueError for too many, or where a judge cannot be made as asked.
    """
    if len(variants) > MOST_VARIANTS:
        raise InvalidValueError(
            gettext("{count} variants are too many: an experiment can have up to {most}.").format(
                count=len(variants), most=MOST_VARIANTS
            )
        )
    there = {judge.name: judge for judge in Judge.objects.filter(project=project)}
    return [
        there.get(variant.name) or add_judge(project=project, judge=variant, by=by) for variant in variants
    ]
