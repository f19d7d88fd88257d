"""Rendering as Markdown or as chat, with offsets into the source."""
