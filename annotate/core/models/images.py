from pathlib import Path

from django.db import models


def stored_name(image: "GuidelineImage", _name: str) -> str:
    """Return the storage name of the image: under the project, by its content."""
    return str(Path("images") / str(image.project_id) / image.key)


class GuidelineImage(models.Model):
    """An image of a project's guidelines, written in Markdown as `![what it shows](image:key)`."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="images")
    key = models.CharField(max_length=24, help_text="From its content, with the ending of its format.")
    name = models.CharField(max_length=150, help_text="Of the file that was uploaded.")
    file = models.FileField(upload_to=stored_name, max_length=150)
    added_at = models.DateTimeField(auto_now_add=True)
    added_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["added_at", "pk"]
        constraints = [models.UniqueConstraint("project", "key", name="image_once_in_project")]

    def __str__(self) -> str:
        return self.name

    @property
    def markdown(self) -> str:
        return f"![{Path(self.name).stem}](image:{self.key})"
