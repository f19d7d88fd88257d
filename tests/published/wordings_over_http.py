"""Second wordings and stars of Shen et al. (2023), asked for over HTTP."""

from annotate.core.models import Project
from judges.core.models import Run
from judges.interchange.reproduction.llm_summeval import MODEL, SECOND
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.replay import replaying
from tests.judges.running import running, worked

# Whose replies the server has, the name of the model in a project, and the methods of Concord's judges.
WORDINGS = (("gpt-3.5-alt", SECOND, ("rts", "mcq")), ("gpt-3.5-stareval", MODEL, ("stars",)))


def judge_over_http(project: Project, *, calls_in_flight: int, seconds: float = 60) -> list[Run]:
    """Let each judge judge all items of a project on all dimensions; return the runs.

    The server knows a reply by the summary, and takes turns for summaries that are alike: with one call at a
    time each gets its own.
    """
    runs = []
    for file, model, methods in WORDINGS:
        with replaying(model=file) as server:
            endpoint = make_endpoint(project, server.base_url, calls_in_flight=calls_in_flight)
            judges = [make_judge(project, method, endpoint=endpoint, model=model) for method in methods]
            runs.append(worked(running(project, *judges), seconds))
    return runs
