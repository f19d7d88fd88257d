"""The curve over r of a policy's preview, as data of a chart."""

from django.utils.translation import gettext

from annotate.results.arrangement import Data
from judges.routing.queries.advice import ThresholdStep
from judges.routing.queries.preview import RoutingPlan


def curve_of_advice(plan: RoutingPlan) -> Data | None:
    """Return the expected share of wrong units and the share of saved ratings by r, for each dimension.

    None without advice, or if no dimension has a forecast.
    """
    wrong, saved = gettext("wrong among units that stay"), gettext("ratings saved")
    accepted, advised = gettext("accepted share"), gettext("advised r")
    points: list[Data] = []
    for each in plan.advice:
        steps = [step for step in each.steps if step.kept.expected_share is not None]
        if not steps:
            continue
        # Every unit with an R stays at the first step. Its point is just below the least R.
        least = max(-1.0, min((step.threshold for step in steps[1:]), default=0.0) - 0.05)
        thresholds = [max(step.threshold, least) for step in steps]
        panel = each.dimension.name

        def point(series: str, x: float, value: float, note: str, panel: str = panel) -> Data:
            return {
                "panel": panel,
                "row": "",  # panels without row labels are side by side
                "series": series,
                "name": series,
                "x": x,
                "value": value,
                "note": note,
            }

        for x, step in zip(thresholds, steps, strict=True):
            note = f"{panel}, {_note(step)}"
            share_saved = step.ratings_saved / (plan.policy.raters * each.units)
            points.append(point(wrong, x, step.kept.expected_share or 0.0, note))
            points.append(point(saved, x, share_saved, note))
            if step is each.chosen:
                points.append(point(advised, x, step.kept.expected_share or 0.0, f"{panel}: {each.says}"))
        note = gettext("accepted: {share:.4g} %").format(share=100 * plan.policy.risk)
        points += [point(accepted, x, plan.policy.risk, note) for x in (thresholds[0], thresholds[-1])]
    if not points:
        return None
    return {
        "kind": "lines",
        "key": "advice",
        "title": gettext("Expected errors and saved ratings by r"),
        "points": points,
        "across": "r",
        "up": gettext("share"),
        "series": [wrong, saved, accepted, advised],
        "lines": [],
    }


def _note(step: ThresholdStep) -> str:
    return gettext(
        "r = {r:g}: {kept:,} units stay, about {wrong:,} wrong ({share:.0f} %); about {saved:,} ratings saved"
    ).format(
        r=step.threshold,
        kept=step.kept.units,
        wrong=round(step.kept.expected_wrong),
        share=100 * (step.kept.expected_share or 0),
        saved=step.ratings_saved,
    )
