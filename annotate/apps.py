"""The app of annotators: projects, rounds, ratings, disputes, agreement."""

from celery import current_app
from django.apps import AppConfig
from django.utils.translation import gettext, ngettext


class AnnotateConfig(AppConfig):
    """Configures the app, finds jobs for workers, and registers imports and exports."""

    name = "annotate"
    verbose_name = "Annotation"

    def ready(self) -> None:
        # Models can be imported only once Django has loaded all apps.
        from annotate.core.models import DataImport
        from annotate.core.page import FRAME
        from annotate.core.translation import translate_with
        from annotate.disputes.commands.digests import DIGEST_MAIL, NUDGE_MAIL
        from annotate.disputes.commands.recorded import RoundTwoCheck, RoundTwoWriting
        from annotate.exports.commands import EXPORT_JOB, PUSH_JOB
        from annotate.exports.tables import OWN_TABLES
        from annotate.extension import Extension, extend
        from annotate.leaderboard.results import LEADERBOARD_PAGE
        from annotate.material.commands.uploads import IMPORT_JOB, PREVIEW_JOB
        from annotate.material.page import MATERIAL_KIND
        from annotate.people.commands import INVITATION_MAIL
        from annotate.people.mails import ACCOUNT_MAIL, NOTICE_MAIL
        from annotate.periodic_tasks import (
            AddUpChanges,
            RemoveLeftovers,
            RemoveOldEntries,
            RevealSessions,
            SendDueDigests,
            TakeUpJobs,
            TellOfDeadlines,
        )
        from annotate.quality.queries import SIGNALS
        from annotate.rating.commands.rounds import ROUND_JOB
        from annotate.results.commands import RESULT_JOB
        from annotate.results.queries.disagreements import AMONG_PEOPLE, SPREADS
        from annotate.results.queries.pages import OWN_PAGES
        from annotate.results.queries.splits import SPLIT_AFTER_DISCUSSION, SPLITS
        from annotate.results.reproduction.summeval_op import SUMMEVAL_OP
        from annotate.setup.queries import setup_on_page
        from annotate.versions.commands import VERSION_JOB
        from annotate.watching.commands import Heartbeat
        from annotate.watching.queries.overview import memberships_on_page
        from annotate.webhooks.commands import DELIVERY_JOB

        current_app.steps["worker"].update(
            (
                Heartbeat,
                TakeUpJobs,
                SendDueDigests,
                RemoveLeftovers,
                RemoveOldEntries,
                RevealSessions,
                AddUpChanges,
                TellOfDeadlines,
            )
        )
        translate_with(gettext, ngettext)
        FRAME.memberships, FRAME.setup = memberships_on_page, setup_on_page
        extend(
            Extension(
                app="annotate",
                jobs=[
                    *(PREVIEW_JOB, IMPORT_JOB, ROUND_JOB, EXPORT_JOB, PUSH_JOB, RESULT_JOB, DELIVERY_JOB),
                    VERSION_JOB,
                    *(INVITATION_MAIL, NUDGE_MAIL, NOTICE_MAIL, ACCOUNT_MAIL, DIGEST_MAIL),
                ],
                import_kinds=[MATERIAL_KIND],
                import_readings={DataImport.What.ANSWERS: (RoundTwoCheck, RoundTwoWriting)},
                export_tables=OWN_TABLES,
                results_pages=(*OWN_PAGES, LEADERBOARD_PAGE),
                disagreements=[AMONG_PEOPLE, SPLIT_AFTER_DISCUSSION],
                results_parts=[SPREADS, SPLITS, SIGNALS],
                papers=[SUMMEVAL_OP],
            )
        )
