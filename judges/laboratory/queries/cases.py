from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.models import Dimension, Dispute, DisputeEvent, Item, Project, Rating
from annotate.core.rounds import last_round
from judges.core.material import scales_of
from judges.core.models import (
    CalibrationUnit,
    DevelopmentDocument,
    Judge,
    Judgment,
    Panel,
    PromptSearch,
    Proposal,
    RoutedUnit,
)
from judges.endpoints.queries import usable_judges
from judges.laboratory.cases import Case, CaseKind, most_different
from judges.results.queries.scores import Material, material_of, samples_of, value_of_samples

Part = DevelopmentDocument.Part
FAR = 1.0
"""How far a judge must be from people, in points, to differ."""
MOST_REASONS = 3
TRIABLE = (Proposal.Status.PROPOSED, Proposal.Status.ACCEPTED)
"""Which proposals a search may combine."""


@dataclass(frozen=True)
class DocumentParts:
    """The split of a project's documents: for teaching, for selecting, and held out.

    most: the largest number that can still be selected for both parts. in_use: the reason why the split
    cannot be undone; empty if it can.
    """

    teach: int
    select: int
    documents: int
    most: int
    in_use: str = ""

    @property
    def is_split(self) -> bool:
        return bool(self.teach or self.select)

    @property
    def held_out(self) -> int:
        return self.documents - self.teach - self.select

    @property
    def advised(self) -> int:
        """Recommended size of each of both parts: a ninth of the documents, 5 to 20, up to a quarter."""
        return max(min(max(round(self.documents / 9), 5), 20, self.documents // 4, self.most // 2), 1)


@dataclass
class _Raters:
    """People's values of an item by rater, first and last, and what each wrote."""

    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    wrote: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))


def parts_of(project: Project) -> DocumentParts:
    """Return the split of the documents. Seven queries."""
    teach, select = (len(documents_of(project, part)) for part in Part)
    documents = project.documents.count()
    # One document or more stays held out.
    most = min(len(free_documents(project)), documents - teach - select - 1)
    return DocumentParts(teach, select, documents, most, explain_in_use(project))


def documents_of(project: Project, part: str) -> set[int]:
    """Return the documents of a part. One query."""
    drawn = DevelopmentDocument.objects.filter(document__project=project, part=part)
    return set(drawn.values_list("document", flat=True))


def is_in_part(project: Project, material: Material, part: str) -> npt.NDArray[np.bool_]:
    """Return (items,): whether the document of each item belongs to the part. One query."""
    return np.isin(material.documents, sorted(documents_of(project, part)))


def explain_in_use(project: Project) -> str:
    """Return the reason why the split cannot change; empty if it can. Up to three queries."""
    if Proposal.objects.filter(judge__project=project).exclude(items=None).exists():
        return gettext("Proposals come from these documents, so the split stays.")
    if PromptSearch.objects.filter(judge__project=project).exists():
        return gettext("A search ranked candidates on these documents, so the split stays.")
    if Panel.objects.filter(judge__project=project, learns_from_parts=True).exists():
        return gettext("A panel learned its weights from these documents, so the split stays.")
    return ""


def free_documents(project: Project) -> list[tuple[int, str]]:
    """Return the documents that can be selected, by key: neither in use nor in a part. One query."""
    # Certificates and audits need documents from which no judge has learned.
    calibrating = CalibrationUnit.objects.filter(calibration__project=project).values("item__document")
    audited = RoutedUnit.objects.filter(policy__project=project, why=RoutedUnit.Why.AUDIT)
    left = (
        project.documents.filter(development=None)
        .exclude(pk__in=calibrating)
        .exclude(pk__in=audited.values("item__document"))
    )
    return list(left.order_by("key").values_list("pk", "key"))


def learning_judges(project: Project) -> QuerySet[Judge]:
    """Return the judges with an extensible prompt: they score one output on one dimension."""
    fitting = [
        judge.pk
        for judge in usable_judges(project)
        if not (judge.asks_pairs or judge.asks_several or judge.asks_kinds)
    ]
    # Methods are known in Python only, and forms need a queryset.
    return usable_judges(project).filter(pk__in=fitting)


def learning_dimensions(project: Project) -> QuerySet[Dimension]:
    """Return the dimensions whose values are amounts; categories have no distance. One query when read."""
    return scales_of(project).exclude(measurement_level="nominal")


def proposals_of(project: Project) -> QuerySet[Proposal]:
    """Return a project's proposals, the newest first, without candidates of searches. Two queries."""
    proposals = Proposal.objects.filter(judge__project=project).exclude(status=Proposal.Status.TRIED)
    proposals = proposals.exclude(drafting__search__isnull=False)
    related = ("judge__template", "judge__endpoint", "dimension", "candidate", "guideline")
    proposals = proposals.order_by("-pk")
    return proposals.select_related(*related).prefetch_related("items__document", "items__system")


def triable_proposals(project: Project) -> QuerySet[Proposal]:
    """Return the proposals that a search may combine: the ones with a wording and not dismissed."""
    return proposals_of(project).filter(status__in=TRIABLE).prefetch_related(None)


def learning_material(project: Project) -> Material:
    """Return all items with people's present values, development documents included. Five queries.

    Raises InvalidValueError before the split.
    """
    last = last_round(project)
    material = material_of(project, last, current_guideline(project), with_development=True)
    if not material.in_development.any():
        raise InvalidValueError(gettext("The documents are not split yet. Split them first."))
    return material


def cases_of(judge: Judge, dimension: Dimension, part: str = Part.TEACH) -> list[Case]:
    """Return the units of a part's documents on a dimension that people agree on or settled.

    Excludes disputes without a settled value. Ten queries. Raises InvalidValueError before the split.
    """
    material = learning_material(judge.project)
    frozen = find_frozen(material.dimensions, dimension.pk)
    said = samples_of([judge], material)[judge.pk, frozen.key]
    values = value_of_samples(frozen, said.values)
    chosen = material.items[is_in_part(judge.project, material, part)].tolist()
    by_item = dict(zip(material.items.tolist(), values.tolist(), strict=True))
    items = Item.objects.select_related("document").in_bulk(chosen)
    # The rationale of the judge's first answer, by item.
    answers = Judgment.objects.filter(
        judge=judge, dimension=dimension, item__in=chosen, other=None, status=Judgment.Status.DONE
    ).order_by("-sample", "-pk")
    # The order is reversed, so the first answer is written last and stays.
    rationales = dict(answers.values_list("item", "rationale"))
    # People's values with their reasons, and how disputes ended.
    raters, disputes = _raters(chosen, dimension), _disputes(chosen, dimension)
    found = []
    for item in chosen:
        dispute = disputes.get(item)
        # An open dispute has no value that could be taught.
        if item not in raters or (dispute and dispute.status not in _SETTLED):
            continue
        case = _case(items[item], material.item_names[item], raters[item], dispute, by_item[item])
        found.append(replace(case, rationale=rationales.get(item, "")))
    return found


_SETTLED = (Dispute.Status.SETTLED, Dispute.Status.ADJUDICATED)


def find_frozen(dimensions: Iterable[FrozenDimension], dimension: int) -> FrozenDimension:
    return next(each for each in dimensions if each.id == dimension)


def _raters(items: Sequence[int], dimension: Dimension) -> dict[int, _Raters]:
    # Round II comes after Round I, so its value is the last one of a rater.
    ratings = Rating.objects.filter(
        dimension=dimension,
        assignment__item__in=items,
        assignment__round__number__in=(1, 2),
        assignment__annotator__counted=True,
        value__isnull=False,
    ).order_by("assignment__round__number", "pk")
    columns = ("assignment__item", "assignment__annotator", "assignment__round__number", "value", "comment")
    found: dict[int, _Raters] = defaultdict(_Raters)
    for item, rater, number, value, comment in ratings.values_list(*columns):
        if rater is None or value is None:
            continue
        if number == 1:
            found[item].first[rater] = value
        found[item].last[rater] = value
        if comment.strip():
            found[item].wrote[rater].append(comment.strip())
    return found


def _disputes(items: Sequence[int], dimension: Dimension) -> Mapping[int, Dispute]:
    disputes = Dispute.objects.filter(dimension=dimension, item__in=items)
    return {each.item_id: each for each in disputes.prefetch_related("posts", "events")}


def _case(item: Item, name: str, raters: _Raters, dispute: Dispute | None, said: float) -> Case:
    decided = None if dispute is None else dispute.adjudicated_value
    # A decision replaces people's own last values.
    after = sorted(raters.last.values()) if decided is None else [decided]
    value = float(np.mean(after))
    judge = None if np.isnan(said) else said
    differs = judge is not None and abs(judge - value) >= FAR
    kind = CaseKind.DISPUTE if dispute else CaseKind.DIFFERENCE if differs else CaseKind.AGREED
    return Case(
        item=item.pk,
        name=name,
        kind=kind,
        before=tuple(float(each) for each in sorted(raters.first.values())),
        after=tuple(float(each) for each in after),
        value=value,
        judge=judge,
        text=item.text,
        document="\n\n".join(part["text"] for part in item.document.parts),
        reasons=_reasons(raters, dispute, value),
    )


def _reasons(raters: _Raters, dispute: Dispute | None, value: float) -> tuple[str, ...]:
    """Return the reasons for the value: notes of the decider, then of raters with that value from the start.

    If no rater had it, use the raters nearest to it.
    """
    distances = {rater: abs(first - value) for rater, first in raters.first.items()}
    # A value between the raters', as a mean, has no rater of its own: the nearest ones count.
    nearest = min(distances.values(), default=0.0)
    winners = {rater for rater, distance in distances.items() if distance == nearest}
    found: list[str] = []
    if dispute:
        decisions = [each for each in dispute.events.all() if each.kind == DisputeEvent.Kind.ADJUDICATED]
        # The last decision counts; the slice is empty without one.
        found += [each.note.strip() for each in decisions[-1:]]
        found += [each.text.strip() for each in dispute.posts.all() if each.author_id in winners]
    found += [comment for rater in sorted(winners) for comment in raters.wrote.get(rater, [])]
    return tuple(dict.fromkeys(each for each in found if each))[:MOST_REASONS]


DEVELOPMENT_ITEMS = "marked=development"
"""The filter of the list of items that finds the items of documents for teaching and selecting."""


@dataclass(frozen=True)
class JudgeErrors:
    """A judge on one dimension of the documents for selecting, or for teaching if there are no others.

    cases: units that people agree on or settled and the judge has a value for, the largest difference first.
    """

    judge: Judge
    dimension: Dimension
    part: str
    cases: Sequence[Case]

    @property
    def part_name(self) -> str:
        return gettext("for selecting") if self.part == Part.SELECT else gettext("for teaching")

    @property
    def off(self) -> int:
        """Return the number of units with a difference of a point or more from people."""
        return sum(abs(case.error) >= FAR for case in self.cases)


def errors_of(judge: Judge, dimension: Dimension, part: str) -> JudgeErrors:
    """Return the differences of a judge from people. Ten queries, errors as `cases_of`."""
    return JudgeErrors(judge, dimension, part, most_different(cases_of(judge, dimension, part)))


def units_of(errors: JudgeErrors, cases: Sequence[Case]) -> list[tuple[Case, Judgment | None]]:
    """Return some of its cases with the judge's first answer about each. One query."""
    answers = Judgment.objects.filter(
        judge=errors.judge, dimension=errors.dimension, item__in=[case.item for case in cases], other=None
    )
    found: dict[int, Judgment] = {}
    for judgment in answers.filter(status=Judgment.Status.DONE).order_by("sample", "pk"):
        found.setdefault(judgment.item_id, judgment)
    return [(case, found.get(case.item)) for case in cases]
