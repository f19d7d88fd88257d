"""Papers whose public release can be imported and whose tables can be computed anew."""
