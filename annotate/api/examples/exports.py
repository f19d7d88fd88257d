"""Exports and where they were pushed."""

EXAMPLES = {
    "ExportInput": {"format": "parquet", "parts": ["comments", "threads", "sources"], "licence": "cc-by-4.0"},
    "ExportRow": {
        "id": 2,
        "format": "parquet",
        "left_out": ["replies"],
        "licence": "cc-by-4.0",
        "status": "ready",
        "message": "",
        "size": 48213,
        "content_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "concord_version": "0.1.0",
        "state_at": "2026-11-20T09:00:00Z",
        "tables": {"items": 500, "ratings": 1500},
        "created_at": "2026-11-20T09:00:00Z",
    },
    "PushInput": {"repository": "example/reviews-of-boots", "private": True},
    "PushRow": {
        "id": 1,
        "repository": "example/reviews-of-boots",
        "private": True,
        "status": "pushing",
        "message": "",
        "sent": 16384,
        "size": 48213,
        "url": "https://huggingface.co/datasets/example/reviews-of-boots",
        "created_at": "2026-11-20T09:05:00Z",
    },
}
