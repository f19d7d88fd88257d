"""Pages about people, divided by what people do."""
