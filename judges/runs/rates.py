"""How many calls a second a server is asked after it said that they were too many. Pure: no database.

Multiplicative decrease, additive increase, as TCP does it (Chiu and Jain 1989). Calls go on at `DECREASE`
times the rate at which the server answered before, climb back to that rate in a straight line, and look
beyond it by doubling (slow start, Jacobson 1988): a limit that was lifted is noticed within seconds, one that
stands costs one more pause. Where a limit stands, each climb takes twice as long as the one before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

DECREASE = 0.85
FIRST_RATE = 1.0  # calls a second where the server answered none before it said so
DOUBLED_IN = 2.0  # seconds
MOST = 1000.0  # calls a second; one worker makes no more, so a higher rate is none
FIRST_CLIMB, LONGEST_CLIMB = 10.0, 20.0  # seconds
# A climb that ends in a pause should be long beside the pause, or most of the time would be spent waiting.
CLIMB_PER_PAUSE = 4.0
SAME_LIMIT = 1.5  # by how much two rates may differ and still be those of one limit
LATE_ANSWERS = 1.1
LAST_ANSWERS = 5  # so many are counted, or all of the last second where these are more
LONGEST_LOOK_BACK = 30.0  # seconds


@dataclass(frozen=True)
class Slowdown:
    """What was learned when a server asked to slow down.

    rate: calls a second that it answered before; None: none. resumes_at: when its pause is over, in seconds
    of the clock that everything here is measured by. climb: seconds in which calls come back to that rate.
    """

    rate: float | None
    resumes_at: float
    climb: float = FIRST_CLIMB


def allowed_rate(slowdown: Slowdown | None, now: float) -> float:
    """Return how many calls a second may begin, infinity where nothing limits them."""
    if slowdown is None:
        return inf
    since = max(now - slowdown.resumes_at, 0.0)
    if slowdown.rate is None:
        rate = FIRST_RATE * 2 ** min(since / DOUBLED_IN, 50)
    elif since < slowdown.climb:
        rate = slowdown.rate * (DECREASE + (1 - DECREASE) * since / slowdown.climb)
    else:
        rate = slowdown.rate * 2 ** min((since - slowdown.climb) / DOUBLED_IN, 50)
    return rate if rate < MOST else inf


def slow_down(before: Slowdown | None, *, now: float, wait: float, answered: float) -> Slowdown:
    """Return what follows when a server asks to wait so many seconds.

    answered: calls a second that it answered lately, 0 where none.
    """
    resumes_at = now + wait
    if not answered:
        return Slowdown(None, resumes_at)
    # Answers come a call's time after their calls began: while the rate grows there are too few of them.
    rate = min(LATE_ANSWERS * answered, allowed_rate(before, now))
    climb = FIRST_CLIMB
    if before is not None and before.rate and 1 / SAME_LIMIT < rate / before.rate < SAME_LIMIT:
        climb = min(2 * before.climb, max(LONGEST_CLIMB, CLIMB_PER_PAUSE * wait))
    return Slowdown(rate, resumes_at, climb)


def answered_rate(answered: Sequence[float], *, now: float, since: float) -> float:
    """Return how many calls a second were answered lately, 0 where none.

    answered: moments of the last answers, in their order. since: when calls began or went on after a pause.
    """
    lately = [moment for moment in answered if moment > max(since, now - LONGEST_LOOK_BACK)]
    if not lately:
        return 0.0
    begin = min(lately[-LAST_ANSWERS:][0], now - 1.0)
    return sum(moment >= begin for moment in lately) / (now - begin)
