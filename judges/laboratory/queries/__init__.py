"""What there is to learn from, what was proposed, and what a search has found."""
