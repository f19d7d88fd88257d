"""The assignments of Round I for recorded ratings: free ones, and ones that their raters already have."""

from collections.abc import Mapping
from functools import cached_property

from django.db.models import F, Q

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Assignment, Membership, Project, RecordedName, Role, Round
from annotate.material.queries.catalogue import BATCH, Catalogue, ItemRecord
from annotate.rating.queries.assignments import available_assignments

Pair = tuple[int, int]
TO_BE_MADE = 0


class ImportedRater:
    __slots__ = ("number", "pk")

    def __init__(self, number: int, pk: int | None) -> None:
        self.number, self.pk = number, pk


class ItemAssignments:
    """The assignments of Round I by holder, and the remaining ones, as ids only.

    Without a round every item will have one free assignment for each rater that the project wants. members:
    the member (by key) for a rater's name, if no mapping is stored yet.
    """

    def __init__(
        self,
        project: Project,
        catalogue: Catalogue,
        round: Round | None,
        members: Mapping[str, int] | None = None,
    ) -> None:
        self.project, self.round, self.catalogue = project, round, catalogue
        guideline = FrozenGuideline.from_json(round.guideline.content) if round else None
        self.raters_per_item = guideline.raters_per_item if guideline else project.raters_per_item
        self.raters: dict[str, ImportedRater] = {}
        self._free: dict[int, list[int]] = {}
        self._held: dict[Pair, int] = {}
        self._lapsed: dict[int, Pair] = {}
        self.item_numbers = catalogue.item_numbers
        self._load_raters(members or {})
        self.rater_numbers = {rater.pk: rater.number for rater in self.raters.values()}
        if round:
            held = Assignment.objects.filter(round=round, annotator__isnull=False)
            available = available_assignments(round)
            if self.catalogue.named:
                held = held.filter(item__in=self.item_numbers)
                available = available.filter(item__in=self.item_numbers)
            for pk, item, annotator in held.values_list("pk", "item", "annotator").iterator(BATCH):
                self._held[self.item_numbers[item], self.rater_numbers[annotator]] = pk
            # The last one goes first: unused assignments before those with an expired reservation, low slots
            # first.
            available = available.order_by(F("annotator").desc(nulls_last=True), "-slot")
            for pk, item, annotator in available.values_list("pk", "item", "annotator").iterator(BATCH):
                self._free.setdefault(self.item_numbers[item], []).append(pk)
                if annotator is not None:
                    self._lapsed[pk] = (self.item_numbers[item], self.rater_numbers[annotator])

    @cached_property
    def are_for_units(self) -> bool:
        """Return True if the round has partial assignments, which imports cannot use."""
        return self.round is not None and self.round.assignments.filter(partial=True).exists()

    def new_rater(self, label: str) -> ImportedRater:
        rater = self.raters[label] = ImportedRater(len(self.raters), None)
        return rater

    def holds(self, item: ItemRecord, rater: ImportedRater) -> bool:
        return (item.number, rater.number) in self._held

    def take(self, item: ItemRecord, rater: ImportedRater) -> int | None:
        """Return the assignment that the rater has or now takes; None if all belong to others."""
        pair = (item.number, rater.number)
        made = self.round is not None and item.pk is not None
        # Items that are not written yet will have one assignment for each rater of an item.
        free = self._free.setdefault(item.number, [] if made else [TO_BE_MADE] * self.raters_per_item)
        if pair in self._held:
            assignment = self._held[pair]
            # A lapsed reservation of the rater is listed as free, too.
            if self._lapsed.pop(assignment, None):
                free.remove(assignment)
            return assignment
        if not free:
            return None
        assignment = free.pop()
        # The rater whose reservation has expired loses the assignment.
        if before := self._lapsed.pop(assignment, None):
            del self._held[before]
        self._held[pair] = assignment
        return assignment

    def _load_raters(self, members: Mapping[str, int]) -> None:
        annotators = Membership.objects.filter(project=self.project, role=Role.ANNOTATOR).order_by("pk")
        if self.catalogue.named:
            holders = Assignment.objects.filter(
                round=self.round, item__in=self.item_numbers, annotator__isnull=False
            )
            raters = self.catalogue.named.raters
            named = Q(label__in=raters) | Q(recorded_names__name__in=raters) | Q(pk__in=members.values())
            annotators = annotators.filter(named | Q(pk__in=holders.values("annotator")))
        # The join with recorded names would repeat a member with several names.
        for label, pk in annotators.distinct().values_list("label", "pk"):
            self.raters[label] = ImportedRater(len(self.raters), pk)
        by_pk = {rater.pk: rater for rater in self.raters.values()}
        kept = RecordedName.objects.filter(project=self.project).values_list("name", "membership")
        # Later entries win: stored names over those chosen on the page, and labels over both.
        names = {**members, **dict(kept)}
        self.raters = {name: by_pk[member] for name, member in names.items() if member in by_pk} | self.raters
