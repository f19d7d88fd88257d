"""Creation of the finished demonstration: both rounds, judges, runs, routing and an export."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from uuid import uuid4

from django.utils import timezone

from agreement.streams import Stream
from annotate.core.guideline import FrozenGuideline
from annotate.core.jobs import run_job
from annotate.core.models import (
    Assignment,
    Delivery,
    Dispute,
    Export,
    Item,
    Membership,
    Project,
    Role,
    Round,
    User,
)
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, post_message
from annotate.disputes.commands.state import current_answers
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import EXPORT_JOB, start_export
from annotate.items.commands import tag_items
from annotate.management.demonstration import NAME as UNFINISHED
from annotate.management.demonstration import PEOPLE, Person, add_texts, begin_project, make_accounts
from annotate.material.reading.source import Source
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, SaveOrigin, SubmittedAnswer, save_ratings
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from annotate.rating.evidence import Passage
from annotate.setup.commands import add_image, delete_project
from annotate.setup.presets import TEMPLATES
from annotate.webhooks.commands import add_webhook
from annotate.webhooks.events import DISPUTE_SETTLED, ROUND_CLOSED
from judges.core.models import Endpoint, Judge, RoutingPolicy, Run
from judges.core.specification import CalibrationSpec, JudgeSpec, PolicySpec, Scope
from judges.endpoints.commands import add_judge
from judges.endpoints.prices import prices_of
from judges.endpoints.questions import Reply
from judges.interchange.commands import import_judgments
from judges.interchange.reading import guess_judgment_mapping
from judges.laboratory.commands.proposals import draw_parts, propose_examples
from judges.management.demonstration.material import (
    ANSWERS,
    ARTICLES,
    ASKS,
    DECISIONS,
    INVENTED_MODEL,
    SCALE_PICTURE,
    SYSTEMS,
    THIRDS,
    YIELDS,
    Article,
    felt,
    rows,
    why,
)
from judges.management.demonstration.recorded_server import BASE_URL, MODEL, completion_of
from judges.metrics.commands import compute_metrics
from judges.metrics.computing import MEASURES
from judges.routing.commands.certificates import compute_certificates, draw_calibration
from judges.routing.commands.policies import make_policy, route
from judges.runs.asking import outcome_of_reply
from judges.runs.commands.endings import finish_if_done
from judges.runs.commands.leases import lease
from judges.runs.commands.outcomes import store
from judges.runs.commands.runs import plan_run
from judges.runs.queries.work import work_of

_CALLS = 16  # in flight
_SECONDS = 0.2  # of a call


def add_recorded_runs(project: Project, by: User) -> None:
    """Add the endpoint with two judges: one with a finished run, one whose run is planned."""
    # Not by the command: if an operator's list of servers lacks this one, its calls are rejected.
    endpoint = Endpoint.objects.create(
        project=project,
        name="Recorded replies (invented prices)",
        base_url=BASE_URL,
        input_price=Decimal("0.15"),
        output_price=Decimal("0.60"),
        calls_in_flight=_CALLS,
    )
    finished, planned = (
        add_judge(
            project=project,
            judge=JudgeSpec(
                name=name, endpoint=endpoint, model=MODEL, template=key, max_tokens_name="max_tokens"
            ),
            by=by,
        )
        for name, key in (
            ("Recorded model, reasons first", "rts"),
            ("Recorded model, multiple choice", "mcq"),
        )
    )
    dimensions = list(project.dimensions.values_list("key", flat=True))
    _answer(plan_run(project=project, scope=Scope([finished], dimensions), by=by), finished)
    plan_run(project=project, scope=Scope([planned], dimensions[:1]), by=by, budget=Decimal(1))


def _answer(run: Run, judge: Judge) -> None:
    """Answer every judgment of a run with its recorded reply, as a worker stores replies."""
    endpoint, holder = judge.endpoint, uuid4()
    assert endpoint is not None
    prices = prices_of(endpoint, MODEL)
    now = timezone.now()
    # Not by `start_run`, which also enqueues a task: a worker would call the endpoint.
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=now)
    while leased := lease(run=run.pk, endpoint=endpoint.pk, holder=holder, how_many=_CALLS).judgments:
        outcomes = [
            outcome_of_reply(each, _reply("\n".join(message.content for message in each.question.messages)))
            for each in work_of(leased)
        ]
        store(run=run.pk, endpoint=endpoint.pk, holder=holder, outcomes=outcomes, prices_of=lambda _: prices)
    finish_if_done(run=run.pk)


def _reply(prompt: str) -> Reply:
    completion = completion_of(prompt, samples=1)
    text, usage = completion["choices"][0]["message"]["content"], completion["usage"]
    return Reply(text, usage["prompt_tokens"], usage["completion_tokens"], _SECONDS, model=MODEL)


NAME = "Demonstration: twelve articles, finished"
ABOUT = (
    "All of this is invented: articles, summaries, ratings, discussions and the replies of the judge were "
    "written for Concord, so that every page has something to show. Conclude nothing from them."
)
# How strict each annotator is, and how much they waver.
_LEANINGS = {"ann@example.org": 0.1, "bo@example.org": -0.4, "cem@example.org": 0.3}
_WAVERS = 0.6
_LOW = 3  # and below: annotators give a reason
_MARKED = ("consistency", "relevance")
# An unfinished project of this age belongs to a process that died.
_LONGEST = timedelta(minutes=10)
_TEACH, _SELECT = 2, 1  # documents that prompts learn from, and are ranked on
_EXAMPLES = 3
_THRESHOLD = 0.5  # of R
_CERTIFIED = ("consistency", "relevance")


def load_finished_demonstration() -> Project:
    """Create the finished demonstration, unless it exists or another process creates it.

    Each step is a separate transaction, so that others can save in between. An interruption deletes the
    unfinished project. If a killed process left one, it is deleted and created again.
    """
    users = make_accounts()
    if existing := Project.objects.filter(name=NAME).first():
        if not _is_left_half_made(existing):
            return existing
        delete_half_made()
    try:
        project = _make(users)
    # Also after Ctrl-C and a signal to end, which are no `Exception`.
    except BaseException:
        delete_half_made()
        raise
    # The export is the last step: its row shows that the demonstration is complete.
    export = Export.objects.get(project=project)
    # In this process, so that the file exists without a worker, too.
    run_job(EXPORT_JOB.name, export.pk)
    return project


def delete_half_made() -> None:
    """Delete the finished demonstration unless its last step, the export, has started."""
    for half in Project.objects.filter(name=NAME, exports=None):
        delete_project(project=half, name=NAME, by=make_accounts()[PEOPLE[0]])


def is_wanted() -> bool:
    """Return True if the demonstration must be created:

    no project but the other demonstration, or an unfinished one.
    """
    existing = Project.objects.filter(name=NAME).first()
    if existing is not None:
        return _is_left_half_made(existing)
    # An installation that already has projects gets no demonstration.
    return not Project.objects.exclude(name=UNFINISHED).exists()


def _is_left_half_made(project: Project) -> bool:
    begun = timezone.now() - project.created_at
    return begun > _LONGEST and not Export.objects.filter(project=project).exists()


def _make(users: Mapping[Person, User]) -> Project:
    admin = users[PEOPLE[0]]
    project, members = begin_project(NAME, TEMPLATES["news-summaries"], users)
    # The set-up, with items and the recorded replies of a judge.
    picture = add_image(project=project, by=admin, name="From low to high.png", content=SCALE_PICTURE)
    guidelines = f"{project.guidelines}\n\n{picture.markdown}"
    Project.objects.filter(pk=project.pk).update(description=ABOUT, guidelines=guidelines)
    memberships = {
        person.email: membership for person, membership in members.items() if person.role == Role.ANNOTATOR
    }
    add_items(project)
    replies = list(rows())
    with TemporaryDirectory(prefix="concord-demonstration-") as folder:
        path = Path(folder) / "replies.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in replies), encoding="utf-8")
        columns = sorted({column for each in replies for column in each})
        mapping = guess_judgment_mapping(columns, {"model": INVENTED_MODEL})
        report = import_judgments(project=project, source=Source(path, path.name, mapping))
    if report.is_refused:
        raise AssertionError(f"The demonstration's own replies are refused: {report}")
    compute_metrics(project=project, measures=[MEASURES["words"], MEASURES["compression"]], by=admin)
    draw_parts(project=project, teach=_TEACH, select=_SELECT, by=admin)
    # Routing decides which units people rate in Round I.
    policy = make_policy(
        project=project,
        spec=PolicySpec(
            name="Where the judge contradicts itself",
            rts=_judge(project, "rts"),
            mcq=_judge(project, "mcq"),
            threshold=_THRESHOLD,
            raters=len(_LEANINGS),
            decided_by=RoutingPolicy.DecidedBy.ESTIMATE,
        ),
        by=admin,
    )
    round = route(policy=policy, by=admin).round
    assert round is not None
    for email, membership in memberships.items():
        _rate(round, membership, email)
    close_round_one(project=project, by=admin)
    open_round_two(project=project, by=admin)
    # Round II: discussions of all disputes.
    raters = {membership.pk: membership for membership in memberships.values()}
    disputes = Dispute.objects.filter(round__project=project).order_by("pk")
    for dispute in disputes.select_related("item__document", "item__system", "dimension"):
        _discuss(dispute, raters, admin)
    close_round_two(project=project, by=admin)
    # Certificates and proposals need the final values of people.
    calibration = draw_calibration(project=project, spec=_calibration(project), by=admin)
    compute_certificates(calibration=calibration, by=admin)
    add_recorded_runs(project, admin)
    asked = project.judges.get(method="rts", endpoint__isnull=False)
    for dimension in project.dimensions.filter(key__in=_CERTIFIED):
        propose_examples(judge=asked, dimension=dimension, count=_EXAMPLES, by=admin)
    texts = Item.objects.filter(document__project=project)
    copied, flawed = texts.filter(system__name__in=SYSTEMS[:2]), texts.filter(system__name="small-model")
    tag_items(project=project, items=copied, tag="copied from the article", by=admin)
    tag_items(project=project, items=flawed, tag="for the error analysis", by=admin)
    _add_webhook(project, admin)
    choice = ExportChoice(Format.HUGGING_FACE, licence="CC0-1.0")
    start_export(project=project, choice=choice, by=admin)
    return project


def add_items(project: Project) -> None:
    for article in ARTICLES:
        add_texts(
            project,
            systems=SYSTEMS,
            key=article.key,
            title=article.title,
            parts=[{"label": "", "text": " ".join(article.sentences)}],
            texts=article.summaries,
        )


def _add_webhook(project: Project, admin: User) -> None:
    """Add a webhook, and deliveries of both closed rounds as if its server had accepted them."""
    events = (ROUND_CLOSED, DISPUTE_SETTLED)
    url = "https://lab.example.org/concord"  # no such server
    webhook, _ = add_webhook(project=project, url=url, events=events, by=admin)
    for round in project.rounds.order_by("number"):
        data = {"project": project.slug, "round": round.number}
        Delivery.objects.create(
            webhook=webhook,
            event=ROUND_CLOSED,
            body=json.dumps({"type": ROUND_CLOSED, "timestamp": f"{round.closed_at}", "data": data}),
            status=Delivery.Status.DELIVERED,
            # No worker sends a delivery without a due time.
            due_at=None,
            attempts=1,
            attempted_at=round.closed_at,
            answer_status=204,
        )


def _judge(project: Project, method: str) -> Judge:
    return Judge.objects.get(project=project, method=method)


def _calibration(project: Project) -> CalibrationSpec:
    return CalibrationSpec(
        name="Where the judge is sure",
        judge=_judge(project, "rts"),
        dimensions=_CERTIFIED,
        raters=len(_LEANINGS),
        risk=0.3,
        other=_judge(project, "mcq"),
    )


def _rate(round: Round, membership: Membership, email: str) -> None:
    # Each purpose has its own stream, so a change of one leaves the others unchanged.
    chance = Stream(0).of("demonstration", "pace", email).shuffler()
    chance_of_marks = Stream(0).of("demonstration", "marks", email).shuffler()
    dimensions = FrozenGuideline.from_json(round.guideline.content).dimensions
    # Each call reserves some items, until there are none left for this annotator.
    while reserve_items(round=round, annotator=membership):
        pass
    articles = {each.key: each for each in ARTICLES}
    mine = Assignment.objects.select_related("item__system", "item__document", "round__guideline")
    for assignment in mine.filter(annotator=membership).order_by("position"):
        item = assignment.item
        article, position = articles[item.document.key], SYSTEMS.index(item.system.name)
        given = []
        for dimension in dimensions:
            leaning = _LEANINGS[email]
            value = felt(article, position, dimension.key, by=email, leaning=leaning, spread=_WAVERS)
            comment, evidence = _reasons(article, item, dimension.key, value, chance_of_marks)
            answer = Answer(value=value, comment=comment, evidence=evidence)
            given.append(SubmittedAnswer(dimension, answer, SaveOrigin(active_seconds=chance.uniform(6, 20))))
        save_ratings(assignment=assignment, given=given, by=membership.user)


def _reasons(
    article: Article, item: Item, dimension: str, value: int, chance: Random
) -> tuple[str, tuple[Passage, ...]]:
    """Return a comment and marked passages for a low value, from most annotators."""
    if value > _LOW or dimension not in _MARKED or chance.random() < 0.25:
        return "", ()
    sentences = item.text.split(". ")
    last = len(item.text) - len(sentences[-1])
    # Most annotators mark the last passage, some its first words.
    end = len(item.text) if chance.random() < 0.7 else last + len(" ".join(sentences[-1].split()[:4]))
    flawed = item.system.name == "small-model"
    comment = why(dimension, article, item.text, low=True, flawed=flawed) if chance.random() < 0.5 else ""
    return comment, (Passage(0, last, end),)


def _discuss(dispute: Dispute, raters: Mapping[int, Membership], admin: User) -> None:
    """Discuss a dispute: most end when the farther rater moves, some in adjudication, a few stay open."""
    item, dimension = dispute.item, dispute.dimension
    article = next(each for each in ARTICLES if each.key == item.document.key)
    chance = Stream(0).of("demonstration", "dispute", article.key, item.system.name, dimension.key).shuffler()
    values = {rater: given.value for rater, given in current_answers(dispute).items()}
    low, *between, high = sorted(values, key=lambda rater: (values[rater], rater))
    middle = values[between[0]] if between else values[low]
    # The rater at the end that is farther from the middle value is the one who moves.
    far, near = (low, high) if middle - values[low] > values[high] - middle else (high, low)

    def reason(rater: int) -> str:
        flawed = item.system.name == "small-model"
        return why(
            dimension.key, article, item.text, low=values[rater] <= middle and rater != high, flawed=flawed
        )

    _talk(dispute, [raters[each] for each in (near, far, *between)], dimension.key)
    answer_dispute(dispute=dispute, rater=raters[near], value=None, comment=reason(near))
    # Of 100 disputes 70 end by a move and 15 by adjudication; 7 still need it, and 8 stay open.
    course = chance.random()
    if course < 0.7:
        comment = chance.choice(YIELDS)
        answer_dispute(dispute=dispute, rater=raters[far], value=middle, comment=comment)
        return
    answer_dispute(dispute=dispute, rater=raters[far], value=None, comment=reason(far))
    if course < 0.92:
        for rater in (near, far):
            answer_dispute(dispute=dispute, rater=raters[rater], value=None, differs=True)
    if course < 0.85:
        adjudicate(dispute=dispute, value=middle, note=DECISIONS[dimension.key], by=admin)


def _talk(dispute: Dispute, raters: Sequence[Membership], dimension: str) -> None:
    """Write a thread in more than half of the disputes: question, answer, sometimes a third voice."""
    chance = Stream(0).of("demonstration", "thread", dispute.item.text, dimension).shuffler()
    course = chance.random()
    if course > 0.6:
        return
    near, far, *others = raters
    post_message(dispute=dispute, author=near, text=ASKS[dimension])
    post_message(dispute=dispute, author=far, text=ANSWERS[dimension])
    if course < 0.25 and others:
        post_message(dispute=dispute, author=others[0], text=chance.choice(THIRDS))
