"""Servers that answer for models, prompts, and the judges made of both."""
