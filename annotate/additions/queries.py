"""The additions of a benchmark, and the severity of their raters compared with the first raters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet
from django.utils.translation import gettext

from agreement import Bridge, Offset, bridge
from agreement.streams import Stream
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.guidelines import current_guideline, guideline_of
from annotate.core.models import (
    Addition,
    Assignment,
    GoldItem,
    GoldValue,
    Item,
    Membership,
    Project,
    Rating,
    Role,
    Round,
)
from annotate.core.rounds import rounds_of
from annotate.results.queries.reliability_data import rated_items

FEWEST_FIRST_RATERS = 2


@dataclass(frozen=True)
class RatedOutput:
    item: int
    document: int
    means: Mapping[str, float]


def additions_of(project: Project) -> QuerySet[Addition]:
    return Addition.objects.filter(benchmark=project).select_related("project").order_by("-number")


def addition_of(project: Project) -> Addition | None:
    """Return the addition of a project, None if it is no addition. One query."""
    return Addition.objects.filter(project=project).select_related("benchmark", "project").first()


def new_systems(additions: Sequence[Addition]) -> dict[int, list[str]]:
    """Return the names of the new systems of each addition, by its key. One query."""
    # Bridging items are gold items of old systems, so they do not name new ones.
    items = Item.objects.filter(document__project__addition__in=additions, gold__isnull=True)
    found: dict[int, list[str]] = {each.pk: [] for each in additions}
    rows = items.order_by("system__name").values_list("document__project__addition", "system__name")
    for addition, name in rows.distinct():
        found[addition].append(name)
    return found


def round_states(additions: Sequence[Addition]) -> dict[int, str]:
    """Return for each addition, by its key, a sentence about its newest round. One query."""
    found = {each.pk: gettext("Round I is not open yet.") for each in additions}
    rounds = Round.objects.filter(project__addition__in=additions).order_by("number")
    for round in rounds.select_related("project__addition"):
        message = gettext("{round} is open.") if round.is_open else gettext("{round} is closed.")
        found[round.project.addition.pk] = message.format(round=round)
    return found


def explain_unfinished(project: Project) -> str:
    """Return the reason for which a project cannot have additions; empty if it can. Two queries."""
    rounds = rounds_of(project)
    if project.calibrates_id or Addition.objects.filter(project=project).exists():
        return gettext("Only a benchmark has additions, not a calibration session or another addition.")
    if 1 not in rounds or rounds[1].is_open:
        return gettext("Close Round I before you add systems; until then, import their outputs as items.")
    # The closing of a round may still write its disputes.
    if any(each.is_open or each.is_unfinished for each in rounds.values()):
        return gettext("Close Round II before you add systems.")
    return ""


def refuse_unfinished(project: Project) -> None:
    """Raise NotReadyError unless the rounds of a benchmark are over."""
    if why := explain_unfinished(project):
        raise NotReadyError(why)


def guideline_of_additions(project: Project) -> FrozenGuideline:
    """Return the guideline in force when Round I closed. Additions are rated with it."""
    return guideline_of(rounds_of(project)[1])


def rated_in_round_one(project: Project) -> list[RatedOutput]:
    """Return the outputs that at least two raters rated in Round I on a scale that has means."""
    first = Round.objects.select_related("guideline").get(project=project, number=1)
    with_means = {each.key for each in guideline_of(first).scales if each.has_mean}
    means: dict[int, dict[str, float]] = {}
    for key, rated in rated_items(first).items():
        if key not in with_means:
            continue
        enough = rated.data.ratings_per_unit >= FEWEST_FIRST_RATERS
        for item, column in zip(rated.items[enough].tolist(), rated.data.values.T[enough], strict=True):
            # Two decimals, as gold values have.
            means.setdefault(item, {})[key] = round(float(np.nanmean(column)), 2)
    outputs = Item.objects.filter(pk__in=means, kind=Item.Kind.OUTPUT).order_by("pk")
    return [RatedOutput(pk, document, means[pk]) for pk, document in outputs.values_list("pk", "document")]


def choose_bridging(
    project: Project, rated: Sequence[RatedOutput], number: int, count: int
) -> list[RatedOutput]:
    """Return the items that raters of an addition rate again, spread over documents and values.

    The items are sorted by their mean position on the scales, from 0 to 1, and cut into `count` parts. Each
    part gives an item of the document that was chosen least often. The project's seed decides ties.
    """
    if count <= 0 or not rated:
        return []
    scales = {each.key: each for each in guideline_of_additions(project).scales}

    def position_on_scales(each: RatedOutput) -> float:
        return float(
            np.mean(
                [
                    (value - scales[key].scale_minimum)
                    / (scales[key].scale_maximum - scales[key].scale_minimum)
                    for key, value in each.means.items()
                ]
            )
        )

    shuffled = list(rated)
    # The number is part of the name, so each addition gets its own selection.
    shuffler = Stream(project.seed).of("bridging", str(number)).shuffler()
    # Sorting is stable, so the shuffle decides among items at the same position.
    shuffler.shuffle(shuffled)
    shuffled.sort(key=position_on_scales)
    used: Counter[int] = Counter()
    chosen = []
    for indices in np.array_split(np.arange(len(shuffled)), min(count, len(shuffled))):
        part = [shuffled[index] for index in indices]
        # Without this the lowest of each part would come first.
        shuffler.shuffle(part)
        best = min(part, key=lambda each: used[each.document])
        used[best.document] += 1
        chosen.append(best)
    return chosen


def bridging_items(addition: Addition) -> QuerySet[GoldItem]:
    found = GoldItem.objects.filter(item__document__project=addition.project, bridging__isnull=False)
    return found.select_related("item").order_by("item")


@dataclass(frozen=True)
class DimensionSeverity:
    """The severity of an addition's raters on a dimension: a summary, and the offset of each rater."""

    dimension: FrozenDimension
    bridge: Bridge
    raters: Sequence[tuple[Membership, Offset | None]]

    @property
    def sentence(self) -> str:
        """Compare the addition's raters with the first raters, before and after removing their severity."""
        offset, name = self.bridge.offset, self.dimension.name
        if offset is None:
            return f"{name}: {self.bridge.reason}"
        says = (
            gettext("The new raters give {value} less on {name} {interval}.")
            if offset.value < 0
            else gettext("The new raters give {value} more on {name} {interval}.")
        )
        interval = _magnitudes(offset)
        found = says.format(value=format_without_zero(abs(offset.value)), name=name, interval=interval)
        before, after = self.bridge.before, self.bridge.after
        if before is None or after is None:
            return found
        rest = gettext(
            "With their severity removed they differ by {after} instead of {before} from the first raters on "
            "items that they share."
        )
        return f"{found} {rest.format(after=format_without_zero(after), before=format_without_zero(before))}"


def severity_of(addition: Addition) -> Mapping[str, Bridge]:
    """Return the severity of an addition's raters on the scale of the first raters, by dimension key.

    Includes only scales that have means. Three queries.
    """
    return {each.dimension.key: each.bridge for each in load_severity(addition)}


def load_severity(addition: Addition) -> list[DimensionSeverity]:
    """Return the severity of the addition's raters on each dimension. Four queries.

    Raters that an admin excluded are not included.
    """
    project = addition.project
    gold = GoldValue.objects.filter(gold__bridging__isnull=False, gold__item__document__project=project)
    rows = gold.order_by("gold__item").values_list(
        "dimension__key", "gold__item", "gold__item__document", "value"
    )
    known: dict[str, list[tuple[int, int, float]]] = {}
    for key, item, document, value in rows:
        known.setdefault(key, []).append((item, document, value))
    ratings = Rating.objects.filter(
        assignment__round__project=project,
        assignment__round__number=Round.CHECKS,
        assignment__plan=Assignment.Plan.GOLD,
        assignment__annotator__counted=True,
        assignment__item__gold__bridging__isnull=False,
        value__isnull=False,
    ).order_by()
    # By rater, item and dimension; a missing value becomes NaN below.
    # Dimensions match by key, because the addition's copies have other ids.
    given = {
        (rater, item, key): value
        for rater, item, key, value in ratings.values_list(
            "assignment__annotator", "assignment__item", "dimension__key", "value"
        )
    }
    members = list(Membership.objects.filter(pk__in={rater for rater, _, _ in given}).order_by("pk"))
    found = []
    for dimension in current_guideline(project).scales:
        if not dimension.has_mean:
            continue
        # Raters by bridging items, and the means of the first raters for the same items.
        # The shape is explicit: NumPy would infer another one without members or items.
        items = known.get(dimension.key, [])
        values = np.array(
            [
                [given.get((member.pk, item, dimension.key), np.nan) for item, _, _ in items]
                for member in members
            ]
        ).reshape(len(members), len(items))
        old, documents = [value for _, _, value in items], [document for _, document, _ in items]
        bridged = bridge(values, old, documents)
        found.append(DimensionSeverity(dimension, bridged, list(zip(members, bridged.by_rater, strict=True))))
    return found


def _magnitudes(offset: Offset) -> str:
    """Return the interval in brackets, in the direction of the summary."""
    if offset.interval is None:
        return ""
    ends = offset.interval.low, offset.interval.high
    # “Less” states the amount without its sign, so the ends change signs and order.
    low, high = ends if offset.value >= 0 else (-ends[1], -ends[0])
    return f"[{format_without_zero(low)}, {format_without_zero(high)}]"


def format_without_zero(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


@dataclass(frozen=True)
class AdditionState:
    addition: Addition
    systems: Sequence[str]
    outputs: int
    bridging: int
    round: Round | None
    raters: int
    severity: Sequence[DimensionSeverity]


def addition_state(addition: Addition) -> AdditionState:
    """Return the state of an addition. Ten queries."""
    outputs = Item.objects.filter(document__project=addition.project, gold__isnull=True)
    return AdditionState(
        addition=addition,
        systems=new_systems([addition])[addition.pk],
        outputs=outputs.count(),
        bridging=bridging_items(addition).count(),
        round=rounds_of(addition.project).get(1),
        raters=addition.project.memberships.filter(role=Role.ANNOTATOR, active=True).count(),
        severity=load_severity(addition),
    )
