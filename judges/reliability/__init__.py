"""Where judges can be trusted, and what follows: pure functions over arrays, without Django."""

from judges.reliability.alternative_annotator import (
    AlternativeAnnotatorTest,
    Verdict,
    alternative_annotator_test,
    benjamini_yekutieli,
    minus_root_mean_squared_error,
    share_of_equal_values,
)
from judges.reliability.audit import (
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
from judges.reliability.betting import (
    betting_interval,
    guaranteed_mean,
    projected_guaranteed_widths,
)
from judges.reliability.confidence import (
    ErrorModel,
    closeness,
    cross_fitted_loss,
    fit_error_model,
    fold_numbers,
    largest_probability,
    steadiness,
)
from judges.reliability.controls import AuditFinding, Certified, certify, check_audit, usual_value
from judges.reliability.differences import Betting, Difference, pairwise_differences
from judges.reliability.estimates import (
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
from judges.reliability.indicator import (
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
from judges.reliability.losses import (
    Ceiling,
    Loss,
    another_point,
    at_cut,
    human_ceiling,
    more_than_one_point,
    squared_distance,
)
from judges.reliability.planning import (
    CalibrationPlan,
    errors_allowed,
    least_accepted_ratings,
    plan_calibration,
)
from judges.reliability.policy import CellDecision, DecidedBy, IndicatorRule, decide
from judges.reliability.pooled import pooled_estimate
from judges.reliability.sample import RatedSample
from judges.reliability.selective import (
    Guarantee,
    RiskCertificate,
    RiskTest,
    calibrate,
    grid_between,
    grid_of,
)
from judges.reliability.stratified import combined_estimate, neyman_allocation, stratified_estimate
from judges.reliability.weighted import active_inference, active_probabilities, weighted_estimate
