"""What figures about judges are drawn with: a stream for each judge, or pair of judges, on a dimension."""

from agreement import Stream
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from judges.core.models import Judge, Metric


def stream_of_judge(project: Project, judge: Judge, dimension: FrozenDimension) -> Stream:
    """Return the stream of everything about one judge and people on a dimension."""
    return Stream(project.seed).of("judge", judge.name, dimension.key)


def stream_of_metric(project: Project, metric: Metric, dimension: FrozenDimension) -> Stream:
    """Return the stream of everything about a metric and people on a dimension."""
    return Stream(project.seed).of("metric", metric.name, dimension.key)


def stream_of_pair(project: Project, rts: Judge, mcq: Judge, dimension: FrozenDimension) -> Stream:
    """Return the stream of everything about two judges and each other on a dimension: R, above all."""
    return Stream(project.seed).of("judges", rts.name, mcq.name, dimension.key)


def stream_of_people(project: Project, dimension: FrozenDimension) -> Stream:
    """Return the stream of people alone on a dimension: that of the pages about people."""
    return Stream(project.seed).of("people", dimension.key)
