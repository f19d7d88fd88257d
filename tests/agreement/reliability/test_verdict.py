"""The verdict on a judge: which evidence refuses in any case, and what decides else."""

import pytest

from agreement.reliability import (
    CertifiedPart,
    Ground,
    JudgeEvidence,
    JudgeUse,
    KnownErrors,
    Shown,
    Use,
    UseFinding,
    Verdict,
    judge_verdict,
)

pytestmark = [pytest.mark.fast, pytest.mark.once]

FAILS, CONTROL, PASSES = Verdict.FAILS, Verdict.LIKE_A_CONTROL, Verdict.PASSES
PART = CertifiedPart(kept=60, units=100)
TOO_MANY, FEW = KnownErrors(100, 21, 0.2), KnownErrors(100, 20, 0.2)
BEST = {"is_rated": True, "alpha": 0.8, "replacement": PASSES, "r_tells": True, "certificate": PART}


@pytest.mark.parametrize(
    ("refusing", "ground"),
    [
        ({"alpha": -0.33}, Ground.ALPHA),
        ({"alpha": 0.0}, Ground.ALPHA),
        ({"errors": TOO_MANY}, Ground.ERRORS),
        ({"audit": KnownErrors(240, 104, 0.2)}, Ground.AUDIT),
        ({"certificate": CertifiedPart(60, 100, known=TOO_MANY)}, Ground.ERRORS),
    ],
)
def test_rejecting_ground_outweighs_all_other_evidence(refusing, ground):
    found = judge_verdict(JudgeEvidence(**{**BEST, **refusing}))
    assert (found.use, found.ground) == (Use.REFUSED, ground)


@pytest.mark.parametrize(
    ("given", "use", "ground"),
    [
        ({}, Use.UNKNOWN, Ground.UNRATED),
        ({"is_rated": True}, Use.UNKNOWN, Ground.NOTHING),
        ({"is_rated": True, "alpha": 0.01, "errors": FEW}, Use.UNKNOWN, Ground.NOTHING),
        ({"is_rated": True, "replacement": PASSES}, Use.ALL, Ground.REPLACEMENT),
        ({"is_rated": True, "replacement": FAILS}, Use.REFUSED, Ground.REPLACEMENT),
        ({"is_rated": True, "replacement": CONTROL}, Use.REFUSED, Ground.REPLACEMENT),
        ({"is_rated": True, "replacement": FAILS, "r_tells": True}, Use.PART, Ground.INDICATOR),
        ({"is_rated": True, "replacement": FAILS, "certificate": PART}, Use.PART, Ground.CERTIFICATE),
        (
            {"is_rated": True, "replacement": FAILS, "certificate": CertifiedPart(100, 100)},
            Use.REFUSED,
            Ground.REPLACEMENT,
        ),
        ({"certificate": CertifiedPart(60, 100, 4.0, 0.6)}, Use.REFUSED, Ground.CERTIFIED_CONSTANT),
        ({"certificate": CertifiedPart(60, 100, 4.0, 0.5)}, Use.PART, Ground.CERTIFICATE),
        (
            {"is_rated": True, "replacement": PASSES, "certificate": CertifiedPart(60, 100, 4.0, 0.6)},
            Use.ALL,
            Ground.REPLACEMENT,
        ),
    ],
)
def test_the_strongest_evidence_decides(given, use, ground):
    found = judge_verdict(JudgeEvidence(**given))
    assert (found.use, found.ground) == (use, ground)
    assert found.says.endswith(".")


def test_judge_that_fails_the_test_decides_no_more_than_a_part():
    found = judge_verdict(JudgeEvidence(is_rated=True, replacement=FAILS, r_tells=True))
    assert "may not decide all units" in found.says
    allowed = judge_verdict(JudgeEvidence(is_rated=True, r_tells=True))
    assert "may not decide all units" not in allowed.says


def test_rejections_report_the_deciding_numbers():
    found = judge_verdict(JudgeEvidence(is_rated=True, alpha=-0.3326, bias=-2.0218))
    assert found.says == (
        "Do not use it: its alpha with people is -0.33, no better than chance. On average it is 2.02 points "
        "below people."
    )
    counts = "21 of 100 rated units that stay (21 %); 20 % is accepted."
    assert counts in judge_verdict(JudgeEvidence(is_rated=True, errors=TOO_MANY)).says


def test_a_certificate_is_not_said_to_beat_a_constant():
    """Two certified shares are compared by no test."""
    found = judge_verdict(JudgeEvidence(certificate=CertifiedPart(100, 100, 5.0, 0.78)))
    assert found.use is Use.PART
    assert "constant" not in found.says


def test_known_share_replaces_a_bound():
    known = CertifiedPart(100, 120, known=KnownErrors(100, 7, 0.3))
    found = judge_verdict(JudgeEvidence(is_rated=True, certificate=known))
    assert found.says == "It may decide 100 of 120 units: people rated them all, and it is wrong on 7 %."


def single_texts(shown):
    return {"is_rated": True, "uses": (UseFinding(JudgeUse.SCORE, shown, "Its error is 0.90."),)}


@pytest.mark.parametrize(
    ("shown", "use", "ground"),
    [
        (Shown.SURELY, Use.ALL, Ground.REPLACEMENT),
        (Shown.FOR_PANEL, Use.ALL, Ground.REPLACEMENT),
        (Shown.NOT, Use.UNKNOWN, Ground.SINGLE_TEXTS),
        (Shown.REFUTED, Use.UNKNOWN, Ground.SINGLE_TEXTS),
    ],
)
def test_passing_the_replacement_test_is_not_enough_for_all_units(shown, use, ground):
    found = judge_verdict(JudgeEvidence(**single_texts(shown), replacement=PASSES))
    assert (found.use, found.ground) == (use, ground)
    assert JudgeEvidence(**single_texts(shown), replacement=PASSES).may_decide_all is (
        shown is not Shown.REFUTED
    )
    by_r = judge_verdict(JudgeEvidence(**single_texts(shown), replacement=PASSES, r_tells=True))
    assert by_r.use is (Use.ALL if use is Use.ALL else Use.PART)
    assert ("error on single texts is too large" in by_r.says) is (shown is Shown.REFUTED)
    without_test = judge_verdict(JudgeEvidence(**single_texts(shown)))
    assert (without_test.ground is Ground.SINGLE_TEXTS) is (shown is Shown.REFUTED)


def test_a_judge_that_decides_no_unit_may_rank_systems():
    ranks = (UseFinding(JudgeUse.RANK, Shown.SURELY, "Tau is 0.90."),)
    found = judge_verdict(JudgeEvidence(is_rated=True, replacement=FAILS, uses=ranks))
    assert found.refuses
    assert found.granted == list(ranks)
    contradicted = judge_verdict(JudgeEvidence(is_rated=True, alpha=-0.1, uses=ranks))
    assert not contradicted.granted
