"""Documents, systems and items, and gold."""

DOCUMENT = {
    "document": "boots",
    "title": "Boots",
    "parts": [{"label": "Review 1", "text": "Great boots, but they run small."}],
}
ITEM = {"document": "boots", "system": "a", "text": "People like these boots; order a size up."}
RIGHT = {
    "explanation": "The summary leaves nothing out.",
    "values": [{"dimension": "fluency", "value": 4, "explanation": "One comma is missing."}],
}
MARKED = {"document": "boots", "system": "a", "use": "practice"}

EXAMPLES = {
    "DocumentsInput": {"documents": [DOCUMENT]},
    "DocumentRow": {**DOCUMENT, "metadata": {}},
    "SystemRow": {"system": "a"},
    "ItemsInput": {"items": [ITEM, {**ITEM, "system": "b", "text": "Boots that run small."}]},
    "ItemRow": {**ITEM, "kind": "output", "metadata": {}},
    "ComparisonsInput": {"size": 2, "per_document": None},
    "DrawnComparisons": {"made": 1},
    "PartsInput": {
        "outputs": [
            {"document": "boots", "system": "a", "parts": ["People like these boots.", "Order a size up."]}
        ]
    },
    "ImportedParts": {"outputs": 1},
    "Imported": {
        "made": {"documents": 0, "systems": 2, "items": 2},
        "already_there": {"documents": 0, "systems": 0, "items": 0},
    },
    "RecordedInput": {
        "ratings": [{"document": "boots", "system": "b", "rater": "Ann", "dimension": "fluency", "value": 4}]
    },
    "RecordedImport": {
        "made": {"raters": 1, "ratings": 1},
        "already_there": {"raters": 0, "ratings": 0},
        "opens_round_one": True,
    },
    "MarkInput": MARKED,
    "GoldInput": RIGHT,
    "GoldRow": {"id": 3, **MARKED, **RIGHT},
    "BarInput": {"practice_bar": 80},
    "PracticeBar": {"practice_bar": 80},
}
