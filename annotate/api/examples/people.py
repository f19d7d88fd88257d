"""People of a project and the invitations to it."""

INVITATION = {
    "id": 4,
    "role": "annotator",
    "email": "grace@example.org",
    "expires_at": "2026-11-16T09:00:00Z",
    "sent_at": None,
    "withdrawn_at": None,
}

EXAMPLES = {
    "RaterRow": {"rater": "R-7KQ2M9XA", "active": True, "counted": True},
    "PlaceRow": {
        "id": 5,
        "role": "annotator",
        "label": "Grace",
        "email": "grace@example.org",
        "alias": "A",
        "pseudonym": "R-7KQ2M9XA",
        "active": True,
        "counted": True,
    },
    "PlaceInput": {"active": False},
    "RoleInput": {"role": "researcher"},
    "LabelInput": {"label": "A1"},
    "JoinInput": {"member": "5"},
    "HandOverInput": {"to": "everyone"},
    "HandedOverRow": {"given": 12, "freed": 3, "begun": 1},
    "NewInvitation": {"role": "annotator", "email": "grace@example.org"},
    "NewInvitations": {
        "role": "annotator",
        "addresses": ["grace@example.org", "alan@example.org"],
        "note": "Rate 50 summaries by 1 December.",
        "send": True,
    },
    "InvitedRow": {"made": [INVITATION], "members": ["alan@example.org"], "waiting": []},
    "InvitationRow": INVITATION,
    "PendingRow": {"invitation": INVITATION, "link": "https://concord.example.org/invitations/4:1tXw2f/"},
    "AuditRow": {
        "id": 17,
        "at": "2026-11-02T09:05:00Z",
        "actor": "admin@example.org",
        "actor_name": "Ada Min",
        "act": "project.changed",
        "subject": "Reviews of boots",
        "before": {"raters_per_item": 3},
        "after": {"raters_per_item": 2},
        "note": "",
    },
}
