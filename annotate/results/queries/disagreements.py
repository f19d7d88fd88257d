"""Units that raters disagree on, and everything that was said about one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Max, Min, QuerySet

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Dispute, Item, Post, Project, Rating, Round

RatedUnits = QuerySet[Rating, Any]


@dataclass(frozen=True)
class Disagreement:
    """Which units are meant: so many points apart or more, of a dimension, system, document; empty: any."""

    dimension: str = ""
    apart: int = 1
    system: str = ""
    document: str = ""


@dataclass(frozen=True)
class RaterSaid:
    """What one rater gave a unit: in Round I, and in discussion where there was one."""

    rater: str
    first: Rating | None
    last: Rating | None


@dataclass(frozen=True)
class UnitPage:
    """A unit: its texts, what every rater gave and why, and the thread of its dispute."""

    item: Item
    dimension: FrozenDimension
    raters: Sequence[RaterSaid]
    dispute: Dispute | None
    posts: Sequence[Post]

    @property
    def title(self) -> str:
        """The document's title."""
        return str(self.item.document)

    @property
    def parts(self) -> list[dict[str, str]]:
        """The parts of the document."""
        return list(self.item.document.parts)


def shows_systems(project: Project) -> bool:
    """Return whether a unit's system may be shown: when nothing is rated, discussed or decided any more.

    Who decides a dispute, or talks to who decides, shall not know whose text it is about. Two queries.
    """
    rounds = Round.objects.filter(project=project)
    if not rounds.exists() or rounds.filter(status=Round.Status.OPEN).exists():
        return False
    return not Dispute.objects.filter(round__project=project, status=Dispute.Status.OPEN).exists()


def disagreements(project: Project, meant: Disagreement) -> RatedUnits:
    """Return rated units by how far apart their Round I values are, the farthest first."""
    ratings = Rating.objects.filter(
        assignment__round__project=project,
        assignment__round__number=1,
        assignment__annotator__counted=True,
        value__isnull=False,
    )
    named = {
        "dimension__key": meant.dimension,
        "assignment__item__system__name": meant.system,
        "assignment__item__document__key": meant.document,
    }
    units = ratings.filter(**{name: value for name, value in named.items() if value}).values(
        "dimension__key",
        "dimension__name",
        item=F("assignment__item"),
        document=F("assignment__item__document__key"),
        system=F("assignment__item__system__name"),
    )
    measured = units.annotate(
        lowest=Min("value"), highest=Max("value"), ratings=Count("pk"), apart=Max("value") - Min("value")
    )
    found: RatedUnits = measured.filter(apart__gte=meant.apart).order_by("-apart", "item", "dimension__key")
    return found


def unit_page(project: Project, item_id: int, key: str) -> UnitPage | None:
    """Return everything about a unit, None where the project has none such. Five queries at most."""
    item = (
        Item.objects.filter(pk=item_id, document__project=project)
        .select_related("document", "system")
        .first()
    )
    round = project.rounds.filter(number=1).select_related("guideline").first()
    dimension = FrozenGuideline.from_json(round.guideline.content).dimension(key) if round else None
    if item is None or dimension is None:
        return None
    disputes = Dispute.objects.filter(round=round, item=item, dimension=dimension.id)
    dispute = disputes.prefetch_related("posts__author").first()
    return UnitPage(
        item=item,
        dimension=dimension,
        raters=_answers_of_raters(item, dimension),
        dispute=dispute,
        posts=list(dispute.posts.all()) if dispute else [],
    )


def _answers_of_raters(item: Item, dimension: FrozenDimension) -> list[RaterSaid]:
    ratings = Rating.objects.filter(
        assignment__item=item, dimension=dimension.id, assignment__round__number__in=(1, 2)
    ).select_related("assignment__annotator", "assignment__round")
    by_rater: dict[str, dict[int, Rating]] = {}
    for rating in ratings.order_by("assignment__annotator__joined_at", "assignment__annotator"):
        if rating.is_answered and rating.assignment.annotator:
            name = rating.assignment.annotator.rater_name
            by_rater.setdefault(name, {})[rating.assignment.round.number] = rating
    return [RaterSaid(name, given.get(1), given.get(2)) for name, given in by_rater.items()]
