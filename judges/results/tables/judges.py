"""The page of judges and people: one section for all judges together, and one for each."""

from collections.abc import Sequence

from django.utils.translation import gettext, gettext_lazy

from annotate.core.models import Project, Round
from annotate.results.page import Section
from annotate.results.registry import Chosen
from annotate.results.table import Table
from judges.core.models import Judge
from judges.results.queries.answers import answers_beside_people
from judges.results.queries.comparison import guideline_of
from judges.results.tables.by_judge import tables_of_scores, tables_of_verdicts
from judges.results.tables.compared import ComparedJudges, compared_values
from judges.results.tables.corrected import with_count_of_corrected
from judges.results.tables.gaps import with_gaps
from judges.results.tables.indicators import indicator_tables
from judges.results.tables.other_kinds import table_of_answers
from judges.results.tables.parameters import SHARED, counts_corrected
from judges.results.tables.together import tables_together

NO_JUDGMENTS = gettext_lazy("This judge has no judgments yet.")
_ANSWERS_TOGETHER = gettext_lazy("Its answers to other questions are in the table of all judges.")
NO_SHARED_ITEMS = gettext_lazy(
    "There is no item for which every judge has a value. Compare each judge on its own items."
)


def judges_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return all tables about judges and people.

    Raises NoJudgesError if there is no judge. Twelve queries, one more for each judge that compares,
    and three for questions of other kinds.
    """
    found = compared_values(project, chosen)
    answers = answers_beside_people(
        project,
        found.judges,
        guideline_of(project, found.round),
        found.round,
        with_corrected=counts_corrected(chosen),
        shared_items=chosen.get("units") == SHARED,
    )
    together = [*tables_together(found), *indicator_tables(found), *table_of_answers(answers)]
    nothing = str(NO_SHARED_ITEMS) if chosen.get("units") == SHARED else str(NO_JUDGMENTS)
    answering = {each.judge.pk for each in answers}
    of_each = [
        Section(
            judge.name,
            *_of(found, judge, str(_ANSWERS_TOGETHER) if judge.pk in answering else nothing),
            anchor_of(judge),
        )
        for judge in found.judges
    ]
    says = _against(found.round)
    if chosen.get("units") == SHARED:
        shared = gettext("On each dimension only the items for which every judge has a value.")
        says = f"{says} {shared}"
    sections = [Section(gettext("All judges"), says, together, "all-judges"), *of_each]
    sections = with_gaps(sections, found.judges, chosen, only_unread=True)
    return with_count_of_corrected(sections, found.judges, chosen)


def anchor_of(judge: Judge) -> str:
    """Return where the section of a judge is on the page."""
    return f"judge-{judge.pk}"


def _of(found: ComparedJudges, judge: Judge, nothing: str) -> tuple[str, Sequence[Table]]:
    key = anchor_of(judge)
    scored = tables_of_scores(key, judge.name, found.scored_by(judge))
    tables = scored or tables_of_verdicts(key, judge.name, found.compared_by(judge))
    return ("" if tables else nothing), tables


def _against(round: Round | None) -> str:
    if round is None:
        return gettext("There are no ratings yet: only results without people are defined.")
    against = (
        gettext("Compared with people’s values at the end of {round}, which is still open.")
        if round.is_open
        else gettext("Compared with people’s values at the end of {round}.")
    )
    return against.format(round=round)
