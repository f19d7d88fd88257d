"""Wording changed after a round was opened: a new version of the guideline, and asking raters again.

What is asked and how it can be answered stays as Round I froze it; only how it is explained can change.
"""

from dataclasses import asdict, replace

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from annotate.commands.audit import record
from annotate.commands.configuration import lock_project
from annotate.commands.dimensions import write_points
from annotate.commands.rounds import freeze_guideline
from annotate.errors import FrozenError, InvalidValueError, NotReadyError
from annotate.guideline import DIMENSION_FIELDS
from annotate.models import Assignment, Dimension, Guideline, Project, Rating, Round, User
from annotate.queries.rounds import rounds_of
from annotate.queries.templates import spec_of
from annotate.queries.wording import ratings_to_ask_again
from annotate.specification import DimensionSpec

WORDING = ("definition", "guidelines")


@transaction.atomic
def reword_dimension(
    *, dimension: Dimension, to: DimensionSpec, note: str, by: User | None
) -> Guideline | None:
    """Change a dimension's definition, labels, descriptions and guidelines; return the version in force.

    Locks the project. Raises FrozenError for any other change, InvalidValueError without a note,
    NotReadyError once both rounds are closed.
    """
    project = lock_project(dimension.project)
    _refuse_closed(project)
    dimension = project.dimensions.get(pk=dimension.pk)
    _refuse_more_than_wording(dimension, to)
    before = spec_of(dimension)
    to = replace(to, dispute_threshold=before.dispute_threshold, tolerance=before.tolerance)
    for field in WORDING:
        setattr(dimension, field, getattr(to, field))
    dimension.save(update_fields=WORDING)
    dimension.points.all().delete()
    write_points(dimension, to)
    changed = {"before": asdict(before), "after": asdict(to)}
    record(project, "dimension.reworded", dimension, note=note, by=by, **changed)
    return _put_in_force(project, note, by)


@transaction.atomic
def reword_guidelines(*, project: Project, guidelines: str, note: str, by: User | None) -> Guideline:
    """Change the guidelines for all dimensions; otherwise as `reword_dimension`."""
    project = lock_project(project)
    _refuse_closed(project)
    before, after = {"guidelines": project.guidelines}, {"guidelines": guidelines}
    record(project, "project.reworded", project, note=note, by=by, before=before, after=after)
    project.guidelines = guidelines
    project.save(update_fields=["guidelines"])
    return _put_in_force(project, note, by)


@transaction.atomic
def ask_again(*, round: Round, dimension: Dimension) -> int:
    """Ask raters again about ratings given under another version than the one in force; return how many.

    What they answered stands, and stays in the history, until they keep or change it. Locks the project, then
    the assignments in order, as closing does. Raises NotReadyError where nobody can be asked, as when Round I
    is not open.
    """
    lock_project(round.project)
    round = Round.objects.get(pk=round.pk)
    if round.number != 1 or not round.is_open:
        raise NotReadyError(
            gettext("Raters are asked again while Round I is open; Round II is about disputes.")
        )
    ratings = ratings_to_ask_again(round, dimension.pk)
    assignments = Assignment.objects.filter(pk__in=ratings.values("assignment"))
    held = list(assignments.select_for_update().order_by("pk").values_list("pk", flat=True))
    asked = Rating.objects.filter(pk__in=ratings.values("pk")).update(asked_again_at=timezone.now())
    if not asked:
        raise NotReadyError(
            gettext("Every rating that can be asked about was given under the version in force.")
        )
    Assignment.objects.filter(pk__in=held).update(completed_at=None)
    record(round.project, "dimension.asked_again", dimension, after={"ratings": asked})
    return asked


def _put_in_force(project: Project, note: str, by: User | None) -> Guideline:
    """Freeze what stands now and hand it to the open round; without one, Round II will open with it."""
    if not note.strip():
        raise InvalidValueError(
            gettext("Say what changed and why; it stands beside the version."),
            fields={"note": gettext("Give a reason.")},
        )
    version = freeze_guideline(project, note=note.strip(), by=by)
    Round.with_checks.filter(project=project, status=Round.Status.OPEN).update(guideline=version)
    return version


def _refuse_closed(project: Project) -> None:
    round_two = rounds_of(project).get(2)
    if round_two and not round_two.is_open:
        raise NotReadyError(gettext("Both rounds are closed, so the guideline stays as it was rated under."))


def _refuse_more_than_wording(dimension: Dimension, to: DimensionSpec) -> None:
    changed = [
        field
        for field in DIMENSION_FIELDS
        if field not in WORDING and getattr(dimension, field) != getattr(to, field)
    ]
    if not changed:
        return
    off = Rating.objects.filter(dimension=dimension).filter(
        Q(value__lt=to.scale_minimum) | Q(value__gt=to.scale_maximum)
    )
    if count := off.count():
        low, high = to.scale_minimum, to.scale_maximum
        raise FrozenError(
            gettext(
                "Ratings of {name} lie outside {low} to {high} ({count:,} of them), so its scale "
                "cannot become narrower. {way_out}"
            ).format(name=dimension.name, low=low, high=high, count=count, way_out=WAY_OUT)
        )
    raise FrozenError(
        gettext("Round I was opened, and froze this. {only_wording} {way_out}").format(
            only_wording=ONLY_WORDING, way_out=WAY_OUT
        )
    )


ONLY_WORDING = "Of a dimension, definition, labels, descriptions and guidelines can still be changed."
WAY_OUT = "For anything else, save the project as a template and begin a new one from it."
