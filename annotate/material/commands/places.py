"""The places of Round I that recorded ratings take."""

from django.db.models import Count
from django.utils import timezone

from annotate.core.models import Assignment, Membership, Project, Rating, Role, Round
from annotate.core.models.ratings import has_answer
from annotate.material.queries.catalogue import BATCH, Catalogue, KnownItem
from annotate.material.queries.places import ImportedRater, Places
from annotate.people.commands import add_member
from annotate.rating.queries.places import last_positions


class PlacesToTake(Places):
    """Places that are taken in the database as well.

    The caller's transaction holds the project's lock; all annotators and places of the round are locked.
    """

    def __init__(self, project: Project, catalogue: Catalogue, round: Round) -> None:
        _lock(project, round)
        super().__init__(project, catalogue, round)
        self._claims: list[Assignment] = []
        self._last_positions = last_positions(project.pk)

    def new_rater(self, label: str) -> ImportedRater:
        """Make an annotator's place that nobody holds yet."""
        rater = super().new_rater(label)
        rater.pk = add_member(project=self.project, role=Role.ANNOTATOR, label=label).pk
        return rater

    def take(self, item: KnownItem, rater: ImportedRater) -> int | None:
        """The place of this item that the rater holds or now takes; None where all are someone else's."""
        held = self.holds(item, rater)
        place = super().take(item, rater)
        if place is not None and not held:
            self._claims.append(self._claim(place, rater))
        return place

    def flush(self) -> None:
        """Write which places were taken."""
        fields = ["annotator", "position", "plan", "reserved_until", "started_at"]
        Assignment.objects.bulk_update(self._claims, fields, batch_size=500)
        self._claims = []

    def mark_progress(self, dimensions: int) -> None:
        """Mark the round's places that have ratings as started, and the completely rated as completed."""
        now = timezone.now()
        places = Assignment.objects.filter(round=self.round, annotator__isnull=False, partial=False)
        rated = Rating.objects.filter(assignment__round=self.round).values("assignment")
        places.filter(started_at=None, pk__in=rated).update(started_at=now)
        answers = Count("ratings", filter=has_answer("ratings__"))
        complete = places.filter(completed_at=None).annotate(answers=answers)
        pks = complete.filter(answers__gte=dimensions).values("pk")
        Assignment.objects.filter(pk__in=pks).update(completed_at=now)

    def _claim(self, place: int, rater: ImportedRater) -> Assignment:
        assert rater.pk is not None
        self._last_positions[rater.pk] += 1
        return Assignment(
            pk=place,
            annotator_id=rater.pk,
            position=self._last_positions[rater.pk],
            plan=Assignment.Plan.IMPORTED,
            reserved_until=None,
            started_at=timezone.now(),
        )


def _lock(project: Project, round: Round) -> None:
    annotators = Membership.objects.filter(project=project, role=Role.ANNOTATOR)
    for rows in (annotators, Assignment.objects.filter(round=round)):
        for _ in rows.select_for_update().order_by("pk").values_list("pk").iterator(BATCH):
            pass
