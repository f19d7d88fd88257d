"""What a page about the reliability of judges is asked: which judges, which coefficient, which epsilon."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from judges.comparison import CORRELATIONS
from judges.models import Judge
from judges.queries.pairings import Pairing, first_judge, of_method, usual_pairing
from judges.queries.replacement import EPSILONS

MEASURES = [(name, measure.estimator.label) for name, measure in CORRELATIONS.items()]


class PairForm(forms.Form):
    """A pair of judges and a coefficient; what is not asked for is the usual one.

    Raises NoJudgesError where there is no pair to choose from.
    """

    rts = forms.ChoiceField(label=_("RTS judge"))
    mcq = forms.ChoiceField(label=_("MCQ judge"))
    beside_people = forms.ChoiceField(
        label=_("P is of"), choices=[("rts", "the RTS judge"), ("mcq", "the MCQ judge")]
    )
    coefficient = forms.ChoiceField(choices=MEASURES)
    units = forms.ChoiceField(
        label=_("P is over"),
        choices=[("all", "all rated units"), ("fresh", "units that settled no policy and no certificate")],
    )

    def __init__(self, asked: Mapping[str, Any], *, judges: Sequence[Judge]) -> None:
        usual = usual_pairing(judges)
        super().__init__(
            {
                "rts": usual.rts.pk,
                "mcq": usual.mcq.pk,
                "beside_people": "rts",
                "coefficient": "spearman",
                "units": "all",
                **{name: asked[name] for name in asked},
            }
        )
        self._judges = {str(judge.pk): judge for judge in judges}
        for method in ("rts", "mcq"):
            field = self.fields[method]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(judge.pk, judge.name) for judge in of_method(judges, method)]

    def pairing(self) -> Pairing:
        """Return the two judges that were chosen."""
        rts, mcq = (self._judges[self.cleaned_data[method]] for method in ("rts", "mcq"))
        return Pairing(rts=rts, mcq=mcq)

    def beside(self) -> Judge:
        """Return the judge whose agreement with people is asked for."""
        judge: Judge = getattr(self.pairing(), self.cleaned_data["beside_people"])
        return judge


class MeasuredForm(forms.Form):
    """One judge; the usual one where none is asked for. Raises NoJudgesError where there is none."""

    judge = forms.ChoiceField()

    def __init__(self, asked: Mapping[str, Any], *, judges: Sequence[Judge]) -> None:
        usual = {"judge": first_judge(judges).pk, "epsilon": "0.2"}
        super().__init__({**usual, **{name: asked[name] for name in asked}})
        self._judges = {str(judge.pk): judge for judge in judges}
        field = self.fields["judge"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(judge.pk, judge.name) for judge in judges]

    def chosen(self) -> Judge:
        """Return the judge that was chosen."""
        return self._judges[self.cleaned_data["judge"]]


class ReplacementForm(MeasuredForm):
    """One judge, and what a person may be worth more than it."""

    epsilon = forms.TypedChoiceField(
        choices=[(f"{value:g}", f"{value:g}: {who}") for value, who in EPSILONS.items()], coerce=float
    )
