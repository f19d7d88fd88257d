"""Queries of the laboratory: cases, proposals, draftings, searches and panels."""
