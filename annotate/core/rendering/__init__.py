"""Texts shown as Markdown or as chat, with offsets into their source."""
