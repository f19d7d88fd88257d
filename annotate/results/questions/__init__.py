"""Results of questions that are not asked on a scale: the answers, and the tables of each kind."""
