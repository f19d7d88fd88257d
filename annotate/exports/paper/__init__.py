"""A report in LaTeX that pdflatex compiles: methods, results and limitations."""
