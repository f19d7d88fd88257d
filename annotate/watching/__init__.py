"""Progress of a project, for its admins."""
