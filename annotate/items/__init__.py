"""A project's items for its admins and researchers: found, listed, tagged, each with all that is known."""
