"""The app of the people: projects, rounds, ratings, disputes, agreement."""

from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    """Names the app, and says how files of documents, items and ratings are imported."""

    name = "annotate"
    verbose_name = "Annotation"

    def ready(self) -> None:
        """Add what needs the models, which cannot be imported before."""
        from annotate.commands.uploads import MATERIAL_KIND
        from annotate.import_kinds import add_import_kind

        add_import_kind(MATERIAL_KIND)
