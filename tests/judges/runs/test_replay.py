from judges.core.models import Judgment, Run
from judges.runs.commands.collecting import collect
from judges.runs.commands.runs import start_run
from tests.factories import make_project
from tests.judges.factories import MODEL, make_endpoint, make_judge, make_run


def test_replay_server_counts_its_calls(replay, transactional_db):
    """Texts that it does not know are refused, so each judgment fails with its reason after one call."""
    server = replay()
    cast = make_project()
    judge = make_judge(cast.project, endpoint=make_endpoint(cast.project, server.base_url), model=MODEL)
    run = start_run(run=make_run(cast.project, judge))
    Run.objects.update(untried_judges=None)  # or the rest would not be asked
    collect(run=run.pk, seconds=30)
    failed = Judgment.objects.filter(run=run, status=Judgment.Status.FAILED)
    assert failed.count() == 4
    assert "no summary of this data set" in failed[0].reason
    assert server.stats()["status"]["400"] == 4
