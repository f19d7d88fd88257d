"""A finished benchmark whose first raters gave known values, and an addition to it."""

from collections.abc import Callable

from annotate.additions.commands import add_systems
from annotate.core.guidelines import guideline_of
from annotate.core.models import Addition, Assignment, Membership, Role, Round
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one
from tests.factories import Cast, make_member, make_project
from tests.rating.rounds import opened, rate


def make_benchmark(*, documents: int = 6, systems: int = 2) -> Cast:
    """Make a benchmark whose Round I is closed: two raters, values that rise with the document."""
    cast = make_project(documents=documents, systems=systems, annotators=2, raters_per_item=2)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, 2 + (number // systems) % 3)
    close_round_one(project=cast.project, by=cast.admin)
    return cast


def make_addition(cast: Cast, *, bridging: int = 6, documents: int = 6, name: str = "newcomer") -> Addition:
    keys = cast.project.documents.order_by("pk").values_list("key", flat=True)[:documents]
    outputs = {name: {key: f"What {name} wrote about {key}." for key in keys}}
    return add_systems(project=cast.project, outputs=outputs, bridging=bridging, by=cast.admin)


def make_new_raters(addition: Addition, count: int = 2) -> list[Membership]:
    return [make_member(addition.project, Role.ANNOTATOR) for _ in range(count)]


def rate_all(
    round: Round, rater: Membership, value_of: Callable[[Assignment, str], float]
) -> list[Assignment]:
    """Let a rater answer everything they meet in Round I, one document after another; return it in order."""
    met: list[Assignment] = []
    for _ in range(100):
        reserve_items(round=round, annotator=rater, how_many=1)
        own = Assignment.objects.filter(round__project=round.project, annotator=rater)
        new = list(own.exclude(pk__in=[each.pk for each in met]).order_by("position"))
        if not new:
            break
        for assignment in new:
            asked = set(assignment.units.values_list("dimension", flat=True))
            for dimension in guideline_of(round).dimensions:
                if not assignment.partial or dimension.id in asked:
                    answer = Answer(value=value_of(assignment, dimension.key))
                    save_rating(assignment=assignment, dimension=dimension, answer=answer, by=rater.user)
        met += new
    return met
