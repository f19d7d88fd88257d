"""The additions of a benchmark: what they are made of, and how their raters compare with the first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet
from django.utils.translation import gettext

from agreement.streams import Stream
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenGuideline
from annotate.core.guidelines import guideline_of
from annotate.core.models import Addition, GoldItem, Item, Project, Round
from annotate.core.rounds import rounds_of
from annotate.results.queries.reliability_data import rated_items

FEWEST_FIRST_RATERS = 2


@dataclass(frozen=True)
class RatedItem:
    """An output that enough raters rated in Round I, with their means by dimension key."""

    item: int
    document: int
    means: Mapping[str, float]


def additions_of(project: Project) -> QuerySet[Addition]:
    """Return the additions of a benchmark, the newest first."""
    return Addition.objects.filter(benchmark=project).select_related("project").order_by("-number")


def addition_of(project: Project) -> Addition | None:
    """Return the addition that a project is; None for any other project. One query."""
    return Addition.objects.filter(project=project).select_related("benchmark", "project").first()


def new_systems_of(addition: Addition) -> list[str]:
    """Return the names of the systems that an addition adds; those of bridging items are left out."""
    items = Item.objects.filter(document__project=addition.project, gold__isnull=True)
    return list(items.order_by("system__name").values_list("system__name", flat=True).distinct())


def why_unfinished(project: Project) -> str:
    """Return why a project cannot have additions, in a sentence; empty if it can. Two queries."""
    rounds = rounds_of(project)
    if project.calibrates_id or Addition.objects.filter(project=project).exists():
        return gettext("Only a benchmark has additions, not a calibration session or another addition.")
    if 1 not in rounds or rounds[1].is_open:
        return gettext("Close Round I before you add systems; until then, import their outputs as items.")
    if any(each.is_open or each.is_unfinished for each in rounds.values()):
        return gettext("Close Round II before you add systems.")
    return ""


def refuse_unfinished(project: Project) -> None:
    """Raise NotReadyError unless the rounds of a benchmark are over."""
    if why := why_unfinished(project):
        raise NotReadyError(why)


def guideline_of_additions(project: Project) -> FrozenGuideline:
    """Return the guideline with which Round I closed; additions are rated by it."""
    return guideline_of(rounds_of(project)[1])


def rated_in_round_one(project: Project) -> list[RatedItem]:
    """Return the outputs that at least two raters rated in Round I on a scale that has means."""
    round = Round.objects.select_related("guideline").get(project=project, number=1)
    with_means = {each.key for each in guideline_of(round).scales if each.has_mean}
    means: dict[int, dict[str, float]] = {}
    for key, rated in rated_items(round).items():
        if key not in with_means:
            continue
        enough = rated.data.ratings_per_unit >= FEWEST_FIRST_RATERS
        for item, column in zip(rated.items[enough].tolist(), rated.data.values.T[enough], strict=True):
            means.setdefault(item, {})[key] = round_mean(float(np.nanmean(column)))
    outputs = Item.objects.filter(pk__in=means, kind=Item.Kind.OUTPUT).order_by("pk")
    return [RatedItem(pk, document, means[pk]) for pk, document in outputs.values_list("pk", "document")]


def round_mean(value: float) -> float:
    """Return a mean with the two decimals that gold values have."""
    return round(value, 2)


def choose_bridging(project: Project, rated: Sequence[RatedItem], number: int, count: int) -> list[RatedItem]:
    """Return the items that raters of an addition rate again, spread over documents and values.

    The items are sorted by their mean and cut into `count` parts. Each part gives an item of the document
    that was chosen least often. The project's seed decides between equal ones.
    """
    if count <= 0 or not rated:
        return []
    shuffled = list(rated)
    Stream(project.seed).of("bridging", str(number)).shuffler().shuffle(shuffled)
    shuffled.sort(key=lambda each: float(np.mean(list(each.means.values()))))
    used: Counter[int] = Counter()
    chosen = []
    for part in np.array_split(np.arange(len(shuffled)), min(count, len(shuffled))):
        best = min((shuffled[index] for index in part), key=lambda each: used[each.document])
        used[best.document] += 1
        chosen.append(best)
    return chosen


def bridging_items(addition: Addition) -> QuerySet[GoldItem]:
    """Return the gold items of an addition that bridge to its benchmark."""
    found = GoldItem.objects.filter(item__document__project=addition.project, bridging__isnull=False)
    return found.select_related("item").order_by("item")
