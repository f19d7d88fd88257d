"""Parsing of replies: from a string to a value or a reason. Pure, total, and never a guess."""
