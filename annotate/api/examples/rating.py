"""Ratings, one's own work, and disputes."""

PARTS = [{"label": "Review 1", "text": "Great boots, but they run small."}]
TEXT = "People like these boots; order a size up."
EVIDENCE = [{"part": 0, "start": 13, "end": 31}]
ANSWER = {"value": 4, "data": None, "unsure": False, "cannot_rate": False, "not_applicable": False}
UNIT = {"document": "boots", "system": "a", "dimension": "fluency"}
OWN_RULE = {"dimension": "fluency", "threshold": 3, "tolerance": None}
POST = {"rater": "Rater B", "at": "2026-11-10T10:00:00Z", "text": "I see no error."}

EXAMPLES = {
    "AssignmentRow": {
        "id": 21,
        "round": 1,
        "document": "boots",
        "system": "a",
        "place": 1,
        "rater": "R-7KQ2M9XA",
        "plan": "sharing",
        "origin": "",
        "seed": 1723,
        "inclusion_probability": None,
        "units": None,
        "started_at": "2026-11-04T08:00:00Z",
        "completed_at": "2026-11-04T08:02:00Z",
    },
    "RatingRow": {
        "id": 40,
        "round": 1,
        **UNIT,
        "rater": "R-7KQ2M9XA",
        **ANSWER,
        "counted": True,
        "comment": "One comma is missing.",
        "evidence": EVIDENCE,
        "active_seconds": 41.5,
        "revision": 1,
        "guideline_version": 1,
        "created_at": "2026-11-04T08:02:00Z",
        "updated_at": "2026-11-04T08:02:00Z",
    },
    "ChangeRow": {
        "rating": 40,
        "revision": 1,
        "at": "2026-11-04T08:02:00Z",
        "cause": "rated",
        "value_before": None,
        "value_after": 4,
        "data": None,
        "unsure": False,
        "cannot_rate": False,
        "not_applicable": False,
        "comment": "One comma is missing.",
        "evidence": EVIDENCE,
        "guideline_version": 1,
    },
    "Taken": {"taken": 5},
    "WorkRow": {
        "position": 1,
        "started_at": None,
        "completed_at": None,
        "reserved_until": "2026-11-04T09:00:00Z",
    },
    "WorkItem": {
        "position": 1,
        "title": "Boots",
        "parts": PARTS,
        "text": TEXT,
        "sides": [],
        "item_parts": [],
        "dimensions": [
            {
                "dimension": "fluency",
                "name": "Fluency",
                "scale_minimum": 1,
                "scale_maximum": 5,
                "scale_step": 1,
                "kind": "scale",
                "options": None,
                "shown_if": None,
                "rating": None,
            }
        ],
        "previous": None,
        "next": 2,
    },
    "AnswerInput": {"value": 4, "comment": "One comma is missing.", "evidence": EVIDENCE, "seconds": 41.5},
    "SavedAnswer": {"revision": 1, "assignment_complete": False},
    "DisputeRow": {
        "number": 7,
        "dimension": "fluency",
        "document": "boots",
        "system": None,
        "status": "open",
        "spread": 3,
        "threshold": 2,
        "tolerance": 1,
        "adjudicated_value": None,
        "adjudicated_data": None,
        "updated_at": "2026-11-10T10:00:00Z",
    },
    "DisputeAnswer": {"value": 4, "comment": "You are right.", "revision": 0, "seen_status": "open"},
    "NewPost": {"text": "I see no error."},
    "PostRow": POST,
    "Decision": {"value": 3, "note": "Between both readings."},
    "DisputeRulesInput": {"threshold": 2, "tolerance": 1, "dimensions": [OWN_RULE]},
    "DisputeRules": {
        "threshold": 2,
        "tolerance": 1,
        "dimensions": [
            {
                **OWN_RULE,
                "in_force": {"threshold": 3, "tolerance": 1},
                "is_named": False,
                "would_open": [{"threshold": 2, "disputes": 31}, {"threshold": 3, "disputes": 12}],
            }
        ],
        "current": True,
    },
    "NudgeInput": {"dimension": "fluency", "silent": 7},
    "NudgedRow": {
        "now": [{"id": 5, "label": "Grace"}],
        "already": [],
        "empty": [],
        "mailed": True,
    },
    "DisputeDetail": {
        "number": 7,
        "status": "open",
        "tolerance": 1,
        "adjudicated_value": None,
        "adjudicated_data": None,
        "dimension": "fluency",
        "title": "Boots",
        "parts": PARTS,
        "text": TEXT,
        "sides": [],
        "takes_answers": True,
        "standpoints": [
            {
                "rater": "Rater A",
                "is_me": True,
                "value_before": 1,
                "data_before": None,
                "data": None,
                "comment_before": "Two mistakes.",
                "value": 4,
                "comment": "You are right.",
                "short_reason": "",
                "differs": False,
                "revision": 1,
            }
        ],
        "thread": [POST],
        "history": [
            {"at": "2026-11-09T09:00:00Z", "kind": "opened", "value": None, "data": None, "note": ""}
        ],
    },
}
