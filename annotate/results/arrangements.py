"""What the results pages about people show first."""

from django.utils.translation import gettext_lazy as _

from annotate.results.answers import (
    RELIABLE,
    TENTATIVE,
    answer_agreement,
    answer_alpha,
    answer_disputes,
    answer_passages,
    answer_question,
    answer_severity,
    answer_so_far,
    answer_study,
    answer_systems,
    group_systems,
)
from annotate.results.arrangement import Arrangement, Chart, FrontQuestion

_ALPHA = Chart("alpha", lines=(TENTATIVE, RELIABLE))
_MEANS = Chart("means", refine=group_systems)

AGREEMENT = Arrangement(
    tabs={
        "rounds": _("By dimension"),
        "pairs": _("By pair of raters"),
        "by-system": _("By system"),
        "with-one-rater-left-out": _("Without one rater"),
        "coefficients": _("Other coefficients"),
        "distribution": _("Values given"),
        "alpha": _("Levels of measurement"),
        "movement": _("Disputes before and after"),
        "splits": _("Units that split raters"),
        "split-units": _("Units with two camps"),
    },
    chart=_ALPHA,
    columns={
        "rounds": (
            *("dimension", "round_1_alpha", "round_1_within_one", "opened", "settled", "adjudicated"),
            *("irresolvable", "left_open", "round_2_alpha", "round_2_within_one"),
        ),
        "split-units": ("dimension", "document", "lower", "upper", "range", "p_adjusted", "split"),
    },
    # Round II has alpha and agreement within one point beside Round I in the first table.
    in_files=("alpha", "round-?-by-document", "round-?-rmse*", "round-?-kendall", "round-2-*"),
    columns_in_files={"coefficients": ("rmse",)},
    answer=answer_agreement,
    cards=[
        FrontQuestion(_("Agreement"), _ALPHA, answer_alpha),
        FrontQuestion(_("Disputes before and after discussion"), Chart("movement"), answer_disputes),
    ],
)
SYSTEMS = Arrangement(
    tabs={
        "means": _("Means"),
        "differences": _("Differences"),
        "ranks": _("Possible ranks"),
        "quartiles": _("Spread"),
        "error-sources": _("Sources of error"),
        "smallest-differences": _("Smallest differences"),
    },
    chart=_MEANS,
    sorts={"differences": "p_adjusted"},
    answer=answer_systems,
    cards=[FrontQuestion(_("Systems"), _MEANS, answer_systems)],
)
QUESTIONS = Arrangement(
    tabs={
        "agreement": _("Agreement"),
        "systems": _("Systems"),
        "labels": _("By label"),
        "categories": _("By category"),
        "errors": _("Errors"),
        "position": _("Position"),
        "best-worst": _("Best and worst"),
    },
    chart=Chart("systems"),
    answer=answer_question,
)
BY_METADATA = Arrangement(
    tabs={"means": _("Means"), "by-metadata": _("Alpha")},
    chart=Chart("means"),
)
SEVERITY = Arrangement(
    tabs={"raters": _("Raters"), "fair": _("Systems"), "fit": _("Fit of the model"), "drift": _("Over time")},
    chart=Chart("raters", ("severity",)),
    columns_in_files={"raters": ("values",)},
    answer=answer_severity,
)
PASSAGES = Arrangement(chart=Chart("passages", ("alpha",)), answer=answer_passages)
STUDY = Arrangement(
    tabs={
        "designs": _("Cheapest design"),
        "raters-needed": _("Raters"),
        "documents-needed": _("Documents"),
        "power": _("Power"),
        "dependability": _("Dependability"),
        "variances": _("Sources of variance"),
    },
    chart=Chart("power-curve"),
    charts={
        "raters-needed": "reliability-curve",
        "documents-needed": "width-curve",
        "power": "power-curve",
        "dependability": "dependability-curve",
    },
    in_files=("*-curve", "designs-by-dimension"),
    columns_in_files={"designs": ("reaches",)},
    answer=answer_study,
)
SO_FAR = Arrangement(
    tabs={
        "alpha": _("Alpha"),
        "stopping": _("Enough ratings?"),
        "systems-so-far": _("Systems"),
        "pairs-so-far": _("Pairs of systems"),
        "drift": _("Rater drift"),
        "order": _("Order of work"),
    },
    chart=Chart("alpha", lines=(TENTATIVE, RELIABLE)),
    sorts={"pairs-so-far": "p_adjusted"},
    answer=answer_so_far,
)
