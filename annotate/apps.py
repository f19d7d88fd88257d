"""The app of the people: projects, rounds, ratings, disputes, agreement."""

from celery import current_app
from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    """Names the app, lets workers look for work by themselves, and says what comes in and what goes out."""

    name = "annotate"
    verbose_name = "Annotation"

    def ready(self) -> None:
        """Add what needs the models, which cannot be imported before."""
        from annotate.core.models import DataImport
        from annotate.core.page import FRAME
        from annotate.disputes.commands.recorded import RoundTwoCheck, RoundTwoWriting
        from annotate.exports.tables import OWN_TABLES
        from annotate.extension import Extension, extend
        from annotate.material.commands.uploads import MATERIAL_KIND
        from annotate.periodic_tasks import (
            AddUpChanges,
            RemoveLeftovers,
            RemoveOldEntries,
            SealAuditLog,
            SendDueDeliveries,
            SendDueDigests,
            TakeUpJobs,
            TellOfDeadlines,
        )
        from annotate.quality.queries import SIGNALS
        from annotate.results.queries.pages import OWN_PAGES
        from annotate.results.queries.spreads import SPREADS
        from annotate.results.reproduction.summeval_op import SUMMEVAL_OP
        from annotate.setup.queries import setup_on_page
        from annotate.watching.heartbeat import Heartbeat
        from annotate.watching.queries.needs import work_waits

        current_app.steps["worker"].update(
            (
                Heartbeat,
                TakeUpJobs,
                SendDueDigests,
                SendDueDeliveries,
                RemoveLeftovers,
                RemoveOldEntries,
                SealAuditLog,
                AddUpChanges,
                TellOfDeadlines,
            )
        )
        FRAME.work_waits, FRAME.setup = work_waits, setup_on_page
        extend(
            Extension(
                app="annotate",
                import_kinds=[MATERIAL_KIND],
                import_readings={DataImport.What.ANSWERS: (RoundTwoCheck, RoundTwoWriting)},
                export_tables=OWN_TABLES,
                results_pages=OWN_PAGES,
                results_parts=[SPREADS, SIGNALS],
                papers=[SUMMEVAL_OP],
            )
        )
