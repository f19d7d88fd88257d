"""Clusters of disputes and judge errors with the same subject."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from judges.laboratory.cases import Case, CaseKind
from judges.methods.similarity import WordWeights, cosine, inverse_frequencies, weigh_words, words_of

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
    weights = _weigh(cases)
    learned = sorted(
        (case for case in cases if case.kind != CaseKind.AGREED and weights[case.name]),
        key=lambda case: (-abs(case.error), case.name),
    )
    groups: list[list[Case]] = []
    for case in learned:
        near = [
            (cosine(weights[case.name], _sum(_cases_of_other_documents(group, case), weights)), -index)
            for index, group in enumerate(groups)
            if group[0].direction == case.direction
        ]
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


def _weigh(cases: Sequence[Case]) -> dict[str, WordWeights]:
    words = {case.name: _words_of_reasons(case) for case in cases}
    frequencies = inverse_frequencies(list(words.values()))
    return {name: weigh_words(own, frequencies) for name, own in words.items()}


def _words_of_reasons(case: Case) -> list[str]:
    own = set(words_of(f"{case.text} {case.document}"))
    return [word for word in words_of(" ".join([*case.reasons, case.rationale])) if word not in own]


def _cases_of_other_documents(group: Sequence[Case], case: Case) -> list[Case]:
    return [other for other in group if not case.document or other.document != case.document]


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
