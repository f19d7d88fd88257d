"""Training cases for judges: units with people's value and reasons, and their clusters by subject."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from django.utils.translation import gettext

from judges.methods.similarity import WordWeights, cosine, inverse_frequencies, weigh_words, words_of


class CaseKind(StrEnum):
    """The reason why a unit is a useful case."""

    DISPUTE = "dispute"
    DIFFERENCE = "difference"
    AGREED = "agreed"


@dataclass(frozen=True)
class Case:
    """A unit of a development document.

    name: the same in every copy of a project. before: people's values of Round I. after: their last values,
    or the decided one. value: their settled value, or their mean. judge: the judge's value, if it has one.
    rationale: the judge's reason, without the score. document: the content of its source. reasons: the
    reasons of raters with the settled value, of the discussion, and of the person who decided.
    """

    item: int
    name: str
    kind: CaseKind
    before: tuple[float, ...]
    value: float
    judge: float | None = None
    text: str = ""
    document: str = ""
    rationale: str = ""
    reasons: tuple[str, ...] = ()
    after: tuple[float, ...] = ()

    @property
    def point(self) -> int | None:
        """Return the point of the scale nearest to people's value, None if two are equally near.

        For two points the median of people's values decides, because more people hold it. If the median is a
        half, too, the two camps are equally large, and an example must not teach one of them as the truth.
        """
        value = median(self.after) if self.after and self._is_half(self.value) else self.value
        return None if self._is_half(value) else math.floor(value + 0.5)

    @property
    def is_unanimous(self) -> bool:
        """Return True if people ended with one value."""
        return len(set(self.after)) == 1

    @staticmethod
    def _is_half(value: float) -> bool:
        return math.isclose(value % 1, 0.5)

    @property
    def error(self) -> float:
        """The judge's value minus people's value; 0 if the judge has none."""
        return 0.0 if self.judge is None else self.judge - self.value

    @property
    def direction(self) -> str:
        """The direction of a judge's error of half a point or more: too high or too low."""
        if self.error >= 0.5:
            return gettext("too high")
        return gettext("too low") if self.error <= -0.5 else gettext("as people")


def most_different(cases: Iterable[Case]) -> list[Case]:
    """Return the cases with a judge's value, the largest difference from people first."""
    judged = [case for case in cases if case.judge is not None]
    return sorted(judged, key=lambda case: (-abs(case.error), case.name))


NEAR = 0.2
"""The least cosine of a unit with a cluster. At 0.15 one cluster takes half of the units on consistency and
relevance (news summaries, 30 documents); at 0.3 every second unit on relevance is in none."""
SHOWN_WORDS = 4


@dataclass(frozen=True)
class Cluster:
    """Units with a common direction of the judge's error and common words, the largest error first."""

    direction: str
    words: tuple[str, ...]
    cases: tuple[Case, ...]

    @property
    def about(self) -> str:
        where = (
            "disputed"
            if all(case.kind == CaseKind.DISPUTE for case in self.cases)
            else gettext("judge and people")
        )
        return f"{self.direction}, {where}: {', '.join(self.words)}".strip(": ")


def cluster_cases(cases: Sequence[Case], most: int) -> list[Cluster]:
    """Return up to `most` clusters of several documents, the largest sum of errors and disputes first.

    Words come from people's reasons and the judge's rationale, weighted by tf-idf over all cases. Words of
    the unit's own output and document do not count, because they describe its topic and not its faults.

    Units are processed from the largest error down. Each joins the nearest cluster of its direction if the
    similarity is at least NEAR, or else starts a cluster (leader clustering: Hartigan 1975, ch. 3; the number
    of clusters is not preset). The similarity is the cosine with the weights of the cluster's other
    documents. A unit without words is in no cluster.
    """
    words = {case.name: _words_of_reasons(case) for case in cases}
    frequencies = inverse_frequencies(list(words.values()))
    weights = {name: weigh_words(own, frequencies) for name, own in words.items()}
    learned = sorted(
        (case for case in cases if case.kind != CaseKind.AGREED and weights[case.name]),
        key=lambda case: (-abs(case.error), case.name),
    )
    groups: list[list[Case]] = []
    for case in learned:
        near = []
        for index, group in enumerate(groups):
            if group[0].direction == case.direction:
                others = [one for one in group if not case.document or one.document != case.document]
                near.append((cosine(weights[case.name], _sum(others, weights)), -index))
        closeness, index = max(near, default=(0.0, 0))
        if closeness >= NEAR:
            groups[-index].append(case)
        else:
            groups.append([case])
    several = [group for group in groups if len(group) > 1]
    several.sort(key=lambda group: -sum(abs(case.error) + (case.kind == CaseKind.DISPUTE) for case in group))
    return [
        Cluster(group[0].direction, _shared_words(group, weights), tuple(group)) for group in several[:most]
    ]


def _words_of_reasons(case: Case) -> list[str]:
    own = set(words_of(f"{case.text} {case.document}"))
    return [word for word in words_of(" ".join([*case.reasons, case.rationale])) if word not in own]


def _sum(group: Sequence[Case], weights: Mapping[str, WordWeights]) -> WordWeights:
    total: Counter[str] = Counter()
    for case in group:
        total.update(weights[case.name])
    return total


def _shared_words(group: Sequence[Case], weights: Mapping[str, WordWeights]) -> tuple[str, ...]:
    shared = {word for case in group for word in weights[case.name]}
    shared = {word for word in shared if sum(word in weights[case.name] for case in group) > len(group) / 2}
    total = _sum(group, weights)
    return tuple(sorted(shared, key=lambda word: (-total[word], word))[:SHOWN_WORDS])
