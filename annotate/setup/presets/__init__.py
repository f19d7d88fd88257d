"""Templates that a project can be started from. The interface calls them templates."""

from annotate.core.specification import ProjectTemplate
from annotate.setup.presets.news_summaries import NEWS_SUMMARIES
from annotate.setup.presets.opinion_summaries import OPINION_SUMMARIES

TEMPLATES: dict[str, ProjectTemplate] = {
    template.key: template for template in (OPINION_SUMMARIES, NEWS_SUMMARIES)
}

__all__ = ["TEMPLATES"]
