"""A small project in which one system's judge can be trusted, one's cannot, and one's cannot be told."""

from judges.core.models import Judge, RoutingPolicy
from judges.core.specification import PolicySpec
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgments

DOCUMENTS = 30
TRUSTED, CONSTANT, DOUBTED = "system-1", "system-2", "system-3"


def routing_project(*, documents: int = DOCUMENTS, annotators: int = 3, raters: int = 2) -> Cast:
    """Make it: three systems, two dimensions; no round is open."""
    cast = make_project(
        dimensions=("fluency", "coherence"),
        documents=documents,
        systems=3,
        annotators=annotators,
        raters_per_item=raters,
    )
    rts = make_judge(cast.project, "rts", name="Reasoner")
    mcq = make_judge(cast.project, "mcq", name="Chooser")
    make_judgments(rts, cast, rts_value)
    make_judgments(mcq, cast, mcq_value)
    return cast


def rts_value(number: int, system: str, key: str) -> int:
    """1 to 5 in turn; always 4 for the constant system."""
    return 4 if system == CONSTANT else number % 5 + 1


def mcq_value(number: int, system: str, key: str) -> int:
    """The same for the trusted system and, on coherence only, for the doubted one."""
    if system == TRUSTED or (system == DOUBTED and key == "coherence"):
        return number % 5 + 1
    return (number * number + 2 * number) % 4 + 1


def judges_of(cast: Cast) -> tuple[Judge, Judge]:
    """Return the first RTS and the first MCQ judge."""
    of_method = [cast.project.judges.filter(method=method).order_by("pk") for method in ("rts", "mcq")]
    first, second = (judges[0] for judges in of_method)
    return first, second


def spec_of(cast: Cast, **fields) -> PolicySpec:
    """The lower bound of R against r = .5, two raters, and an audit of a fifth, however few that is."""
    rts, mcq = judges_of(cast)
    usual = {"name": "First", "threshold": 0.5, "raters": 2, "audit_share": 0.2, "audit_least": 0}
    return PolicySpec(**{"rts": rts, "mcq": mcq, **usual, **fields})


def sent_by(policy: RoutingPolicy) -> dict[tuple[str, str, str], int]:
    """Count a policy's units by system, dimension and why."""
    found: dict[tuple[str, str, str], int] = {}
    for unit in policy.units.select_related("item__system", "dimension"):
        key = (unit.item.system.name, unit.dimension.key, unit.why)
        found[key] = found.get(key, 0) + 1
    return found
