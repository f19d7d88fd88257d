"""How long a rater's open disputes may take, from the pauses between the rater's last answers."""

from datetime import timedelta
from itertools import pairwise
from statistics import median

from annotate.core.models import Membership, RatingChange

RECENT_ANSWERS = 50
BREAK = timedelta(minutes=10)
LEAST_PAUSES = 3


def seconds_for_a_dispute(place: Membership) -> float | None:
    """Return the median time between two answers of the rater; None before there are three. One query.

    Answers that follow after more than ten minutes followed a break, and say nothing of the work.
    """
    answers = RatingChange.objects.filter(
        rating__assignment__annotator=place, rating__assignment__round__number=2
    ).exclude(cause=RatingChange.Cause.TAKEN_BACK)
    latest = list(answers.order_by("-at").values_list("at", flat=True)[: RECENT_ANSWERS + 1])
    pauses = [later - earlier for later, earlier in pairwise(latest) if later - earlier <= BREAK]
    if len(pauses) < LEAST_PAUSES:
        return None
    return median(pause.total_seconds() for pause in pauses)
