"""Where a project's guidelines show a picture."""

import json

from annotate.models import Project
from annotate.queries.guidelines import current_guideline


def places_of_image(project: Project, key: str) -> list[str]:
    """Return in words where a picture is shown, now or in a version that ratings were given under."""
    guideline = current_guideline(project)
    places = ["the guidelines for all dimensions"] if key in guideline.guidelines else []
    places += [each.name for each in guideline.dimensions if key in each.guidelines]
    frozen = project.guideline_versions.order_by("version").values_list("version", "content")
    return places + [
        f"guideline version {version}" for version, content in frozen if key in json.dumps(content)
    ]
