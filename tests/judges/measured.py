"""A small project whose judges can be measured: two judges of one model, and people who rated."""

from django.utils import timezone

from agreement.comparison import Scores
from annotate.core.models import AssignedUnit, Assignment, Item, Membership, Rating, Round
from annotate.rating.commands.rounds import close_round_one, freeze_guideline
from judges.core.models import Judge
from tests.factories import Cast, make_project
from tests.judges.factories import make_answers, make_judge
from tests.rating.rounds import opened, rate

DOCUMENTS, SYSTEMS = 4, 3
# By item: document after document, in each the systems in order.
RTS = [1, 5, 3, 2, 4, 4, 4, 2, 1, 5, 3, 5]
MCQ = [2, 5, 3, 1, 3, 5, 4, 4, 2, 5, 2, 4]
PEOPLE = [[1, 4, 3, 2, 5, 3, 3, 3, 1, 5, 2, 4], [2, 4, 2, 2, 5, 4, 3, 1, 1, 4, 3, 5]]


def measured_project(
    *, rts=RTS, mcq=MCQ, people=PEOPLE, documents: int = DOCUMENTS, systems: int = SYSTEMS
) -> Cast:
    """Make the project; a value None is not given. Without people no round is open."""
    cast = make_project(
        documents=documents,
        systems=systems,
        annotators=max(len(people), 1),
        raters_per_item=max(len(people), 1),
    )
    if people:
        rate_all(cast, people)
    for name, method, values in (("Reasoner", "rts", rts), ("Chooser", "mcq", mcq)):
        if values:
            let_judge(make_judge(cast.project, method, name=name), cast, values)
    return cast


def rate_all(cast: Cast, people) -> None:
    """Let people rate in Round I, and close it where they rated everything."""
    round = opened(cast)
    for annotator, values in zip(cast.annotators, people, strict=True):
        for item, value in zip(cast.items, values, strict=True):
            if value is not None:
                rate(cast, round, annotator, item, value)
    if not any(value is None for values in people for value in values):
        close_round_one(project=cast.project, by=cast.admin)


def let_judge(judge: Judge, cast: Cast, values) -> Judge:
    answers = [(item, cast.dimensions[0], value) for item, value in zip(cast.items, values, strict=True)]
    make_answers(judge, answers, reply="Score: 3")
    return judge


def as_scores(judge=RTS, people=PEOPLE, *, documents: int = DOCUMENTS, systems: int = SYSTEMS) -> Scores:
    """The same as arrays."""
    number = documents * systems
    return Scores(
        systems=[f"system-{index % systems + 1}" for index in range(number)],
        documents=[index // systems for index in range(number)],
        human=[[float("nan") if value is None else value for value in values] for values in people],
        judge=judge,
    )


def rated_at_once(cast: Cast, people) -> Round:
    """Write down what people gave in an open Round I, row by annotator, without playing the round."""
    round = begun(cast, every_item=True)
    for annotator, values in zip(cast.annotators, people, strict=True):
        for position, (item, value) in enumerate(zip(cast.items, values, strict=True), start=1):
            assignment = make_assignment(round, annotator, item, position, inclusion_probability=1)
            write(assignment, cast, value)
    return round


def routed_at_once(cast: Cast, drawn) -> Round:
    """Write down units that were drawn one by one: a probability and a value (None: a skip) by item index."""
    round = begun(cast, every_item=False)
    for position, (index, (probability, value)) in enumerate(drawn.items(), start=1):
        assignment = make_assignment(
            round,
            cast.annotators[0],
            cast.items[index],
            position,
            plan="routed",
            partial=True,
            origin="a rule",
        )
        AssignedUnit.objects.create(
            assignment=assignment, dimension=cast.dimensions[0], inclusion_probability=probability
        )
        write(assignment, cast, value)
    return round


def begun(cast: Cast, *, every_item: bool) -> Round:
    return Round.objects.create(
        project=cast.project,
        number=1,
        guideline=freeze_guideline(cast.project),
        seed=1,
        opened_at=timezone.now(),
        every_item=every_item,
    )


def make_assignment(round: Round, annotator: Membership, item: Item, position: int, **fields) -> Assignment:
    usual = {"slot": annotator.pk % 30_000, "plan": Assignment.Plan.N_OF_M, "seed": 1}
    return Assignment.objects.create(
        **{**usual, **fields, "round": round, "annotator": annotator, "item": item, "position": position}
    )


def write(assignment: Assignment, cast: Cast, value: int | None) -> None:
    if value is not None:
        now = timezone.now()
        Rating.objects.create(
            assignment=assignment, dimension=cast.dimensions[0], value=value, created_at=now, updated_at=now
        )
