"""Biases of judges, each with an interval and a control: pure functions over arrays, without Django.

Every measure needs people's values or a manipulation (a swap, a second sample); without either it is
undefined and says what it needs.
"""

from judges.biases.anchoring import (
    Range,
    correlated_errors,
    correlation_beyond_people,
    ranges_of,
    scores_given_before,
)
from judges.biases.choices import option_order
from judges.biases.familiarity import perplexity_by_rating
from judges.biases.families import self_preference
from judges.biases.measures import Bias, Control
from judges.biases.pairs import place_preference
from judges.biases.places import later_places
from judges.biases.quality import decline_with_quality
from judges.biases.repeats import spread_of_samples
from judges.biases.round_numbers import round_numbers
from judges.biases.severity import distribution_distance, modal_excess, severity, spread_ratio
from judges.biases.slopes import slope_of_errors
