"""Four disputed texts, with two disputes each."""

from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate


def make_disputed_texts() -> Cast:
    """Make two documents with two items each, all disputed on two dimensions, with the values 1, 3 and 5."""
    cast = make_project(dimensions=("fluency", "coherence"), documents=2)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        for item in cast.items:
            for key in ("fluency", "coherence"):
                rate(cast, round, annotator, item, value, key=key)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return cast
