"""Results: what there is, and one with a table."""

from typing import Any

PAGE: dict[str, Any] = {
    "name": "agreement",
    "title": "Agreement",
    "says": "Round I beside what followed discussion.",
    "parameters": ["drawn", "values"],
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "SubmissionInput": {
        "system": "Longformer, 2026",
        "contact": "team@example.org",
        "note": "Beam search, 4 beams.",
        "outputs": {"boots-1": "The boots are warm and dry.", "boots-2": "Most buyers found them too small."},
    },
    "SubmissionAnswer": {
        "system": "Longformer, 2026",
        "outputs": 2,
        "message": "An admin of the benchmark decides whether people rate these outputs.",
    },
    "PageRow": PAGE,
    "ResultShape": {
        **PAGE,
        "chosen": {"drawn": "documents"},
        "choices": {
            "drawn": [{"value": "documents", "name": "documents"}, {"value": "units", "name": "units"}]
        },
        "current": True,
        "computed_at": "2026-11-20T10:00:00Z",
        "problem": "",
        "answer": "Alpha of Round I is 0.61 to 0.80: 1 of 4 dimensions reach .80 (reliable), "
        "3 reach .667 (tentative).",
        "warnings": [],
        "sections": [
            {
                "title": "Both rounds",
                "anchor": "",
                "says": "",
                "tables": [
                    {
                        "key": "alpha",
                        "title": "Krippendorff’s alpha",
                        "says": "",
                        "heads": 1,
                        "parameters": {},
                        "plot": "",
                        "rows_in_all": 1,
                        "columns": [
                            {"key": "dimension", "name": "Dimension", "kind": "text", "decimals": 3},
                            {
                                "key": "round_1",
                                "name": "Round I, reliability",
                                "kind": "number",
                                "decimals": 3,
                            },
                        ],
                        "rows": [
                            [
                                {"value": "Fluency", "key": "fluency"},
                                {
                                    "value": 0.5334,
                                    "low": 0.41,
                                    "high": 0.64,
                                    "count": 416,
                                    "how": "Krippendorff's alpha (function krippendorff_alpha).",
                                },
                            ]
                        ],
                    }
                ],
            }
        ],
    },
}

# Of a result: one table of it, and the plot of this table; each with a name.
FILES = {
    "text/csv": ("TableAsCsv", "dimension,round_1_alpha\r\nfluency,0.65\r\n"),
    "image/svg+xml": ("PlotAsSvg", '<svg xmlns="http://www.w3.org/2000/svg"><title>Alpha</title></svg>'),
}
