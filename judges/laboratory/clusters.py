"""Disputes and errors of a judge that are about the same thing."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from judges.laboratory.cases import Case, CaseKind

NEAR = 0.15
"""The cosine of two units' words from which on they are about the same thing."""
LEAST_LETTERS = 4
SHOWN_WORDS = 4
_WORD = re.compile(rf"[^\W\d_]{{{LEAST_LETTERS},}}")

_Weights = Mapping[str, float]


@dataclass(frozen=True)
class Cluster:
    """Units that have a direction of the judge's error and words in common, the largest error first."""

    direction: str
    words: tuple[str, ...]
    cases: tuple[Case, ...]

    @property
    def about(self) -> str:
        """What they have in common."""
        where = (
            "disputed"
            if all(case.kind == CaseKind.DISPUTE for case in self.cases)
            else gettext("judge and people")
        )
        return f"{self.direction}, {where}: {', '.join(self.words)}".strip(": ")


def cluster_cases(cases: Sequence[Case], most: int) -> list[Cluster]:
    """Return up to `most` clusters of two units or more, the largest sum of errors and disputes first.

    Words are those of reasons, else of the text, weighted by tf-idf. Units are taken from the largest error
    down; each joins the nearest cluster of its direction by cosine with the cluster's sum of weights, if that
    is at least NEAR, else begins one (leader clustering: Hartigan 1975, ch. 3; no number is chosen).
    """
    learned = sorted(
        (case for case in cases if case.kind != CaseKind.AGREED),
        key=lambda case: (-abs(case.error), case.name),
    )
    weights = _weigh(learned)
    groups: list[list[Case]] = []
    for case in learned:
        near = [
            (_cosine(weights[case.name], _sum(group, weights)), -place)
            for place, group in enumerate(groups)
            if group[0].direction == case.direction
        ]
        cosine, place = max(near, default=(0.0, 0))
        if cosine >= NEAR:
            groups[-place].append(case)
        else:
            groups.append([case])
    several = [group for group in groups if len(group) > 1]
    several.sort(key=lambda group: -sum(abs(case.error) + (case.kind == CaseKind.DISPUTE) for case in group))
    return [
        Cluster(group[0].direction, _shared_words(group, weights), tuple(group)) for group in several[:most]
    ]


def _weigh(cases: Sequence[Case]) -> dict[str, _Weights]:
    words = {
        case.name: Counter(_WORD.findall((" ".join(case.reasons) or case.text).lower())) for case in cases
    }
    in_cases = Counter(word for counted in words.values() for word in counted)
    return {
        name: {word: times * math.log(1 + len(cases) / in_cases[word]) for word, times in counted.items()}
        for name, counted in words.items()
    }


def _sum(group: Sequence[Case], weights: Mapping[str, _Weights]) -> _Weights:
    total: Counter[str] = Counter()
    for case in group:
        total.update(weights[case.name])
    return total


def _cosine(first: _Weights, second: _Weights) -> float:
    product = sum(weight * second.get(word, 0.0) for word, weight in first.items())
    lengths = math.hypot(*first.values()) * math.hypot(*second.values())
    return product / lengths if lengths else 0.0


def _shared_words(group: Sequence[Case], weights: Mapping[str, _Weights]) -> tuple[str, ...]:
    shared = {word for case in group for word in weights[case.name]}
    shared = {word for word in shared if sum(word in weights[case.name] for case in group) > len(group) / 2}
    total = _sum(group, weights)
    return tuple(sorted(shared, key=lambda word: (-total[word], word))[:SHOWN_WORDS])
