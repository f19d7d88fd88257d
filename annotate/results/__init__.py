"""Statistics of people's ratings, and reproducible papers."""
