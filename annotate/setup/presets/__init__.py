"""Templates for new projects. The interface calls them templates.

Each file in this folder is one, in the format of export and import; NAMES is the order of the list.
"""

from pathlib import Path

from annotate.core.guideline import ProjectTemplate
from annotate.setup.template_file import read_template

FOLDER = Path(__file__).parent
NAMES = (
    *("opinion-summaries", "news-summaries", "rose", "newsroom", "qags", "factscore", "tldr", "mt-bench"),
    *("ultrafeedback", "helpsteer2", "mqm", "esa", "topical-chat", "hanna"),
)
TEMPLATES: dict[str, ProjectTemplate] = {
    key: read_template((FOLDER / f"{key}.yaml").read_bytes(), key=key) for key in NAMES
}
