"""A report in LaTeX that pdflatex compiles: how the ratings were made, and what they show."""
