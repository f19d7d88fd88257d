"""Projects with their dimensions, plans and rounds."""

POINTS = [
    {"value": 1, "label": "Poor", "description": "Hard to understand."},
    {"value": 5, "label": "Excellent", "description": "Without a mistake."},
]
DIMENSION = {
    "name": "Fluency",
    "definition": "How well the text reads.",
    "guidelines": "Judge the language alone, not what is said.",
    "scale_minimum": 1,
    "scale_maximum": 5,
    "scale_step": 1,
    "measurement_level": "ordinal",
    "not_applicable": False,
    "points": POINTS,
}
PLAN = {
    "kind": "sharing",
    "share": 20,
    "gold_every": 10,
    "repeat_every": 30,
    "dealt_by": "documents",
    "work_order": "by_document",
    "dimension_order": "fixed",
}

EXAMPLES = {
    "Me": {
        "email": "admin@example.org",
        "name": "Ada",
        "scopes": ["read", "write"],
        "expires_at": "2027-01-31T09:00:00+00:00",
    },
    "NewProject": {"name": "Reviews of boots", "template": "opinion-summaries"},
    "Settings": {"raters_per_item": 2, "guidelines": "Read the reviews first.", "note": "It was missed."},
    "ProjectRow": {
        "slug": "reviews-of-boots",
        "name": "Reviews of boots",
        "description": "Summaries of reviews by five systems.",
        "guidelines": "Read the reviews first.",
        "raters_per_item": 2,
        "dispute_threshold": 2,
        "tolerance": 1,
        "reservation_minutes": 60,
        "created_at": "2026-11-02T09:00:00Z",
        "roles": ["admin"],
    },
    "DimensionInput": DIMENSION,
    "DimensionRow": {
        **DIMENSION,
        "key": "fluency",
        "position": 1,
        "dispute_threshold": None,
        "tolerance": None,
        "kind": "scale",
        "options": None,
        "shown_if": None,
    },
    "TemplateRow": {"key": "own-2", "name": "Reviews of boots", "saved_at": "2026-11-02T10:00:00Z"},
    "PlanInput": PLAN,
    "PlanRow": PLAN,
    "Deadline": {"deadline": "2026-12-01"},
    "RoundRow": {
        "number": 1,
        "status": "open",
        "every_item": True,
        "work_order": "by_document",
        "dimension_order": "fixed",
        "deadline": "2026-12-01",
        "opened_at": "2026-11-03T09:00:00Z",
        "closed_at": None,
        "guideline_version": 1,
        "guideline": {
            "format": 1,
            "guidelines": "Read the reviews first.",
            "raters_per_item": 2,
            "dispute_threshold": 2,
            "tolerance": 1,
            "dimensions": [
                {
                    "id": 1,
                    "key": "fluency",
                    "name": "Fluency",
                    "definition": "How well the text reads.",
                    "guidelines": "Judge the language alone, not what is said.",
                    "scale_minimum": 1,
                    "scale_maximum": 5,
                    "measurement_level": "ordinal",
                    "points": [{"value": 1, "label": "Poor", "description": "Hard to understand."}],
                }
            ],
        },
    },
}
