"""A judge compared with people: pure functions over arrays of scores and verdicts, without Django."""

from judges.comparison.alpha import AlphaWithPeople, alpha_with_people, self_consistency
from judges.comparison.between_judges import (
    JudgesCompared,
    Standing,
    compare_two_judges,
    holm_over_pairs,
    standing,
)
from judges.comparison.by_system import SystemScores, human_ranking, scores_by_system
from judges.comparison.categories import CategoryAgreement, category_agreement
from judges.comparison.correlations import (
    CORRELATIONS,
    Level,
    SystemCoefficient,
    coefficient_values,
    correlation_by_system,
    correlation_called,
    correlation_with_humans,
    indicators_with_correlations,
    meta_correlation,
    reliability_and_correlation,
    reliability_by_system,
)
from judges.comparison.head_to_head import (
    PairPoints,
    PositionConsistency,
    Verdicts,
    correct_verdicts,
    head_to_head_points,
    position_consistency,
)
from judges.comparison.preferences import (
    CorrectPreferences,
    PairPreference,
    all_pairs,
    correct_preferences,
    neighbours,
)
from judges.comparison.sample_curve import LEAST_GAIN, CurvePoint, SampleCurve, sample_curve
from judges.comparison.scores import Scores
from judges.comparison.self_agreement import binned, share_repeated, variant_agreement
from judges.comparison.strengths import Strengths, SystemStrength, system_strengths

__all__ = [
    "CORRELATIONS",
    "LEAST_GAIN",
    "AlphaWithPeople",
    "CategoryAgreement",
    "CorrectPreferences",
    "CurvePoint",
    "JudgesCompared",
    "Level",
    "PairPoints",
    "PairPreference",
    "PositionConsistency",
    "SampleCurve",
    "Scores",
    "Standing",
    "Strengths",
    "SystemCoefficient",
    "SystemScores",
    "SystemStrength",
    "Verdicts",
    "all_pairs",
    "alpha_with_people",
    "binned",
    "category_agreement",
    "coefficient_values",
    "compare_two_judges",
    "correct_preferences",
    "correct_verdicts",
    "correlation_by_system",
    "correlation_called",
    "correlation_with_humans",
    "head_to_head_points",
    "holm_over_pairs",
    "human_ranking",
    "indicators_with_correlations",
    "meta_correlation",
    "neighbours",
    "position_consistency",
    "reliability_and_correlation",
    "reliability_by_system",
    "sample_curve",
    "scores_by_system",
    "self_consistency",
    "share_repeated",
    "standing",
    "system_strengths",
    "variant_agreement",
]
