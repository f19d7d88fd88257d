"""Judgments of a unit, and the guideline for comparing judges and people."""

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Project, Round
from judges.core.models import OF_PROJECT, Judgment

NOTHING_FROZEN = FrozenGuideline("", 1, 2, 1, ())


def judgments_of_unit(project: Project, item: int, key: str) -> list[Judgment]:
    """Return the judgments of scoring judges about a unit, by judge and sample. One query."""
    asked = Judgment.objects.filter(
        judge__project=project,
        **OF_PROJECT,
        item=item,
        dimension__key=key,
        other__isnull=True,
        status=Judgment.Status.DONE,
    )
    return list(asked.select_related("judge", "dimension").order_by("judge__name", "judge", "sample"))


def guideline_of(project: Project, round: Round | None) -> FrozenGuideline:
    """Return the round's guideline, before a round the latest that a run has frozen."""
    version = round.guideline if round else project.guideline_versions.order_by("-version").first()
    return FrozenGuideline.from_json(version.content) if version else NOTHING_FROZEN
