"""The app of the people: projects, rounds, ratings, disputes, agreement."""

from celery import current_app
from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    """Names the app, lets workers look for work by themselves, and says what comes in and what goes out."""

    name = "annotate"
    verbose_name = "Annotation"

    def ready(self) -> None:
        """Add what needs the models, which cannot be imported before."""
        from annotate.commands.uploads import MATERIAL_KIND
        from annotate.export_tables import add_export_tables
        from annotate.import_kinds import add_import_kind
        from annotate.queries.export import OWN_TABLES
        from annotate.queries.results.pages import OWN_PAGES
        from annotate.reproduction.papers import add_paper
        from annotate.reproduction.summeval_op import SUMMEVAL_OP
        from annotate.results_pages import add_results_pages
        from annotate.waking import LookForDeliveries, LookForDigests
        from annotate.worker_signs import GiveSigns

        current_app.steps["worker"].add(GiveSigns)
        current_app.steps["worker"].add(LookForDigests)
        current_app.steps["worker"].add(LookForDeliveries)
        add_import_kind(MATERIAL_KIND)
        add_export_tables(*OWN_TABLES)
        add_paper(SUMMEVAL_OP)
        add_results_pages(*OWN_PAGES)
