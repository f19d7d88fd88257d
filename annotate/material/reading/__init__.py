"""Files of documents, items and recorded ratings, read as typed rows; no Django."""
