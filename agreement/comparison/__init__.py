"""A judge compared with people, from `Scores` of items and `Verdicts` on pairs of outputs.

Correlations are over items, systems or documents, by system (P and R) and over systems (M). Alpha compares
the judge, as one more rater, with people, and the judge's samples with each other. Preferences between
systems and outputs, head-to-head points, position consistency and strengths (Bradley and Terry) are for
judges that compare. Named categories have accuracy and F1. Two judges are compared on the same items; factors
of several judges have effects; a curve shows the number of samples that is enough. `PairwiseAnswers` are
people's preferences between two outputs.
"""

from agreement.comparison.alpha import (
    AlphaWithPeople,
    Effect,
    OneMoreRater,
    alpha_with_people,
    judge_as_one_more_rater,
    self_consistency,
)
from agreement.comparison.between_judges import (
    HighestJudges,
    JudgesCompared,
    compare_two_judges,
    highest_judges,
    holm_over_pairs,
)
from agreement.comparison.categories import (
    CategoryAgreement,
    ConfidenceCalibration,
    category_agreement,
    confidence_calibration,
    confidence_of_samples,
    equals_mode,
    is_within_one,
)
from agreement.comparison.correlations import (
    CORRELATIONS,
    Level,
    SystemCoefficient,
    coefficient_values,
    correlation_by_system,
    correlation_called,
    correlation_of_systems,
    correlation_with_humans,
    correlation_with_other_raters,
    indicators_with_correlations,
    meta_correlation,
    reliability_and_correlation,
    reliability_by_system,
    reliability_of_systems,
)
from agreement.comparison.effects import FactorEffect, factor_effects
from agreement.comparison.head_to_head import (
    PairPoints,
    PositionConsistency,
    Verdicts,
    correct_verdicts,
    head_to_head_points,
    position_consistency,
    text_preferences_of_verdicts,
)
from agreement.comparison.preferences import (
    CorrectPreferences,
    TextPreferences,
    all_pairs,
    correct_preferences,
    neighbours,
    text_preferences,
    text_preferences_of_scores,
)
from agreement.comparison.samples import (
    LEAST_GAIN,
    CurvePoint,
    SampleCurve,
    SampleDistance,
    SampleDistributions,
    bin_values,
    energy_distance,
    jensen_shannon,
    sample_curve,
    sample_distributions,
    share_repeated,
    total_variation,
)
from agreement.comparison.scores import (
    HumanScores,
    Scores,
    SystemScores,
    human_ranking,
    human_scores_by_system,
    scores_by_system,
)
from agreement.comparison.strengths import (
    PairwiseAnswers,
    Strengths,
    preference_alpha,
    share_of_agreement,
    strengths_by_preference,
    system_strengths,
    verdicts_of_answers,
)
