"""Files of judgments made elsewhere, read as typed rows; no Django."""
