"""Recounts of what lists and overviews count by an index, for the end of every story."""

from collections import Counter

from annotate.core.models import Dispute, DisputeRater, Membership, Project, Role
from annotate.disputes.queries.activity import dispute_counts, open_by_rater
from annotate.disputes.queries.disputes import work_counts

OPEN = Dispute.Status.OPEN


def check_counts() -> None:
    """Compare the counts of every project that has disputes with its rows, one by one."""
    rows = list(DisputeRater.objects.select_related("dispute__round"))
    assert not [row for row in rows if row.since and row.dispute.status != OPEN]
    for project in Project.objects.filter(rounds__disputes__isnull=False).distinct():
        own = [row for row in rows if row.dispute.round.project_id == project.pk]
        statuses = Counter(Dispute.objects.filter(round__project=project).values_list("status", flat=True))
        counts = dispute_counts(project)
        assert {status: getattr(counts, status) for status in Dispute.Status} == {
            status: statuses[status] for status in Dispute.Status
        }
        is_open = [row for row in own if row.dispute.status == OPEN]
        every = Counter(row.rater_id for row in is_open)
        needing = Counter(row.rater_id for row in is_open if row.since)
        found = {each.rater.pk: (each.open, each.needing) for each in open_by_rater(project)}
        assert found == {rater: (count, needing[rater]) for rater, count in every.items()}
        if not project.rounds.filter(number=2).exists():
            continue
        for rater in Membership.objects.filter(project=project, role=Role.ANNOTATOR):
            work = work_counts(rater)
            ended = sum(row.rater_id == rater.pk for row in own) - every[rater.pk]
            expected = (needing[rater.pk], every[rater.pk] - needing[rater.pk], ended)
            assert (work.needing_me, work.waiting, work.done) == expected
