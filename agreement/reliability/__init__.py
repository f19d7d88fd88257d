"""The reliability of judges, and its consequences.

The indicator R and its validity need no certificate. `calibrate` and `certify` bound a judge's errors among
the units that it keeps, `calibrate_cascade` the errors of several judges in stages; `plan_calibration` gives
the required number of ratings. `alternative_annotator_test` tests whether a judge may replace an annotator.
Estimates (`RatedSample` to `Estimate`) combine ratings and a judge's values, also after routing, with unequal
probabilities, by strata, pooled, or valid at every look (betting). Audits check the units that stay with the
judge, and `judge_verdict` weighs all evidence.
"""

from agreement.reliability.alternative_annotator import (
    AlternativeAnnotatorTest,
    ReplacementControl,
    Verdict,
    alternative_annotator_test,
    benjamini_yekutieli,
    minus_root_mean_squared_error,
    share_of_equal_values,
)
from agreement.reliability.cascade import (
    AuditFinding,
    CascadeCertificate,
    CascadeForecast,
    Certified,
    CertifiedCascade,
    calibrate_cascade,
    calls_of_stages,
    certify,
    certify_cascade,
    check_audit,
    deciding_stages,
    forecast_cascade,
    paths_of,
    usual_value,
)
from agreement.reliability.confidence import (
    Ceiling,
    ErrorModel,
    Loss,
    another_point,
    at_cut,
    closeness,
    cross_fitted_loss,
    fit_error_model,
    fold_numbers,
    human_ceiling,
    largest_probability,
    more_than_one_point,
    squared_distance,
    steadiness,
)
from agreement.reliability.corrected_systems import (
    About,
    CorrectedMean,
    CorrectedSystems,
    correct_systems,
)
from agreement.reliability.correction_gain import (
    LEAST_FOR_GAIN,
    CorrectionGain,
    Gain,
    correction_gain,
)
from agreement.reliability.differences import (
    Betting,
    Difference,
    betting_interval,
    guaranteed_mean,
    pairwise_differences,
    projected_guaranteed_widths,
)
from agreement.reliability.estimates import (
    LEAST_RATINGS,
    Estimate,
    beyond_batch,
    cut_to_scale,
    humans_only,
    judge_only,
    prediction_powered,
    projected_widths,
    regression_estimate,
    safety_warnings,
)
from agreement.reliability.fixed_sequence import (
    Guarantee,
    RiskCertificate,
    RiskTest,
    calibrate,
    grid_between,
    grid_of,
)
from agreement.reliability.indicator import (
    CoefficientSpread,
    DimensionReliability,
    DrawnWith,
    SystemReliability,
    Validity,
    agreement_with_humans,
    expected_interval,
    indicator,
    meta_correlation,
    reliability,
    validity,
)
from agreement.reliability.judge_error import (
    ControlError,
    ErrorStatistic,
    JudgeError,
    SeparatedPairs,
    judge_error,
)
from agreement.reliability.planning import (
    CalibrationPlan,
    ReplacementPlan,
    errors_allowed,
    least_accepted_ratings,
    plan_calibration,
    plan_replacement,
)
from agreement.reliability.policy import CellDecision, DecidedBy, IndicatorRule, decide
from agreement.reliability.sample import (
    RatedSample,
    draw,
    draw_at_least,
    draw_audit,
    draw_sample,
    share_to_reach,
    share_with_least,
    size_of_audit,
    thin_to_one_probability,
    uniform_numbers,
)
from agreement.reliability.verdict import (
    CertifiedPart,
    Ground,
    JudgeEvidence,
    JudgeUse,
    JudgeVerdict,
    KnownErrors,
    Shown,
    Use,
    UseFinding,
    find_uses,
    judge_verdict,
)
from agreement.reliability.weighted import (
    active_inference,
    active_probabilities,
    combined_estimate,
    neyman_allocation,
    pooled_estimate,
    stratified_estimate,
    weighted_estimate,
)
