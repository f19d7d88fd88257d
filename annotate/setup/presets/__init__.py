"""Templates for new projects. The interface calls them templates.

Each file in this folder is one, in the format of export and import; NAMES is the order of the list.
"""

from pathlib import Path

from annotate.core.guideline import ProjectTemplate
from annotate.setup.presets.news_summaries import NEWS_SUMMARIES
from annotate.setup.presets.opinion_summaries import OPINION_SUMMARIES
from annotate.setup.template_file import read_template

FOLDER = Path(__file__).parent
NAMES = (
    *("rose", "newsroom", "qags", "factscore", "tldr", "mt-bench", "ultrafeedback", "helpsteer2"),
    *("mqm", "esa", "topical-chat", "hanna"),
)


def read_preset(key: str) -> ProjectTemplate:
    return read_template((FOLDER / f"{key}.yaml").read_bytes(), key=key)


TEMPLATES: dict[str, ProjectTemplate] = {
    template.key: template
    for template in (OPINION_SUMMARIES, NEWS_SUMMARIES, *(read_preset(name) for name in NAMES))
}

__all__ = ["TEMPLATES"]
