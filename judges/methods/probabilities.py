"""The score as a mean over all answers that a model might give (Liu et al., 2023, G-Eval, equation 1)."""

import math
from collections.abc import Iterable, Mapping

from annotate.core.translation import gettext
from judges.methods.reading import Readable, Reading, Unreadable

SMALLEST_SHARE = 0.5
"""The candidates must carry this much probability together; else the model was to say something else."""

LEAST_OF_FIRST = 0.01
"""The same of options at a token where only they are compared."""

STRAY = 0.01
"""Probability that does not matter."""


def weighted_mean(top_logprobs: Mapping[str, float], candidates: Mapping[str, float]) -> Reading:
    """Return the sum of p(token) x value over the candidates, divided by the sum of p(token).

    `top_logprobs` holds the natural logarithms of the likeliest tokens at the position of the answer. Tokens
    that differ in surrounding space, quotes or case only are one answer.
    """
    chances = _chances(top_logprobs, candidates)
    # An exact sum does not depend on the order in which the server lists tokens.
    share = math.fsum(chances.values())
    if share < SMALLEST_SHARE:
        return Unreadable(
            gettext("The answers on the scale carry {share:.0%} of the probability, less than half.").format(
                share=share
            )
        )
    # "1" may start "10", so its probability may belong to either score.
    if beginning := _beginning(chances, candidates):
        return Unreadable(
            gettext("The token {beginning} may be the beginning of a longer score.").format(
                beginning=beginning
            )
        )
    value = math.fsum(chance * candidates[token] for token, chance in chances.items()) / share
    # A sum of floats can exceed the ends of the scale by a rounding error.
    return Readable(min(max(value, min(candidates.values())), max(candidates.values())))


def weighted_mean_of_first(
    tokens: Iterable[Mapping[str, float]], candidates: Mapping[str, float]
) -> Reading | None:
    """Return the mean of the candidates by their probabilities at the first token that carries any of them.

    None if no token does. Unreadable if they carry less than a hundredth of the probability: the model was
    about to write something else, such as that it cannot judge.

    `tokens` holds for each token of the reply the natural logarithms of the likeliest ones at its position.
    As in evaluations of multiple choice, only the candidates are compared with each other; the rationale
    states their share of the total probability.
    """
    for top_logprobs in tokens:
        chances = _chances(top_logprobs, candidates)
        share = math.fsum(chances.values())
        if 0 < share < LEAST_OF_FIRST:
            return Unreadable(
                gettext("The options carry only {share:.2g} of the probability.").format(share=share)
            )
        # Tokens before the answer, such as a quote or a line break, carry none of the candidates.
        if share:
            value = math.fsum(chance * candidates[token] for token, chance in chances.items()) / share
            return Readable(value, f"The options carry {share:.2g} of the probability.")
    return None


def answer_logprobs(top_logprobs: Mapping[str, float], candidates: Mapping[str, float]) -> dict[str, float]:
    """Return the log-probabilities of the candidates among the likeliest tokens, the likeliest first.

    Tokens of the same answer are summed; values are rounded to four decimals.
    """
    chances = _chances(top_logprobs, candidates)
    # Equal probabilities are sorted by name, so that the same reply always gives the same rows.
    likeliest = sorted(chances.items(), key=lambda each: (-each[1], each[0]))
    # A very small probability underflows to 0, which has no logarithm.
    return {candidate: round(math.log(chance), 4) for candidate, chance in likeliest if chance > 0}


def _chances(top_logprobs: Mapping[str, float], candidates: Mapping[str, float]) -> dict[str, float]:
    written = {candidate.casefold(): candidate for candidate in candidates}
    chances: dict[str, float] = {}
    for token, logprob in top_logprobs.items():
        # A score in quotes, bold or brackets is the same answer as the bare one.
        candidate = written.get(token.strip(" \t\n\"'*(").casefold())
        if candidate is not None and not math.isnan(logprob):
            # All spellings of an answer add up; a logarithm above 0 would be a probability above 1.
            chances[candidate] = chances.get(candidate, 0.0) + math.exp(min(logprob, 0.0))
    return chances


def _beginning(chances: Mapping[str, float], candidates: Iterable[str]) -> str | None:
    """Return a likely token that is the prefix of a longer score, unless others show that tokens are whole
    scores.
    """
    longer = [candidate for candidate in candidates if len(candidate) > 1]
    # A whole longer score is among the tokens, so this model has tokens for whole scores.
    if any(candidate in chances for candidate in longer):
        return None
    for token, chance in chances.items():
        if chance > STRAY and any(candidate.startswith(token) for candidate in longer):
            return token
    return None
