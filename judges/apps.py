"""The app of the models that judge."""

from celery import current_app
from django.apps import AppConfig
from django.utils.translation import gettext_noop


class JudgesConfig(AppConfig):
    """Names the app, lets workers look for judgments to ask, imports and exports judgments, and adds a tab.

    Admins watch its runs with everything else.
    """

    name = "judges"
    verbose_name = "Judges"

    def ready(self) -> None:
        """Add what needs the models, which cannot be imported before."""
        from annotate.export_tables import add_export_tables
        from annotate.exporting.datasheet import add_telling
        from annotate.import_kinds import add_import_kind
        from annotate.reproduction.papers import add_paper
        from annotate.restoring.restored import add_restorer
        from annotate.results_pages import add_results_pages
        from annotate.unit_parts import add_unit_part
        from annotate.views.page import READERS, add_tab
        from annotate.watching import Watched, add_watched
        from annotate.webhooks.events import add_event
        from judges.commands.judgment_imports import JUDGMENTS_KIND
        from judges.commands.leases import RUN_FINISHED
        from judges.commands.restoring import restore_judges
        from judges.queries.datasheet import judges_in_datasheet
        from judges.queries.export import JUDGE_TABLES
        from judges.queries.results.pages import JUDGES_PAGE
        from judges.queries.watching import needs_of_runs, spending_section, work_waits
        from judges.reproduction.llm_summeval import LLM_SUMMEVAL
        from judges.waking import LookForWork

        current_app.steps["worker"].add(LookForWork)
        add_import_kind(JUDGMENTS_KIND)
        add_export_tables(*JUDGE_TABLES)
        add_results_pages(JUDGES_PAGE)
        add_unit_part("unit_judgments")
        add_telling("judges", judges_in_datasheet)
        add_paper(LLM_SUMMEVAL)
        add_restorer(restore_judges)
        add_watched(Watched("judges", work_waits, needs_of_runs, spending_section))
        add_event(RUN_FINISHED, "a run of judges is finished")
        add_tab(gettext_noop("Judges"), "judges", READERS, before="exports")
