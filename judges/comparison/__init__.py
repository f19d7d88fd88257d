"""A judge compared with people: pure functions over arrays of scores and verdicts, without Django."""

from judges.comparison.alpha import AlphaWithPeople, alpha_with_people, self_consistency
from judges.comparison.between_judges import (
    HighestJudges,
    JudgesCompared,
    compare_two_judges,
    highest_judges,
    holm_over_pairs,
)
from judges.comparison.by_system import (
    HumanScores,
    SystemScores,
    human_ranking,
    human_scores_by_system,
    scores_by_system,
)
from judges.comparison.categories import CategoryAgreement, category_agreement
from judges.comparison.correlations import (
    CORRELATIONS,
    Level,
    SystemCoefficient,
    coefficient_values,
    correlation_by_system,
    correlation_called,
    correlation_of_systems,
    correlation_with_humans,
    indicators_with_correlations,
    meta_correlation,
    reliability_and_correlation,
    reliability_by_system,
    reliability_of_systems,
)
from judges.comparison.head_to_head import (
    PairPoints,
    PositionConsistency,
    Verdicts,
    correct_verdicts,
    head_to_head_points,
    position_consistency,
    text_preferences_of_verdicts,
)
from judges.comparison.preferences import (
    CorrectPreferences,
    TextPreferences,
    all_pairs,
    correct_preferences,
    neighbours,
    text_preferences,
    text_preferences_of_scores,
)
from judges.comparison.raters import correlation_with_other_raters
from judges.comparison.sample_curve import LEAST_GAIN, CurvePoint, SampleCurve, sample_curve
from judges.comparison.scores import Scores
from judges.comparison.self_agreement import bin_values, share_repeated, variant_agreement
from judges.comparison.strengths import Strengths, system_strengths
