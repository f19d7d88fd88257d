"""Clusters of errors: by the reasons of the judge and of people, over documents."""

from dataclasses import replace

import numpy as np
import pytest

from judges.laboratory.cases import Case, CaseKind, cluster_cases
from judges.methods.reading import Readable
from judges.methods.rts import METHOD
from tests.published.news_summeval import SCALES, lines, summaries

ABRUPT = "It jumps between statements without transitions."
SHALLOW = "Important details are missing."


def make_case(
    name: str, *, document: str, text: str = "A text.", rationale: str = "", judge: float = 4
) -> Case:
    return Case(
        item=1,
        name=name,
        kind=CaseKind.DIFFERENCE,
        before=(2,),
        value=2,
        judge=judge,
        text=text,
        document=document,
        rationale=rationale,
    )


def names(cases: list[Case]) -> list[list[str]]:
    return [sorted(case.name for case in cluster.cases) for cluster in cluster_cases(cases, 10)]


def test_units_with_one_rationale_are_a_cluster_over_documents() -> None:
    cases = [
        make_case("a", document="Floods.", rationale=ABRUPT),
        make_case("b", document="Football.", rationale=f"{ABRUPT} Score it low."),
        make_case("c", document="Floods.", rationale=SHALLOW),
        make_case("d", document="Football.", rationale=SHALLOW),
        make_case("e", document="Films.", rationale=SHALLOW, judge=0),
    ]
    assert names(cases) == [["a", "b"], ["c", "d"]]
    first, _ = cluster_cases(cases, 10)
    assert first.about.startswith("too high, judge and people: ")
    assert "transitions" in first.about


def test_reasons_of_people_count_like_the_rationale() -> None:
    cases = [
        replace(make_case("a", document="Floods."), reasons=(ABRUPT,)),
        make_case("b", document="Football.", rationale=ABRUPT),
    ]
    assert names(cases) == [["a", "b"]]


def test_words_of_the_own_document_or_output_bind_no_units() -> None:
    about = "flooded rivers destroyed bridges"
    cases = [
        make_case("a", document=f"Near Bonn {about}.", rationale=f"Says that {about}."),
        make_case("b", document="Bonn.", text=f"Then {about}.", rationale=f"Knows that {about}."),
    ]
    assert names(cases) == []
    assert names([replace(case, document=case.name, text="") for case in cases]) == [["a", "b"]]


def test_units_of_one_document_or_without_words_are_no_cluster() -> None:
    same = [make_case(name, document="Floods.", rationale=ABRUPT) for name in "ab"]
    assert names(same) == []
    assert names([make_case("a", document="Floods."), make_case("b", document="Films.")]) == []


def published_cases(dimension: str, documents: int) -> list[Case]:
    """Return units of the first documents of the news summaries with a model's value and rationale."""
    sources = {line["id"]: line["source"] for line in lines("documents.jsonl.gz")}
    chosen = sorted(sources)[:documents]
    replies = {
        (line["id"], line["system"]): METHOD.read(line["response"], SCALES[dimension])
        for line in lines("responses_gpt-3.5-turbo-0301.jsonl.gz")
        if line["method"] == "rts" and line["dimension"] == dimension and line["id"] in chosen
    }
    cases = []
    for line in summaries():
        reading = replies.get((line["id"], line["system"]))
        if isinstance(reading, Readable):
            scores = [float(person[dimension]) for person in line["expert_annotations"]]
            value = float(np.mean(scores))
            case = make_case(
                f"{line['id']}/{line['system']}",
                document=sources[line["id"]],
                text=line["summary"],
                rationale=reading.rationale,
                judge=reading.value,
            )
            kind = CaseKind.DIFFERENCE if abs(reading.value - value) >= 1 else CaseKind.AGREED
            cases.append(replace(case, value=value, before=tuple(scores), kind=kind))
    return cases


@pytest.mark.parametrize(("dimension", "least"), [("coherence", 0.8), ("relevance", 0.5)])
def test_clusters_of_real_rationales_cross_documents(dimension: str, least: float) -> None:
    cases = published_cases(dimension, 10)
    clusters = cluster_cases(cases, 1000)
    assert len(clusters) >= 5
    assert all(len({case.document for case in cluster.cases}) > 1 for cluster in clusters)
    learned = sum(case.kind != CaseKind.AGREED for case in cases)
    assert sum(len(cluster.cases) for cluster in clusters) >= least * learned
