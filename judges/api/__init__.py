"""The REST API of model judges; see annotate.api, of which it is a part."""
