"""Biases of judges, each a `Bias` with an interval and a control.

Severity, spread and the distribution of values are compared with people's. Values at equal quality are
related to an output's length, the judge's own family, and other dimensions of the same call. Order effects
concern options, the two outputs of a pair, and dimensions in a call. A judge's samples show their spread and
round numbers. Every measure needs people's values or a manipulation (a swap, a second sample). Without either
it is undefined, and its reason names the missing data.
"""

from agreement.biases.anchoring import (
    Range,
    correlated_errors,
    correlation_beyond_people,
    ranges_of,
    scores_given_before,
)
from agreement.biases.measures import (
    Bias,
    Control,
    decline_with_quality,
    perplexity_by_rating,
    self_preference,
    slope_beyond_quality,
)
from agreement.biases.order import later_places, option_order, place_preference
from agreement.biases.severity import (
    distribution_distance,
    modal_excess,
    round_numbers,
    severity,
    spread_of_samples,
    spread_ratio,
)
