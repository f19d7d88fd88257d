"""Recorded ratings of a file: each takes a place of its item in Round I and leaves a row of history."""

from django.utils import timezone

from annotate.core.models import Project, Rating, RatingChange, Round, User
from annotate.material.commands.places import PlacesToTake
from annotate.material.queries.catalogue import BATCH, Catalogue, KnownItem
from annotate.material.queries.places import ImportedRater
from annotate.material.queries.ratings import RatingCheck, Scale


class RatingImporter(RatingCheck):
    """Takes rows one by one and writes what is new, inside the caller's transaction."""

    def __init__(self, project: Project, catalogue: Catalogue, round: Round, by: User | None) -> None:
        self._places = PlacesToTake(project, catalogue, round)
        super().__init__(project, catalogue, round, self._places)
        self.by = by
        self._guideline = round.guideline_id
        self._ratings: list[Rating] = []

    def accept(self, place: int, item: KnownItem, rater: ImportedRater, scale: Scale, value: float) -> None:
        """Note a rating and prepare it."""
        super().accept(place, item, rater, scale, value)
        now = timezone.now()
        self._ratings.append(
            Rating(
                assignment_id=place,
                dimension_id=scale.id,
                value=value,
                guideline_id=self._guideline,
                created_at=now,
                updated_at=now,
            )
        )
        if len(self._ratings) >= BATCH:
            self._flush()

    def finish(self) -> None:
        """Write the rest, and mark the items that are now completely rated."""
        self._flush()
        self._places.mark_progress(len(self.scales))

    def _flush(self) -> None:
        self._places.flush()
        written = Rating.objects.bulk_create(self._ratings)
        RatingChange.objects.bulk_create(_change(rating, self.by) for rating in written)
        self._ratings = []


def _change(rating: Rating, by: User | None) -> RatingChange:
    return RatingChange(
        rating=rating,
        revision=rating.revision,
        at=rating.created_at,
        actor=by,
        cause=RatingChange.Cause.IMPORTED,
        value_before=None,
        value_after=rating.value,
        guideline_id=rating.guideline_id,
    )
