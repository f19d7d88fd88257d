"""Units that raters disagree on, and everything that was said about one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Dimension, Dispute, Item, Post, Project, Rating, Round
from annotate.core.scale import normalize
from annotate.results.queries.kept import KeptPage
from annotate.results.queries.spreads import units_of


@dataclass(frozen=True)
class Disagreement:
    """Which units are meant: so many points apart or more, of a dimension, system, document; empty: any."""

    dimension: str = ""
    apart: float = 1
    system: str = ""
    document: str = ""


@dataclass(frozen=True)
class UnitApart:
    """A unit with its lowest and highest Round I value, how many there are, and how far they lie apart."""

    item: Item
    dimension: Dimension
    lowest: float
    highest: float
    ratings: int
    apart: float


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


class UnitsApart(Sequence[UnitApart]):
    """Rated units, the farthest apart in Round I first; their names are read for those that are asked for."""

    def __init__(self, project: Project, meant: Disagreement, kept: KeptPage) -> None:
        """Find the units that are meant among those that are kept. Two queries at most."""
        self._project = project
        units = units_of(kept)
        wanted = units["apart"] >= meant.apart
        if meant.dimension:
            keys = project.dimensions.filter(key=meant.dimension).values_list("pk", flat=True)
            wanted &= np.isin(units["dimension"], list(keys))
        if meant.system or meant.document:
            named = {"system__name": meant.system, "document__key": meant.document}
            items = Item.objects.filter(
                document__project=project, **{name: value for name, value in named.items() if value}
            )
            wanted &= np.isin(units["item"], list(items.values_list("pk", flat=True)))
        self._units = units[wanted]

    def __len__(self) -> int:
        return len(self._units)

    @overload
    def __getitem__(self, place: int) -> UnitApart: ...
    @overload
    def __getitem__(self, place: slice) -> list[UnitApart]: ...
    def __getitem__(self, place: int | slice) -> UnitApart | list[UnitApart]:
        """Return a unit, or some of them with their names in two queries."""
        if isinstance(place, int):
            return self[slice(place, place + 1)][0]
        chosen = self._units[place]
        items = Item.objects.select_related("document", "system").defer("text", "document__parts")
        by_key = items.in_bulk(chosen["item"].tolist())
        dimensions = self._project.dimensions.in_bulk()
        return [
            UnitApart(
                item=by_key[item],
                dimension=dimensions[dimension],
                lowest=normalize(lowest),
                highest=normalize(highest),
                ratings=ratings,
                apart=normalize(apart),
            )
            for item, dimension, lowest, highest, ratings, apart in chosen.tolist()
        ]


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
