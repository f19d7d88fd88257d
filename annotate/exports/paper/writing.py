"""Writes a paper's folder: main.tex, tables, plots, references and the command that compiles them."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import UTC, datetime
from pathlib import Path

from django.utils.translation import override

from annotate.core.models import Project
from annotate.core.version import VERSION
from annotate.exports.checklist import ChecklistLine, checklist, checklist_markdown, introduce
from annotate.exports.paper.parts import (
    PAPER_SECTIONS,
    Latex,
    PaperPart,
    PaperTable,
    cite,
    format_latex,
    read_entries,
)
from annotate.exports.paper.people import people_in_paper
from annotate.results.latex import LatexChoices, latex
from annotate.results.plots import draw
from annotate.results.text import reasons_and_counts

COMPILE = "pdflatex main && bibtex main && pdflatex main && pdflatex main && pdflatex main"
WIDTH = 455  # points of a line between margins of 25 mm on A4
_HEAD = r"""% Compile: {compile}
\documentclass[10pt]{{article}}
\usepackage[utf8]{{inputenc}}
\usepackage[T1]{{fontenc}}
\IfFileExists{{lmodern.sty}}{{\usepackage{{lmodern}}}}{{}}
\usepackage[a4paper,margin=25mm]{{geometry}}
\usepackage{{array,booktabs,longtable,graphicx}}
\usepackage[round]{{natbib}}
\setlength{{\emergencystretch}}{{3em}}
\setlength{{\belowcaptionskip}}{{6pt}}
\setlength{{\LTcapwidth}}{{\linewidth}}
\renewcommand{{\topfraction}}{{.9}}
\renewcommand{{\textfraction}}{{.07}}
\renewcommand{{\floatpagefraction}}{{.8}}
\makeatletter\renewcommand{{\fps@table}}{{htbp}}\renewcommand{{\fps@figure}}{{htbp}}\makeatother
{signs}
\title{{{name}\\[1ex]\large How the ratings were made, and what they show}}
\author{{}}
\date{{Data of {state}}}
\begin{{document}}
\maketitle
"""
_SIGN = r"""\newcommand{\sign}[2]{\ifcsname u8:\detokenize{#2}\endcsname\else
  \DeclareUnicodeCharacter{#1}{[U+#1]\allowbreak}\fi}"""
_README = """This folder is a report in LaTeX about the project “{name}”, made by Concord {version}
from its data of {state}.

Compile it here with:

    {compile}

main.tex includes tables/*.tex and figures/*.pdf and cites references.bib. CHECKLIST.md has its reporting
checklist for other documents. It needs pdflatex, bibtex and the
packages array, booktabs, geometry, graphicx, longtable and natbib (Debian: texlive-latex-recommended).

pdflatex has no letters for some signs, such as Chinese ones or emoji. The report shows their code in
brackets, such as [U+6587]. The lines with \\sign in main.tex do that.

It includes no outputs or documents, and the number of people instead of their names.
"""


def write_paper(project: Project, folder: Path) -> datetime | None:
    """Write the paper of a project to an empty folder; return the latest time in its data.

    The same data give the same bytes: no file contains the time of writing.
    """
    # Papers are in English, whatever the language of the reader.
    with override("en"):
        parts = people_in_paper(project)
        parts += [part for section in PAPER_SECTIONS.values() for part in section(project)]
        latest = max((part.latest for part in parts if part.latest), default=None)
        tables = [table for part in parts for table in (*part.design, *part.tables)]
        for name in ("tables", "figures"):
            (folder / name).mkdir()
        lines = checklist(project)
        _write(folder / "tables" / "checklist.tex", _checklist_table(lines))
        _write(folder / "CHECKLIST.md", checklist_markdown(project, lines))
        # Tables that LaTeX breaks over pages, after which a section needs a new page.
        long = {each.key for each in tables if r"\begin{longtable}" in _write_table(each, folder)}
        body = "\n".join(_sections(parts, tables, long, lines))
    state = f"{latest.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if latest else "a project without data"
    sources = [body, project.name, *(path.read_text("utf-8") for path in sorted(folder.glob("tables/*.tex")))]
    # Every sign beyond ASCII is declared in the head, in case pdflatex has no letter for it.
    signs = sorted(
        {sign for source in sources for sign in unicodedata.normalize("NFC", source) if ord(sign) > 127}
    )
    head = _HEAD.format(
        compile=COMPILE,
        signs="\n".join([_SIGN, *(rf"\sign{{{ord(sign):04X}}}{{{sign}}}" for sign in signs)]),
        name=format_latex("{name}", name=project.name),
        state=state,
    )
    _write(folder / "main.tex", f"{head}{body}\n")
    # Only the entries that the text cites.
    cited = "".join(source for source in (*sources, head))
    entries = [entry for key, entry in read_entries().items() if key in cited]
    _write(folder / "references.bib", "\n".join(entries) + "\n")
    readme = _README.format(name=project.name, version=VERSION, state=state, compile=COMPILE)
    _write(folder / "README", readme)
    return latest


def _write_table(each: PaperTable, folder: Path) -> str:
    if each.is_figure:
        (folder / "figures" / f"{each.key}.pdf").write_bytes(draw(each.table, "pdf"))
        return ""
    notes = reasons_and_counts(each.table)
    content = latex(each.named, LatexChoices(width=WIDTH), caption=each.caption, notes=notes)
    _write(folder / "tables" / f"{each.key}.tex", content)
    return content


def _checklist_table(lines: Sequence[ChecklistLine]) -> str:
    rows = (
        format_latex(
            r"{topic} & {answer} & {heds} \\",
            topic=each.topic,
            answer=each.answer if each.answer else Latex(format_latex(r"\emph{{{says}}}", says=each.text)),
            heds=each.heds or "–",
        )
        for each in lines
    )
    columns = "".join(
        rf">{{\raggedright\arraybackslash}}p{{{width}\linewidth}}" for width in (".25", ".52", ".13")
    )
    head = r"\toprule What & Answer & HEDS \\ \midrule \endhead \bottomrule \endfoot"
    table = [r"{\small", rf"\begin{{longtable}}{{{columns}}}", head, *rows, r"\end{longtable}}"]
    return "\n".join(table) + "\n"


def _sections(
    parts: Sequence[PaperPart], tables: Sequence[PaperTable], long: Set[str], lines: Sequence[ChecklistLine]
) -> Iterator[str]:
    yield r"\section{How the ratings were made}"
    yield "\n\n".join(paragraph for part in parts for paragraph in part.methods)
    yield from _floats(table for part in parts for table in part.design)
    for part in parts:
        yield format_latex("\n\\section{{{title}}}", title=part.title)
        yield part.text
        if part.tables:
            yield f"See {', '.join(each.reference for each in part.tables)}."
        yield from _floats(part.tables)
        if any(each.key in long for each in part.tables):
            yield r"\clearpage"  # tables over pages would push the floats of this section into the next
    yield "\n\\section{Limitations}"
    yield r"\begin{itemize}"
    found = [limit for part in parts for limit in part.limitations]
    shown = [each for each in tables if not each.is_figure]
    for each in shown:
        if each.table.reasons:
            says, reasons = "{table} has undefined values. Reasons: {reasons}", " ".join(each.table.reasons)
            found.append(format_latex(says, table=each.reference, reasons=reasons))
    for each in shown:
        for warning in each.table.warnings:
            found.append(format_latex("{table}: {warning}", table=each.reference, warning=warning))
    yield from (rf"\item {limit}" for limit in found or [Latex("The data show none.")])
    yield r"\end{itemize}"
    yield "\n\\bibliographystyle{plainnat}"
    yield r"\bibliography{references}"
    yield "\n\\appendix"
    yield r"\section{Reporting checklist}"
    yield introduce(lines, cite("shimorina2022"))
    yield r"\input{tables/checklist}"
    if how := dict.fromkeys(line for each in tables for line in each.table.how):
        yield r"\section{How the values were computed}"
        yield format_latex(
            "Concord {version} computed all values. Function names refer to its package agreement.",
            version=VERSION,
        )
        yield r"\begin{itemize}\small"
        yield from (format_latex(r"\item {line}", line=line) for line in how)
        yield r"\end{itemize}"
    yield r"\end{document}"


def _floats(tables: Iterable[PaperTable]) -> Iterator[str]:
    for each in tables:
        if not each.is_figure:
            yield rf"\input{{tables/{each.key}}}"
            continue
        yield r"\begin{figure}\centering"
        size = r"width=.85\linewidth,height=.8\textheight,keepaspectratio"
        yield rf"\includegraphics[{size}]{{figures/{each.key}.pdf}}"
        yield rf"\caption{{{each.caption}}}\label{{fig:{each.key}}}"
        yield r"\end{figure}"


def _write(path: Path, text: str) -> None:
    path.write_text(unicodedata.normalize("NFC", text), encoding="utf-8")
