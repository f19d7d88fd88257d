"""Inputs and results of panels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from agreement.comparison.between_judges import (
    NoWeights,
    Weights,
    combine,
    learn_weights,
    majority_of_categories,
    spread,
)
from agreement.streams import Stream
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.models import Project
from annotate.core.rounds import last_round
from judges.core.models import Judge, Judgment, Panel
from judges.endpoints.archiving import user_of
from judges.laboratory.queries.cases import Part, documents_of, is_in_part
from judges.results.queries.scores import (
    Material,
    material_of,
    mean_of_samples,
    samples_of,
    value_of_samples,
)

Values = npt.NDArray[np.float64]
Rule = Panel.Rule


@dataclass(frozen=True)
class PanelValues:
    """A panel's values on a dimension, by item, and the members' values (members, items).

    problem: the reason for missing values, as a message.
    """

    dimension: FrozenDimension
    members: Values
    values: Values
    spread: Values
    weights: Weights | None = None
    problem: str = ""

    @property
    def mean_spread(self) -> float | None:
        """The mean over items with a value of the standard deviation among members; None without any."""
        known = self.spread[~np.isnan(self.values) & ~np.isnan(self.spread)]
        return float(known.mean()) if known.size else None


@dataclass(frozen=True)
class PanelFigures:
    """A newly computed panel: its items, its values by dimension, and a digest of the inputs."""

    items: Sequence[int]
    by_dimension: Sequence[PanelValues]
    digest: str
    development_documents: Sequence[str] = field(default_factory=tuple)


def members_of(panel: Panel) -> list[Judge]:
    """Return the judges of a panel in order. One query."""
    return [member.judge for member in panel.members.select_related("judge")]


def possible_members(project: Project) -> QuerySet[Judge]:
    """Return the judges that a panel may combine: the ones with values of single outputs, and no panels."""
    judgments = Judgment.objects.filter(judge=OuterRef("pk"))
    judges = Judge.objects.filter(Exists(judgments), project=project, panel=None, archived_at=None)
    return judges.exclude(Exists(judgments.filter(other__isnull=False))).order_by("name")


def refusal_of_change(panel: Panel) -> str:
    """Return the reason why a panel can no longer change; empty while it is unused."""
    if Judgment.objects.filter(judge=panel.judge, is_corrected=True).exists():
        message = gettext("People corrected values of {name}, so you cannot change it; make another panel.")
        return message.format(name=panel.judge.name)
    if user := user_of(panel.judge, besides=(Judgment,)):
        return gettext("{name} is in use ({things}), so you cannot change it; make another panel.").format(
            name=panel.judge.name, things=user
        )
    return ""


def panel_figures(panel: Panel) -> PanelFigures:
    """Compute a panel from the present values of its members and people. Up to twelve queries."""
    project, members = panel.judge.project, members_of(panel)
    last = last_round(project)
    # Only what learns from the project's documents for teaching sees what people gave there.
    with_development = panel.learns_from_parts
    material = material_of(project, last, current_guideline(project), with_development=with_development)
    samples = samples_of(members, material)
    in_development = development(panel, material)
    found = []
    for dimension in material.dimensions:
        said = [value_of_samples(dimension, samples[judge.pk, dimension.key].values) for judge in members]
        human = mean_of_samples(material.human(dimension.key).T)
        found.append(_values(panel, dimension, np.array(said), human, in_development))
    documents = {
        key for key, is_in in zip(material.document_keys, in_development.tolist(), strict=True) if is_in
    }
    # The digest covers the inputs of the rule: members' values, and the weights that ratings determine.
    hashed = hashlib.sha256(material.items.tobytes())
    for each in found:
        hashed.update(each.dimension.key.encode())
        # NaN has several bit patterns, so each gap gets the same number.
        hashed.update(np.round(np.nan_to_num(each.members, nan=-1e9), 9).tobytes())
        if panel.rule == Rule.WEIGHTS:
            hashed.update(repr(each.weights).encode())
    return PanelFigures(material.items.tolist(), found, hashed.hexdigest(), sorted(documents))


def share_for_teaching(project: Project, rule: str) -> float | None:
    """Return the share of documents for teaching, if there are any to learn weights from; else None."""
    teaching = len(documents_of(project, Part.TEACH)) if rule == Rule.WEIGHTS else 0
    return teaching / project.documents.count() if teaching else None


def development(panel: Panel, material: Material) -> npt.NDArray[np.bool_]:
    """Return (items,): True if weights are learned from the item's document.

    Whole documents are sampled, so that a document's outputs are all on one side. The sample depends on keys,
    so that a copy of the project has the same one.
    """
    if panel.learns_from_parts:
        return is_in_part(panel.judge.project, material, Part.TEACH)
    keys = sorted(set(material.document_keys))
    if panel.development_share is None or not keys:
        return np.zeros(len(material.items), dtype=bool)
    # One document or more on each side: to learn from, and to have values for.
    count = max(1, min(round(panel.development_share * len(keys)), len(keys) - 1))
    stream = Stream(panel.judge.project.seed).of("panel", panel.judge.name, "development")
    drawn = {keys[index] for index in stream.generator().permutation(len(keys))[:count]}
    return np.array([key in drawn for key in material.document_keys])


def _values(
    panel: Panel,
    dimension: FrozenDimension,
    said: Values,
    human: Values,
    in_development: npt.NDArray[np.bool_],
) -> PanelValues:
    nothing = np.full(said.shape[1], np.nan)
    if dimension.is_named:
        if panel.rule != Rule.MAJORITY:
            problem = gettext(
                "{dimension} has named categories; only a majority can decide between them."
            ).format(dimension=dimension.name)
            return PanelValues(dimension, said, nothing, nothing, None, problem)
        return PanelValues(dimension, said, majority_of_categories(said), nothing)
    if panel.rule != Rule.WEIGHTS:
        return PanelValues(dimension, said, combine(said, panel.rule), spread(said))
    learned = learn_weights(said[:, in_development], human[in_development])
    if isinstance(learned, NoWeights):
        return PanelValues(dimension, said, nothing, nothing, None, f"{dimension.name}: {learned.reason}")
    values = combine(said, panel.rule, learned)
    values[in_development] = np.nan  # weights were fitted there: values there would look better than they are
    # Learned weights can lead beyond the ends of the scale.
    values = np.clip(values, dimension.scale_minimum, dimension.scale_maximum)
    return PanelValues(dimension, said, values, spread(said), learned)
