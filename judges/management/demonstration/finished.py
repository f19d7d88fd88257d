"""Making the finished demonstration: both rounds, two judges, routing, a certificate and an export."""

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from django.utils import timezone

from annotate.agreement.streams import Stream
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import (
    Assignment,
    Dispute,
    Export,
    Membership,
    Project,
    Role,
    Round,
    User,
)
from annotate.disputes.commands.disputes import adjudicate, answer_dispute
from annotate.disputes.commands.state import current_values
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands.exports import run_export, start_export
from annotate.management.demonstration.load import NAME as UNFINISHED
from annotate.management.demonstration.load import PEOPLE, Person, add_texts, make_accounts
from annotate.people.commands import add_member
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, Sent, SentAnswer, save_ratings
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from annotate.setup.commands import create_project, delete_project
from annotate.setup.presets import TEMPLATES
from judges.alignment.commands.proposals import draw_development, propose_examples
from judges.core.models import Judge, RoutingPolicy
from judges.core.specification import CalibrationSpec, PolicySpec
from judges.interchange.commands import import_judgments
from judges.interchange.queries.imports import JudgmentSource
from judges.interchange.reading.mapping import guess_judgment_mapping
from judges.management.demonstration.articles import ARTICLES, SYSTEMS
from judges.management.demonstration.remarks import DECISIONS, YIELDS, why
from judges.management.demonstration.replies import MODEL, felt, rows
from judges.metrics.commands import compute_metrics
from judges.metrics.computing import MEASURES
from judges.routing.commands.certificates import compute_certificates, draw_calibration
from judges.routing.commands.policies import make_policy, route

NAME = "Demonstration: twelve articles, finished"
ABOUT = (
    "All of this is invented: articles, summaries, ratings, discussions and the replies of the judge were "
    "written for Concord, so that every page has something to show. Conclude nothing from them."
)
# How strict each annotator is, and how much they waver.
_LEANINGS = {"ann@example.org": 0.1, "bo@example.org": -0.4, "cem@example.org": 0.3}
_WAVERS = 0.6
_LONGEST = timedelta(minutes=10)
_DEVELOPMENT = 0.25  # of the documents: what a prompt learns from
_EXAMPLES = 3
_THRESHOLD = 0.5  # of R
_CERTIFIED = ("consistency", "relevance")


def load_finished_demonstration() -> Project:
    """Make the finished demonstration, unless it is there or is being made.

    Each step is a transaction of its own, so that others can save meanwhile. What a process that died left
    half made is deleted and made anew.
    """
    users = make_accounts()
    if existing := Project.objects.filter(name=NAME).first():
        if not _is_left_half_made(existing):
            return existing
        delete_project(project=existing, name=NAME, by=users[PEOPLE[0]])
    project = _make(users)
    export = Export.objects.get(project=project)
    run_export(export_id=export.pk)
    return project


def is_wanted() -> bool:
    """Return whether there is anything left to make: no project but the other demonstration, or a half."""
    existing = Project.objects.filter(name=NAME).first()
    if existing is not None:
        return _is_left_half_made(existing)
    return not Project.objects.exclude(name=UNFINISHED).exists()


def _is_left_half_made(project: Project) -> bool:
    begun = timezone.now() - project.created_at
    return begun > _LONGEST and not Export.objects.filter(project=project).exists()


def _make(users: Mapping[Person, User]) -> Project:
    admin = users[PEOPLE[0]]
    project = create_project(user=admin, name=NAME, template=TEMPLATES["news-summaries"])
    Project.objects.filter(pk=project.pk).update(description=ABOUT)
    places = {
        place.user.email: place
        for place in (add_member(project=project, role=each.role, user=user) for each, user in users.items())
        if place.role == Role.ANNOTATOR and place.user is not None
    }
    _add_items(project)
    _import_replies(project)
    compute_metrics(project=project, measures=[MEASURES["words"], MEASURES["compression"]], by=admin)
    draw_development(project=project, share=_DEVELOPMENT, by=admin)
    policy = make_policy(project=project, spec=_policy(project), by=admin)
    round = route(policy=policy, by=admin).round
    assert round is not None
    for email, place in places.items():
        _rate(round, place, email)
    close_round_one(project=project, by=admin)
    open_round_two(project=project, by=admin)
    raters = {place.pk: place for place in places.values()}
    disputes = Dispute.objects.filter(round__project=project).order_by("pk")
    for dispute in disputes.select_related("item__document", "item__system", "dimension"):
        _discuss(dispute, raters, admin)
    close_round_two(project=project, by=admin)
    calibration = draw_calibration(project=project, spec=_calibration(project), by=admin)
    compute_certificates(calibration=calibration, by=admin)
    for dimension in project.dimensions.filter(key__in=_CERTIFIED):
        propose_examples(judge=_judge(project, "rts"), dimension=dimension, count=_EXAMPLES, by=admin)
    choice = ExportChoice(Format.HUGGING_FACE, licence="CC0-1.0")
    start_export(project=project, choice=choice, by=admin)
    return project


def _add_items(project: Project) -> None:
    for article in ARTICLES:
        add_texts(
            project,
            systems=SYSTEMS,
            key=article.key,
            title=article.title,
            parts=[{"label": "", "text": " ".join(article.sentences)}],
            texts=article.summaries,
        )


def _import_replies(project: Project) -> None:
    """Import what the judge replied, as replies recorded elsewhere are imported."""
    replies = list(rows())
    with TemporaryDirectory(prefix="concord-demonstration-") as folder:
        path = Path(folder) / "replies.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in replies), encoding="utf-8")
        columns = sorted({column for each in replies for column in each})
        mapping = guess_judgment_mapping(columns, {"model": MODEL})
        report = import_judgments(project=project, source=JudgmentSource(path, path.name, mapping))
    if report.is_refused:
        raise AssertionError(f"The demonstration's own replies are refused: {report}")


def _judge(project: Project, method: str) -> Judge:
    return Judge.objects.get(project=project, method=method)


def _policy(project: Project) -> PolicySpec:
    return PolicySpec(
        name="Where the judge contradicts itself",
        rts=_judge(project, "rts"),
        mcq=_judge(project, "mcq"),
        threshold=_THRESHOLD,
        raters=len(_LEANINGS),
        decided_by=RoutingPolicy.DecidedBy.ESTIMATE,
    )


def _calibration(project: Project) -> CalibrationSpec:
    return CalibrationSpec(
        name="Where the judge is sure",
        judge=_judge(project, "rts"),
        dimensions=_CERTIFIED,
        raters=len(_LEANINGS),
        risk=0.3,
        other=_judge(project, "mcq"),
    )


def _rate(round: Round, place: Membership, email: str) -> None:
    """Rate everything that the annotator is asked for."""
    chance = Stream(0).of("demonstration", "pace", email).shuffler()
    dimensions = FrozenGuideline.from_json(round.guideline.content).dimensions
    while reserve_items(round=round, annotator=place):
        pass
    articles = {each.key: each for each in ARTICLES}
    mine = Assignment.objects.select_related("item__system", "item__document", "round__guideline")
    for assignment in mine.filter(annotator=place).order_by("position"):
        item = assignment.item
        position = SYSTEMS.index(item.system.name)
        given = [
            SentAnswer(
                dimension,
                Answer(
                    value=felt(
                        articles[item.document.key],
                        position,
                        dimension.key,
                        by=email,
                        leaning=_LEANINGS[email],
                        spread=_WAVERS,
                    )
                ),
                Sent(active_seconds=chance.uniform(6, 20)),
            )
            for dimension in dimensions
        ]
        save_ratings(assignment=assignment, given=given, by=place.user)


def _discuss(dispute: Dispute, raters: Mapping[int, Membership], admin: User) -> None:
    """Discuss a dispute: most end when the farther rater moves, some in adjudication, a few stay open."""
    item, dimension = dispute.item, dispute.dimension
    article = next(each for each in ARTICLES if each.key == item.document.key)
    chance = Stream(0).of("demonstration", "dispute", article.key, item.system.name, dimension.key).shuffler()
    values = current_values(dispute)
    low, *between, high = sorted(values, key=lambda rater: (values[rater], rater))
    middle = values[between[0]] if between else values[low]
    far, near = (low, high) if middle - values[low] > values[high] - middle else (high, low)

    def reason(rater: int) -> str:
        flawed = item.system.name == "small-model"
        return why(
            dimension.key, article, item.text, low=values[rater] <= middle and rater != high, flawed=flawed
        )

    answer_dispute(dispute=dispute, rater=raters[near], value=None, comment=reason(near))
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
