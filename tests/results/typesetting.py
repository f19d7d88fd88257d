"""Tables as a real LaTeX sets them."""

import re
import subprocess
from pathlib import Path

PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage{array,booktabs,longtable}
\begin{document}
"""
MOST = 2  # points, as typesetters take no notice of less


def overfull(tables: list[str], folder: Path) -> list[tuple[float, str]]:
    """Return by how many points boxes of these tables are wider than the line, with what LaTeX says."""
    (folder / "tables.tex").write_text(PREAMBLE + "\n\\clearpage\n".join(tables) + "\\end{document}\n")
    call = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    run = subprocess.run(call, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    assert run.returncode == 0, run.stdout[-2000:]
    found = re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\)([^\n]*)", run.stdout)
    return [(float(points), where) for points, where in found if float(points) > MOST]
