"""The app of the people: projects, rounds, ratings, disputes, agreement."""

from celery import current_app
from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    """Names the app, lets workers give signs, and says how documents, items and ratings are imported."""

    name = "annotate"
    verbose_name = "Annotation"

    def ready(self) -> None:
        """Add what needs the models, which cannot be imported before."""
        from annotate.commands.uploads import MATERIAL_KIND
        from annotate.import_kinds import add_import_kind
        from annotate.worker_signs import GiveSigns

        current_app.steps["worker"].add(GiveSigns)
        add_import_kind(MATERIAL_KIND)
