"""Templates that people saved or imported, to begin projects from."""

from django.db import models


class SavedTemplate(models.Model):
    """A template of one person; others get it as a file."""

    owner = models.ForeignKey("annotate.User", models.CASCADE, related_name="templates")
    name = models.CharField(max_length=150)
    content = models.TextField(help_text="The file; see annotate.setup.template_file.")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-saved_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> str:
        """What it is called in forms and addresses, beside the templates that come with Concord."""
        return f"own-{self.pk}"
