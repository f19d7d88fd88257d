"""Ratings of Round II recorded elsewhere: answers to disputes, which they settle if the values met."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from django.utils.translation import gettext

from annotate.core.database import lock_rows, write_in_steps
from annotate.core.errors import NotReadyError, RoundClosedError
from annotate.core.models import Assignment, DataImport, Dispute, Project, Round, User
from annotate.core.rounds import rounds_of
from annotate.disputes.commands.state import all_current_answers, settle_or_reopen_all
from annotate.material.commands.assignments import RefusedWhileWritingError
from annotate.material.commands.holding import keep_lease
from annotate.material.commands.imports import Writing
from annotate.material.commands.ratings import Recorded, write_recorded
from annotate.material.queries.assignments import ImportedRater, ItemAssignments
from annotate.material.queries.catalogue import BATCH, Catalogue, ItemRecord
from annotate.material.queries.check import FileCheck
from annotate.material.queries.ratings import RatingCheck, Scale
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.rows import ImportedRating, LineReason, RefusedLine
from annotate.rating.commands.rounds import open_round_two

DISPUTES_AT_ONCE = 100
_ASSIGNMENT_KEY = ("item", "annotator", "pk")
DECIDED = (Dispute.Status.ADJUDICATED, Dispute.Status.LEFT_OPEN)


class AnswerCheck(RatingCheck):
    """Takes rows individually. Each is the value of a rater of Round I in Round II.

    A unit without a dispute was not rated again: the value of Round I exists already, and another is
    rejected.
    """

    number = 2

    def __init__(self, project: Project, catalogue: Catalogue, rounds: Mapping[int, Round]) -> None:
        if 1 not in rounds or rounds[1].is_open:
            raise NotReadyError(gettext("Close Round I before ratings of Round II are imported."))
        first, second = rounds[1], rounds.get(2)
        super().__init__(project, catalogue, second, ItemAssignments(project, catalogue, second or first))
        self._first = self._values_of(first)
        numbers = self.assignments.item_numbers
        disputes = Dispute.objects.filter(round=first)
        if self.catalogue.named:
            disputes = disputes.filter(item__in=numbers)
        self.disputes = {
            (numbers[dispute.item_id], dispute.dimension_id): dispute for dispute in disputes.iterator(BATCH)
        }

    def take(self, row: ImportedRating) -> RefusedLine | None:
        """Take a rating as in Round I, but only from raters who rated then."""
        if row.rater not in self.assignments.raters:
            sentence = gettext(
                "The project has no rater “{rater}”; Round II is rated by those who rated in Round I."
            )
            reason = LineReason.fill(sentence, example=row.rater, rater=row.rater)
            return RefusedLine(row.line, "rater", reason)
        return super().take(row)

    def take_new(
        self, row: ImportedRating, item: ItemRecord, rater: ImportedRater, scale: Scale
    ) -> RefusedLine | None:
        first = self._first.get((item.number, rater.number, scale.id))
        unit = gettext("{dimension} of “{system}” on document “{document}”").format(
            dimension=scale.name, system=row.system, document=row.document
        )
        example = f"{scale.name} – {row.system} – {row.document}"
        if first is None:
            sentence = gettext("“{rater}” gave no value in Round I for {unit}, and so has none in Round II.")
            about = f"{row.rater} – {example}"
            reason = LineReason.fill(sentence, example=about, rater=row.rater, unit=unit)
            return RefusedLine(row.line, "rater", reason)
        dispute = self.disputes.get((item.number, scale.id))
        if dispute is None:
            # A unit without a dispute keeps its value of Round I, which a file may repeat.
            if first == row.value:
                self.already_there.ratings += 1
                return None
            sentence = gettext("{unit} is not disputed, so “{rater}” holds the {first} of Round I.")
            reason = LineReason.fill(sentence, example=example, unit=unit, rater=row.rater, first=first)
            return RefusedLine(row.line, "value", reason)
        if dispute.status in DECIDED:
            sentence = gettext("The dispute about {unit} is {status} and takes no more values.")
            shared = {"status": dispute.get_status_display()}
            reason = LineReason.fill(sentence, example=example, shared=shared, unit=unit)
            return RefusedLine(row.line, "value", reason)
        # Checked last, since rows that change nothing are accepted in a closed round, too.
        if self.round and not self.round.is_open:
            raise RoundClosedError(
                gettext("Round II is closed and takes no more ratings; import into a new project.")
            )
        # 0, because only an importer needs the assignment, and it finds the one of Round II itself.
        self.accept(0, item, rater, scale, row.value)
        return None


class AnswerImporter(AnswerCheck):
    """Takes rows individually; `write` writes new ones. The caller holds the project.

    In one transaction disputes are locked before reading them, as an answer in the browser locks its dispute.
    In steps, each step locks its disputes and reads them again.
    """

    def __init__(self, project: Project, catalogue: Catalogue, by: User | None) -> None:
        self.by = by
        second = open_round_two(project=project, by=by)
        # An answer in the browser locks its dispute, too, so it cannot change the values read next.
        lock_rows(Dispute.objects.filter(round__project=project))
        super().__init__(project, catalogue, rounds_of(project))
        assignments = Assignment.objects.filter(round=second, annotator__isnull=False)
        self._assignments = {
            (item, annotator): pk for item, annotator, pk in assignments.values_list(*_ASSIGNMENT_KEY)
        }
        self._answers: dict[int, list[Recorded]] = defaultdict(list)
        self._guideline = second.guideline_id

    def accept(
        self, assignment: int, item: ItemRecord, rater: ImportedRater, scale: Scale, value: float
    ) -> None:
        super().accept(assignment, item, rater, scale, value)
        assert rater.pk is not None
        dispute = self.disputes[item.number, scale.id]
        own = self._assignments[dispute.item_id, rater.pk]
        first = self._first[item.number, rater.number, scale.id]
        self._answers[dispute.pk].append(Recorded(own, scale.id, value, first))

    def write(self, keep: Callable[[], object]) -> None:
        """Write the ratings of each dispute, and settle it if the values met, in one step.

        keep: raises if the caller may no longer write. A dispute that has been decided by then takes no
        value.
        """

        def write(keys: Sequence[int]) -> None:
            keep()
            locked = Dispute.objects.select_for_update(of=("self",)).select_related("round").order_by("pk")
            # Read again: between two steps, raters and adjudicators can work on these disputes.
            disputes = list(locked.filter(pk__in=keys).exclude(status__in=DECIDED))
            rows = [row for dispute in disputes for row in self._answers[dispute.pk]]
            write_recorded(rows, guideline=self._guideline, by=self.by)
            settle_or_reopen_all(disputes, all_current_answers(disputes), self.by)

        write_in_steps(self._answers, write, most=DISPUTES_AT_ONCE)


class RoundTwoCheck(FileCheck):
    def begin_ratings(self, catalogue: Catalogue, round: Round | None) -> None:  # noqa: ARG002
        """Prepare to take ratings. A DomainError states the reason if the project takes none."""
        self.ratings = AnswerCheck(self.project, catalogue, rounds_of(self.project))


class RoundTwoWriting(Writing):
    """A reading that repeats every check, and writes. Round II is opened if it is not open."""

    ratings_are = DataImport.What.ANSWERS

    def write_ratings(self, catalogue: Catalogue, by: User | None, on_progress: OnProgress) -> None:
        """Write the new ratings of the file, or nothing if a line of it is now rejected."""
        if self.refusals.count:
            raise RefusedWhileWritingError
        # Opening Round II lasts, so from here on a worker finishes this import and none removes it.
        self.decide()
        self.ratings = importer = AnswerImporter(self.project, catalogue, by)
        self.parts = {"items": False, "ratings": True}
        self.refuse_on_error(lambda: self.take_all("writing ratings", on_progress))
        if self.refusals.count:
            raise RefusedWhileWritingError
        importer.write(lambda: keep_lease(self.data_import))
