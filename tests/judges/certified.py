"""A project whose judge is right where a second one agrees with it on one dimension, never on another."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.utils import timezone

from annotate.core.models import AssignedUnit, Assignment, Project, Rating, Round
from judges.core.models import Calibration, RoutingPolicy
from judges.core.specification import CalibrationSpec
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgments
from tests.judges.measured import begun, make_assignment
from tests.judges.routing.project import judges_of

DOCUMENTS, SYSTEMS = 60, 2
SEED = 7


def calibrated_project(*, documents: int = DOCUMENTS, annotators: int = 2, raters: int = 2) -> Cast:
    """Make it: two systems, fluency and coherence; no round is open.

    Of five documents in a row the judges agree on three, and on fluency the first judge is right about these;
    on coherence it is always wrong. What is drawn depends on keys in the database, what is certified not.
    """
    cast = make_project(
        dimensions=("fluency", "coherence"),
        documents=documents,
        systems=SYSTEMS,
        annotators=annotators,
        raters_per_item=raters,
    )
    Project.objects.filter(pk=cast.project.pk).update(seed=SEED)
    cast.project.seed = SEED
    make_judgments(make_judge(cast.project, "rts", name="Reasoner"), cast, first_says)
    make_judgments(make_judge(cast.project, "mcq", name="Chooser"), cast, second_says)
    return cast


def first_says(number: int, system: str, key: str) -> int:
    return number % 3 + 1


def second_says(number: int, system: str, key: str) -> int:
    return number % 3 + (3 if number % 5 < 2 else 1)


def people_say(number: int, key: str) -> int:
    """What people give to the texts for the document of this number."""
    right = number % 3 + 1
    return right if key == "fluency" and number % 5 >= 2 else right + 2


def rate_all_units(cast: Cast, *, annotators: int = 2) -> Round:
    """Write down everybody's ratings in an open Round I, two people who give the same, without playing it."""
    round = begun(cast, every_item=True)
    now = timezone.now()
    numbers = numbers_of(cast)
    for annotator in cast.annotators[:annotators]:
        assignments = [
            make_assignment(round, annotator, item, position, inclusion_probability=1)
            for position, item in enumerate(cast.items, start=1)
        ]
        write_values(assignments, cast, numbers, now)
    return round


def numbers_of(cast: Cast) -> dict[int, int]:
    """Return the number of its document by item."""
    documents = sorted({item.document_id for item in cast.items})
    return {item.pk: documents.index(item.document_id) for item in cast.items}


def write_values(assignments: list[Assignment], cast: Cast, numbers: dict[int, int], now: datetime) -> None:
    Rating.objects.bulk_create(
        Rating(
            assignment=assignment,
            dimension=dimension,
            value=people_say(numbers[assignment.item_id], dimension.key),
            created_at=now,
            updated_at=now,
        )
        for assignment in assignments
        for dimension in cast.dimensions
        if not assignment.partial or assignment.units.filter(dimension=dimension).exists()
    )


def rate_sample(cast: Cast, calibration: Calibration, *, leave_out: int = 0) -> None:
    """Let people take every place that the calibration asked for, and rate all but the last few."""
    now, numbers = timezone.now(), numbers_of(cast)
    assignments = list(Assignment.objects.filter(origin=calibration.origin).order_by("item", "slot"))
    for position, each in enumerate(assignments, start=1):
        each.annotator = cast.annotators[each.slot % len(cast.annotators)]
        each.position, each.started_at = position, now
    Assignment.objects.bulk_update(assignments, ["annotator", "position", "started_at"])
    write_values(assignments[: len(assignments) - leave_out], cast, numbers, now)


def calibration_spec(cast: Cast, **fields: Any) -> CalibrationSpec:
    """More than half a point off on at most a fifth, by closeness, 60 units of fluency and coherence."""
    rts, mcq = judges_of(cast)
    usual: dict[str, Any] = {
        "name": "First",
        "judge": rts,
        "other": mcq,
        "dimensions": ["fluency", "coherence"],
        "loss": Calibration.Loss.ANOTHER_POINT,
        "raters": 2,
        "size": 60,
    }
    return CalibrationSpec(**{**usual, **fields})


def rate_units(
    cast: Cast, policy: RoutingPolicy, units: set[tuple[int, int]], value_of: Callable[[int], int]
) -> None:
    """Let people take the policy's places of these units (items and dimensions), and rate them."""
    now = timezone.now()
    for assigned in AssignedUnit.objects.filter(assignment__origin=policy.origin).select_related(
        "assignment"
    ):
        each = assigned.assignment
        if (each.item_id, assigned.dimension_id) in units:
            each.annotator, each.started_at = cast.annotators[each.slot % len(cast.annotators)], now
            each.position = 10_000 + each.pk
            each.save(update_fields=["annotator", "position", "started_at"])
            Rating.objects.create(
                assignment=each,
                dimension_id=assigned.dimension_id,
                value=value_of(each.item_id),
                created_at=now,
                updated_at=now,
            )
