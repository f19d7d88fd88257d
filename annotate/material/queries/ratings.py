"""Recorded ratings of a file, compared with the scales, the items, and the assignments and ratings of
Round I.
"""

import re
from collections.abc import Sequence

from django.utils.translation import gettext

from annotate.core.errors import NotReadyError, RoundClosedError
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.guidelines import off_scale_sentence
from annotate.core.models import Dimension, Project, Rating, Round
from annotate.core.scale import is_on_scale
from annotate.material.queries.assignments import ImportedRater, ItemAssignments
from annotate.material.queries.catalogue import BATCH, Catalogue, ItemRecord
from annotate.material.reading.report import ImportCounts
from annotate.material.reading.rows import ImportedRating, LineReason, RefusedLine

Scale = Dimension | FrozenDimension


class RatingCheck:
    """Takes rows individually and counts the resulting ratings; an importer also writes them.

    Stores ids and values only: of all Round I ratings of the project and of the file.
    """

    number = 1
    """The round whose ratings are taken."""

    def __init__(
        self, project: Project, catalogue: Catalogue, round: Round | None, assignments: ItemAssignments
    ) -> None:
        self.catalogue, self.round, self.assignments = catalogue, round, assignments
        self.made = ImportCounts()
        self.already_there = ImportCounts()
        # The scales that Round I froze, or the project's.
        self.scales: Sequence[Scale] = (
            FrozenGuideline.from_json(round.guideline.content).dimensions
            if round
            else list(project.dimensions.order_by("position"))
        )
        self._scale_by_word = {plain_word(word): s for s in self.scales for word in (s.name, s.key)}
        self._values = self._values_of(round) if round else {}

    def take(self, row: ImportedRating) -> RefusedLine | None:
        scale = self._scale_by_word.get(plain_word(row.dimension))
        if scale is None:
            names = ", ".join(scale.name for scale in self.scales) or "none yet"
            reason = LineReason.fill(
                gettext("The project has no dimension “{dimension}”; it has {names}."),
                example=row.dimension,
                shared={"names": names},
                dimension=row.dimension,
            )
            return RefusedLine(row.line, "dimension", reason)
        item = self.catalogue.item(row.document, row.system)
        if item is None:
            reason = LineReason.fill(
                gettext(
                    "The project has no text of “{system}” for document “{document}”; import items first."
                ),
                example=f"{row.system} – {row.document}",
                system=row.system,
                document=row.document,
            )
            return RefusedLine(row.line, "document", reason)
        limits = scale.scale_minimum, scale.scale_maximum, scale.scale_step
        if not is_on_scale(row.value, *limits):
            # The message once more with “…” for the value, so that such lines have one cause.
            sentence, general = (off_scale_sentence(scale.name, value, *limits) for value in (row.value, "…"))
            reason = LineReason(sentence, general, f"{row.value:g}")
            return RefusedLine(row.line, "value", reason)
        rater = self.assignments.raters.get(row.rater)
        if rater is None:
            self.made.raters += 1
            rater = self.assignments.new_rater(row.rater)
        unit = (item.number, rater.number, scale.id)
        if unit in self._values:
            return self._compare(row, scale, self._values[unit])
        return self.take_new(row, item, rater, scale)

    def accept(
        self,
        assignment: int,  # noqa: ARG002 - importers use it
        item: ItemRecord,
        rater: ImportedRater,
        scale: Scale,
        value: float,
    ) -> None:
        """Register a rating that the project does not have; an importer writes it to its assignment."""
        self._values[item.number, rater.number, scale.id] = value
        self.made.ratings += 1

    def _compare(self, row: ImportedRating, scale: Scale, value: float | None) -> RefusedLine | None:
        if value == row.value:
            self.already_there.ratings += 1
            return None
        # An answer without a value counts as given: a recorded value must not replace it.
        given = (
            gettext(
                "“{rater}” has an answer without a value for {dimension} of “{system}” on document "
                "“{document}” "
                "already; a rating is never overwritten, so leave this {new} out."
            )
            if value is None
            else gettext(
                "“{rater}” has given {value} for {dimension} of “{system}” on document “{document}” "
                "already; a rating is never overwritten, so leave this {new} out."
            )
        )
        reason = LineReason.fill(
            given,
            example=f"{row.rater} – {row.system} – {row.document}",
            shared={"dimension": scale.name},
            rater=row.rater,
            value=value,
            system=row.system,
            document=row.document,
            new=row.value,
        )
        return RefusedLine(row.line, "value", reason)

    def take_new(
        self, row: ImportedRating, item: ItemRecord, rater: ImportedRater, scale: Scale
    ) -> RefusedLine | None:
        if self.round and not self.round.is_open:
            raise RoundClosedError(
                gettext(
                    "Round I is closed and takes no more ratings; import these as "
                    "ratings of Round II, or into a new project."
                )
            )
        # A recorded rating takes a whole assignment, which such rounds do not have for all items.
        if self.assignments.are_for_units:
            raise NotReadyError(
                gettext(
                    "Round I asks people for single dimensions of some items, so it takes no recorded "
                    "ratings; "
                    "import them before units are routed, or into a new project."
                )
            )
        # Without an assignment, the item has as many raters as the project wants.
        assignment = self.assignments.take(item, rater)
        if assignment is not None:
            self.accept(assignment, item, rater, scale, row.value)
            return None
        sentence = (
            gettext(
                "Each item has {raters} raters, and “{rater}” would be one too many "
                "for “{system}” on document “{document}”; Round I has frozen this, "
                "so import into a new project with more raters per item."
            )
            if self.round
            else gettext(
                "Each item has {raters} raters, and “{rater}” would be one too many "
                "for “{system}” on document “{document}”; raise the project's raters per item."
            )
        )
        reason = LineReason.fill(
            sentence,
            example=f"{row.rater} – {row.system} – {row.document}",
            shared={"raters": self.assignments.raters_per_item},
            rater=row.rater,
            system=row.system,
            document=row.document,
        )
        return RefusedLine(row.line, "rater", reason)

    def _values_of(self, round: Round) -> dict[tuple[int, int, int], float | None]:
        items, raters = self.assignments.item_numbers, self.assignments.rater_numbers
        ratings = Rating.objects.filter(assignment__round=round, assignment__annotator__isnull=False)
        if self.catalogue.named:
            ratings = ratings.filter(assignment__item__in=items)
        rows = ratings.values_list("assignment__item", "assignment__annotator", "dimension", "value")
        return {
            (items[item], raters[annotator], dimension): value
            for item, annotator, dimension, value in rows.iterator(BATCH)
        }


def plain_word(name: str) -> str:
    """A dimension's key or name without capitals, hyphens and underscores, as files may call it."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()
