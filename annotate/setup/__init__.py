"""A project, its dimensions, guideline and templates, until Round I opens."""
