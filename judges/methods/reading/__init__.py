"""Reading replies: from text to a value or a reason. Pure, total, and never a guess."""
