"""Errors, by the status that they are answered with."""

from annotate.api.authentication import UNUSABLE
from annotate.api.errors import TOO_LARGE

EXAMPLES = {
    "400": {
        "code": "not_json",
        "message": "JSON parse error - Expecting value: line 1 column 1",
        "fields": {},
    },
    "401": {"code": "token_unusable", "message": UNUSABLE, "fields": {}},
    "403": {
        "code": "forbidden",
        "message": "This token lacks the scope write; make one that has it.",
        "fields": {},
    },
    "404": {"code": "not_found", "message": "There is no such thing here.", "fields": {}},
    "406": {
        "code": "not_acceptable",
        "message": "Could not satisfy the request Accept header.",
        "fields": {},
    },
    "409": {
        "code": "frozen",
        "message": "Round I is closed, and its disputes keep the rules that opened them.",
        "fields": {},
    },
    "410": {
        "code": "invitation_unusable",
        "message": "This invitation was withdrawn. Ask the person who sent it.",
        "fields": {},
    },
    "413": {"code": "too_large", "message": TOO_LARGE, "fields": {}},
    "415": {
        "code": "not_json",
        "message": 'Unsupported media type "text/plain" in request.',
        "fields": {},
    },
    "422": {
        "code": "invalid_value",
        "message": "items.3.text: This field may not be blank.",
        "fields": {"items.3.text": "This field may not be blank."},
    },
    "429": {
        "code": "too_many_requests",
        "message": "Request was throttled. Expected available in 12 seconds.",
        "fields": {},
    },
}
