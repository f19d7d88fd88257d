"""Whether a judge agrees with itself: from sample to sample, and from one variant of it to another."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotate.agreement import (
    Coefficient,
    Counts,
    MeasurementLevel,
    ReliabilityData,
    Resampling,
    checked_alpha,
    observed_domain,
)
from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness, substream
from annotate.agreement.weighted import Weighted

_STUREBORG = "Stureborg, Alikaniotis and Suhara 2024, tables 4 and 7"
_BY_DOCUMENTS = Resampling(by="documents")


def bin_values(values: npt.ArrayLike, points: npt.ArrayLike) -> FloatArray:
    """Values of any shape at the nearest point of a scale, halves at the upper; NaN stays.

    points: of the scale, ascending, equally far apart, two at least.

    Variants are compared on one scale: 1 to 100, mapped to 1 to 5, has values between the points that 1 to 5
    cannot have (Stureborg and others 2024, table 7).
    """
    scale, table = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
    places = np.clip(np.floor((table - scale[0]) / (scale[1] - scale[0]) + 0.5), 0, len(scale) - 1)
    known = ~np.isnan(table)
    found = np.full(table.shape, np.nan)
    found[known] = scale[places[known].astype(np.intp)]
    return found


def variant_agreement(
    first: FloatArray,
    second: FloatArray,
    *,
    documents: npt.ArrayLike,
    measurement_level: MeasurementLevel | str = MeasurementLevel.INTERVAL,
    generator: Randomness | None = None,
) -> Coefficient:
    """Krippendorff's alpha of two variants of a judge (items,), as if each were a rater; NaN for a gap.

    Over the items that both have; the interval resamples documents (items,).
    Undefined where no item has both, and without variation. Source: Stureborg and others 2024, tables 4, 7.
    """
    values = np.vstack([first, second])
    domain = observed_domain(values)
    data = ReliabilityData(
        values,
        measurement_level=measurement_level,
        value_domain=domain if len(domain) else [0.0],
        documents=documents,
    )
    found = checked_alpha(data, generator=substream(generator, "variants"), resampling=_BY_DOCUMENTS)
    named = replace(found, name="variant_agreement", label="Alpha between variants", source=_STUREBORG)
    if named.defined or named.counts.pairable_units:
        return named
    return replace(named, reason="No item has a value of both variants; let both judge the same items.")


def share_repeated(
    samples: FloatArray, *, documents: npt.ArrayLike, generator: Randomness | None = None
) -> Coefficient:
    """How often two samples of one item have the same value: the share of pairs within items.

    samples: (items, samples), NaN for a gap. Each item with two samples counts once; the interval resamples
    documents (items,). Undefined where no item has two samples.
    """
    given = (~np.isnan(samples)).sum(axis=1)
    same = (samples[:, :, None] == samples[:, None, :]).sum(axis=(1, 2)) - given  # without itself
    pairs = given * (given - 1)
    usable = pairs > 0
    shares = same[usable] / pairs[usable]
    of = np.unique(np.asarray(documents)[usable], return_inverse=True)[1]
    size = int(of.max(initial=-1)) + 1
    sums, items = np.bincount(of, shares, size), np.bincount(of, minlength=size)
    found = Weighted(
        "share_repeated",
        "Pairs of samples with the same value",
        "a share; no correction for chance",
        lambda weights: (weights @ sums) / (weights @ items),
        size,
        "documents",
        (0.0, 1.0),
    )
    number = int(usable.sum())
    counts = Counts(len(samples), number, samples.shape[1], int(given.sum()), int(given[usable].sum()))
    why = "No item has two samples; ask the judge more than once about the same items."
    return found.coefficient(counts, why, generator, _BY_DOCUMENTS)
