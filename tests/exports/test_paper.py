"""The report in LaTeX: its facts are the database's, and a real LaTeX compiles it without a warning."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Value
from django.db.models.functions import Concat
from django.test import Client

from agreement import COEFFICIENTS, MEASURES, ReliabilityData
from annotate.core.jobs import run_job
from annotate.core.models import Dimension, Dispute, Item, Project, Rating, System
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import EXPORT_JOB
from annotate.exports.files import write_folder
from annotate.exports.paper.parts import SOURCES, format_latex, join_words, read_entries
from annotate.exports.paper.writing import COMPILE
from annotate.management.demonstration import load_demonstration
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from judges.core.models import DevelopmentDocument, Judge
from judges.management.demonstration.finished import load_finished_demonstration
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment
from tests.rating.rounds import discussed, opened, rate

HOSTILE = r"\input{x} % & _ # $ ^ ~ {} Größe äöü"
FOREIGN = "評価 Оценка 😀 e\N{COMBINING ACUTE ACCENT}"


@pytest.fixture
def cast(db: None) -> Cast:
    """A project in discussion, whose every name would break LaTeX, with a judge."""
    cast = make_project(documents=3)
    discussed(cast, 1, 3, 5)
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0], reply="MY-REPLY 4", value=4)
    Project.objects.filter(pk=cast.project.pk).update(name=f"{HOSTILE} {FOREIGN}")
    Judge.objects.filter(pk=judge.pk).update(name=f"Judge {HOSTILE}", model=f"model {HOSTILE}")
    System.objects.filter(pk=System.objects.earliest("pk").pk).update(name=f"[{HOSTILE}]")
    cast.project.refresh_from_db()
    return cast


def write_report(project: Project, folder: Path) -> Path:
    folder.mkdir()
    write_folder(project, ExportChoice(Format.PAPER), folder)
    return folder


def compile_report(folder: Path) -> str:
    """Return the log of the last pass of the command in README, in a new folder."""
    if not shutil.which("pdflatex") or not shutil.which("bibtex"):
        pytest.skip("There is no LaTeX here; CI installs it.")
    copy = Path(shutil.copytree(folder, folder.with_name(f"{folder.name}-compiled")))
    assert COMPILE in (folder / "README").read_text()
    command = COMPILE.replace("pdflatex", "pdflatex -interaction=nonstopmode -halt-on-error")
    run = subprocess.run(
        command, shell=True, cwd=copy, capture_output=True, text=True, errors="replace", timeout=120
    )
    assert run.returncode == 0, run.stdout[-3000:]
    assert (copy / "main.pdf").read_bytes().startswith(b"%PDF")
    log = (copy / "main.log").read_text(errors="replace")
    assert [line for line in log.splitlines() if "Warning" in line and "Font" not in line] == []
    assert "Warning--" not in (copy / "main.blg").read_text()
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert max(wide, default=0) < 2
    return log


def read_words(folder: Path) -> str:
    """Return the words of a report, without LaTeX's non-breaking spaces."""
    files = [folder / "main.tex", *sorted(folder.glob("tables/*.tex"))]
    return "\n".join(path.read_text() for path in files).replace("~", " ")


@pytest.mark.once
@pytest.mark.django_db
def test_papers_of_both_demonstrations_compile_and_tell_their_facts(tmp_path: Path) -> None:
    unfinished, finished = load_demonstration(), load_finished_demonstration()
    for project in (unfinished, finished):
        folder = write_report(project, tmp_path / f"{project.pk}")
        compile_report(folder)
        expect_facts(project, read_words(folder))
        expect_no_text_of_items(project, folder)
    text = read_words(tmp_path / f"{finished.pk}")
    expect_facts_of_discussion(finished, text)
    expect_facts_of_judges(finished, text)
    expect_judges_and_documents_left_out(finished, text)
    text = read_words(tmp_path / f"{unfinished.pk}")
    for sentence in ("Round I is still open", "Round II has not been opened", "No judge has given a value"):
        assert sentence in text


def expect_facts(project: Project, text: str) -> None:
    items = Item.objects.filter(document__project=project)
    documents, systems = (items.values(each).distinct().count() for each in ("document", "system"))
    outputs = f"{items.count()} items: the outputs of {systems} systems for {documents} documents"
    assert outputs in text
    assert f"on {project.dimensions.count()} dimensions" in text
    values = Rating.objects.filter(
        assignment__round__project=project, assignment__round__number=1, value__isnull=False
    )
    raters = values.values("assignment__annotator").distinct().count()
    assert f"{raters} raters gave {values.count():,} values" in text
    assert f"The plan was {project.raters_per_item} raters for each item" in text
    for dimension in project.dimensions.all():
        assert (
            f"{dimension.name} & {dimension.scale_minimum} to {dimension.scale_maximum} & "
            f"{dimension.measurement_level} & {project.dispute_threshold:.1f} & {project.tolerance:.1f}"
            in text
        )
    rounds = current_page(project=project, result=result_of(project, "agreement")).rows("rounds")
    alphas = [row["round_1_alpha"] for row in rounds]
    assert len(alphas) == project.dimensions.count()
    assert all(f"& {alpha:.3f} " in text for alpha in alphas)
    low = [alpha for alpha in alphas if isinstance(alpha, float) and alpha < 0.667]
    assert ("too low for conclusions" in text) == bool(low)


def expect_judges_and_documents_left_out(project: Project, text: str) -> None:
    (compares,) = Judge.objects.filter(project=project, method="h2h")
    assert f"The tables leave out {compares.name}: no scores of single outputs." in text
    left_out = DevelopmentDocument.objects.filter(document__project=project).count()
    assert f"Without people’s values of {left_out} documents used for development." in text


def expect_no_text_of_items(project: Project, folder: Path) -> None:
    files = [path.read_text() for path in folder.rglob("*") if path.suffix != ".pdf" and path.is_file()]
    for text in Item.objects.filter(document__project=project).values_list("text", flat=True):
        assert not any(text[:60] in file for file in files)


def expect_facts_of_discussion(project: Project, text: str) -> None:
    disputes = Dispute.objects.filter(round__project=project)
    assert f"After Round I {disputes.count()} units became disputed: " in text
    for status in ("settled", "adjudicated"):
        assert f"{disputes.filter(status=status).count()} {status}" in text
    assert "Round II is therefore agreement after discussion, not reliability" in text
    assert "Round I (reliability) and Round II (agreement after discussion). Level of measurement" in text
    assert "95 \\% interval: jackknife of documents" in text


def expect_facts_of_judges(project: Project, text: str) -> None:
    for judge in Judge.objects.filter(project=project, judgments__status="done").distinct():
        done = judge.judgments.filter(status="done").count()
        temperature = f"temperature {judge.temperature:g}" if judge.template else "temperature not recorded"
        (line,) = re.findall(rf"item ({judge.name}: model.*)", text)
        assert all(word in line for word in (f"model {judge.model},", temperature, f"{done} values"))
    verdicts = current_page(
        project=project,
        result=result_of(
            project, "trust", {"judge": str(Judge.objects.get(name="Recorded model, reasons first").pk)}
        ),
    ).rows("verdicts")
    flat = " ".join(text.split())
    assert all(
        f"Recorded model, reasons first & {row['dimension']} & {row['verdict']}" in flat for row in verdicts
    )
    assert "Recorded model, reasons first must not decide on Consistency, Fluency and Relevance." in text


@pytest.mark.once
def test_names_cannot_break_out_of_the_paper(cast: Cast, tmp_path: Path) -> None:
    Dimension.objects.filter(pk=cast.dimensions[0].pk).update(name=HOSTILE)
    folder = write_report(cast.project, tmp_path / "made")
    assert r"\input{x}" not in read_words(folder)
    log = compile_report(folder)
    assert "評" not in log
    main = (folder / "main.tex").read_text()
    assert "\\sign{8A55}{評}" in main
    assert r"\textbackslash{}input\{x\} \% \& \_ \# \$ \textasciicircum{}" in main
    assert "é" in main, "letters are composed"


@pytest.mark.once
def test_many_long_names_stay_in_the_lines(db: None, tmp_path: Path) -> None:
    names = ("fluency", "accuracy of every stated fact", "donaudampfschifffahrtsgesellschaft", *"abcd")
    cast = make_project(dimensions=names, documents=2, systems=14)
    System.objects.update(name=Concat("name", Value("-a-model-with-a-very-long-name-instruct-70b-q4_K_M")))
    round = opened(cast)
    for annotator in cast.annotators:
        for index, item in enumerate(cast.items):
            for dimension in cast.dimensions:
                rate(cast, round, annotator, item, 1 + index % 5, key=dimension.key)
    folder = write_report(cast.project, tmp_path / "made")
    assert any("longtable" in path.read_text() for path in folder.glob("tables/*.tex"))
    compile_report(folder)


@pytest.mark.once
def test_project_without_ratings_compiles_with_a_notice(db: None, tmp_path: Path) -> None:
    cast = make_project(documents=1)
    folder = write_report(cast.project, tmp_path / "made")
    compile_report(folder)
    assert "Round I has not been opened, so there are no ratings." in read_words(folder)
    opened(cast)
    folder = write_report(cast.project, tmp_path / "opened")
    compile_report(folder)
    assert "Round I has no ratings yet." in read_words(folder)


@pytest.mark.once
def test_undefined_values_have_their_reason(cast: Cast, tmp_path: Path) -> None:
    text = read_words(write_report(cast.project, tmp_path / "made"))
    assert "undefined (a)" in text
    assert "has undefined values. Reasons: " in text


def test_the_command_writes_once_and_spares_other_files(cast: Cast, tmp_path: Path, capsys) -> None:
    target = tmp_path / "new" / "paper"
    for is_new in (True, False):
        call_command("paper", cast.project.slug, str(target), "--json")
        assert json.loads(capsys.readouterr().out)["is_new"] is is_new
    main = target / "main.tex"
    main.write_text("mine")
    with pytest.raises(CommandError, match="has other files; name a new folder"):
        call_command("paper", cast.project.slug, str(target))
    assert main.read_text() == "mine"
    assert [path.name for path in target.parent.iterdir()] == ["paper"]


def test_a_researcher_asks_for_it_on_the_page_of_exports(cast: Cast, client: Client) -> None:
    client.force_login(cast.researcher)
    page = f"/projects/{cast.project.slug}/export/"
    assert 'name="format" value="paper"' in client.get(page).content.decode()
    made = client.post(page, {"format": "paper"})
    run_job(EXPORT_JOB.name, int(made["Location"].rstrip("/").rpartition("/")[2]))
    file = b"".join(client.get(f"{made['Location']}file/"))
    assert b"main.tex" in file
    assert "Report (LaTeX)" in client.get(made["Location"]).content.decode()


def test_every_source_of_a_statistic_is_in_the_bibliography() -> None:
    data = ReliabilityData([[1, 2, 3, 2], [1, 2, 3, 3]], measurement_level="interval", value_domain=[1, 2, 3])
    sources = [coefficient(data).source for coefficient in COEFFICIENTS.values()]
    sources += [measure.estimator.source for measure in MEASURES.values()]
    unnamed = [source for source in sources if not any(words in source for words in SOURCES)]
    assert {each for each in unnamed if re.search(r"\d{4}", each)} == set()
    assert set(SOURCES.values()) <= set(read_entries())


def test_values_are_escaped_and_templates_are_not() -> None:
    assert format_latex(r"\emph {a} of {b}", a="50 %", b=1234) == r"\emph 50 \% of 1,234"
    assert join_words(["a_1", "b", "c"]) == r"a\_1, b and c"
    assert join_words(["a"]) == "a"
