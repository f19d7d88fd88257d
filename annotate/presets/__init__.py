"""Templates that a project can be started from. The interface calls them templates."""

from annotate.presets.news_summaries import NEWS_SUMMARIES
from annotate.presets.opinion_summaries import OPINION_SUMMARIES
from annotate.specification import ProjectTemplate

TEMPLATES: dict[str, ProjectTemplate] = {
    template.key: template for template in (OPINION_SUMMARIES, NEWS_SUMMARIES)
}

__all__ = ["TEMPLATES"]
