"""The subject of a certificate, recorded at sampling, and the changes since then."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project, text_digest
from judges.core.judge_settings import BOUND_SETTINGS, in_words
from judges.core.material import outputs_of
from judges.core.models import Calibration, DriftWatch, Judge
from judges.core.stages import JudgeStage
from judges.results.queries.scores import Material, SamplesOf
from judges.runs.queries.drift import alarms_of


def population_of(project: Project, material: Material) -> dict[str, Any]:
    """Return the outputs that certificates cover. One query."""
    rows = outputs_of(project).order_by("pk")
    texts = list(rows.values_list("pk", "digest", "document__digest", "system"))
    return {"items": len(material.items), "digest": text_digest(texts)}


def bound_now(
    stages: Sequence[JudgeStage],
    dimensions: Sequence[FrozenDimension],
    material: Material,
    samples: SamplesOf,
    population: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the values that certificates of these judges on these dimensions bind.

    The judges need their endpoints, templates and references. Judgments of later stages are not bound: these
    judges process more units after the certificates are computed.
    """
    asked = _judges_by_name(stages)
    first = _judges_by_name(stages[:1])
    return {
        "judges": {
            name: {setting.key: setting.read(judge) for setting in BOUND_SETTINGS}
            for name, judge in asked.items()
        },
        "population": dict(population),
        "dimensions": {
            each.key: {
                "definition": text_digest(
                    [
                        *(getattr(each, name) for name in _DEFINING),
                        *([] if each.scale_step == 1 else [each.scale_step]),
                    ]
                ),
                "judgments": {
                    name: _digest(material.items, samples[judge.pk, each.key].as_read)
                    for name, judge in first.items()
                },
            }
            for each in dimensions
        },
    }


_DEFINING = ("definition", "guidelines", "scale_minimum", "scale_maximum", "measurement_level")


def _digest(items: npt.NDArray[np.int64], samples: npt.NDArray[np.float64]) -> str:
    """Return a digest of all available values, each with its item and sample."""
    row, sample = np.nonzero(~np.isnan(samples))
    parts = (items[row], sample, np.round(samples[row, sample], 9))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def _judges_by_name(stages: Sequence[JudgeStage]) -> dict[str, Judge]:
    return {name: judge for stage in stages for name, judge in zip(stage.names, stage.judges, strict=False)}


def lapses_of(
    calibration: Calibration, stages: Sequence[JudgeStage], now: dict[str, Any]
) -> dict[str, list[str]]:
    """Return the changes since the sampling by dimension key, one message each. One query."""
    bound = calibration.bound
    judges = _judges_by_name(stages)
    common = []
    for name, settings in bound["judges"].items():
        for setting in BOUND_SETTINGS:
            old, new = settings.get(setting.key), now["judges"][name][setting.key]
            if setting.key not in settings or old == new:
                continue
            message = (
                gettext("The text of {judge}'s prompt was changed.")
                if setting.key == "prompt_digest"
                else gettext("The {setting} of {judge} was {old}, and is {new}.")
            )
            words = {"setting": setting.label, "old": in_words(old), "new": in_words(new)}
            common.append(message.format(judge=judges[name], **words))
    # An unconfirmed alarm invalidates the judge itself.
    confirmed = DriftWatch.objects.filter(
        alarmed_at__gt=calibration.drawn_at, confirmed_at__isnull=False
    ).select_related("judge")
    common += [
        gettext("{judge} has changed since the sample was drawn, as its watch shows.").format(
            judge=each.judge
        )
        for each in alarms_of((judge.pk for judge in judges.values()), confirmed.order_by("pk"))
    ]
    if bound["population"] != now["population"]:
        before, after = bound["population"]["items"], now["population"]["items"]
        what = (
            gettext("There were {before} items, and there are {after}.").format(before=before, after=after)
            if before != after
            else gettext("A text was changed.")
        )
        changed = gettext("The items that it speaks of have changed.")
        common.append(f"{changed} {what}")
    lapses = {}
    for key, parts in bound["dimensions"].items():
        lapses[key] = [*common]
        present = now["dimensions"].get(key)
        if present is None:
            lapses[key].append(gettext("The dimension {dimension} is no longer there.").format(dimension=key))
            continue
        if parts["definition"] != present["definition"]:
            message = gettext("The definition or scale of {dimension} was changed.")
            lapses[key].append(message.format(dimension=key))
        message = gettext("Judgments of {judge} on {dimension} were added or changed.")
        lapses[key] += [
            message.format(judge=judges[name], dimension=key)
            for name, digest in parts["judgments"].items()
            if digest != present["judgments"][name]
        ]
    return lapses
