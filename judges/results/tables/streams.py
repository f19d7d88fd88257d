"""Random streams of statistics about judges: one for each judge, or pair of judges, on a dimension."""

from agreement import Stream
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from judges.core.models import Judge, Metric


def stream_of_judge(project: Project, judge: Judge, dimension: FrozenDimension) -> Stream:
    return Stream(project.seed).of("judge", judge.name, dimension.key)


def stream_of_metric(project: Project, metric: Metric, dimension: FrozenDimension) -> Stream:
    return Stream(project.seed).of("metric", metric.name, dimension.key)


def stream_of_pair(project: Project, rts: Judge, mcq: Judge, dimension: FrozenDimension) -> Stream:
    """Return the stream for all statistics between two judges on a dimension: R, above all."""
    return Stream(project.seed).of("judges", rts.name, mcq.name, dimension.key)


def stream_of_people(project: Project, dimension: FrozenDimension) -> Stream:
    """Return the stream of people alone on a dimension, the same as on the pages about people."""
    return Stream(project.seed).of("people", dimension.key)
