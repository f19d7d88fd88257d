"""Which units a judge may keep and which go to people: policies and certificates."""
