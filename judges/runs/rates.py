"""The rate of calls to a server after a rate-limit error. Pure: no database.

Multiplicative decrease, additive increase, as in TCP (Chiu and Jain 1989). Calls continue at `DECREASE` times
the rate at which the server answered before, and return linearly to that rate. Beyond it they search by
doubling (slow start, Jacobson 1988): a lifted limit is noticed within seconds, a permanent one costs one more
pause. If a limit persists, each climb is twice as long as the one before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

DECREASE = 0.85
FIRST_RATE = 1.0  # calls per second if the server answered none before the error
DOUBLED_IN = 2.0  # seconds
MOST = 1000.0  # calls a second; one worker makes no more, so a higher rate is none
FIRST_CLIMB, LONGEST_CLIMB = 10.0, 20.0  # seconds
# A climb that ends in a pause should be long compared with the pause, or most of the time would be idle.
CLIMB_PER_PAUSE = 4.0
SAME_LIMIT = 1.5  # maximum difference of two rates under the same limit
LATE_ANSWERS = 1.1
LAST_ANSWERS = 5  # number of answers counted, or all of the last second if these are more
LONGEST_LOOK_BACK = 30.0  # seconds


@dataclass(frozen=True)
class Slowdown:
    """The data of a server's request to slow down.

    rate: calls per second that it answered before; None: none. resumes_at: the end of its pause, in seconds
    of the clock that this module uses. climb: seconds in which calls return to that rate.
    """

    rate: float | None
    resumes_at: float
    climb: float = FIRST_CLIMB


def allowed_rate(slowdown: Slowdown | None, now: float) -> float:
    """Return the number of calls per second that may start, infinity without a limit."""
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
    """Return the slowdown after a server requests a pause of `wait` seconds.

    answered: recent calls per second that it answered, 0 if none.
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
    """Return the number of calls per second answered recently, 0 if none.

    answered: times of the last answers, in ascending order. since: the start of calls, or their end of a
    pause.
    """
    lately = [moment for moment in answered if moment > max(since, now - LONGEST_LOOK_BACK)]
    if not lately:
        return 0.0
    begin = min(lately[-LAST_ANSWERS:][0], now - 1.0)
    return sum(moment >= begin for moment in lately) / (now - begin)
