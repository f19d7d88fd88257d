"""A project's items for its admins and researchers: searched, listed, tagged, each with all its data."""
