"""The places of an endpoint: which slice of a worker may have how many calls in flight."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from judges.core.models import Endpoint, LeaseHolder

# How the calls that an endpoint takes at the same time are shared by the runs that ask it.


@dataclass(frozen=True)
class Demand:
    """How many places a run could use, and when its turn at a place that cannot be divided began."""

    run: int
    wanted: int
    has_turn: bool = False
    turn_began: float = 0.0


def fair_share(run: int, demands: Sequence[Demand], places: int) -> int:
    """Return how many places a run may have: as many as any other, and what others do not want.

    Places are dealt one by one to whoever has fewest (max-min fairness). Where they do not come out even,
    who has the turn goes first, then whose turn was longest ago.
    """
    of_run = {each.run: each for each in demands}
    shares = dict.fromkeys(of_run, 0)
    waiting = [_order(each, 0) for each in demands if each.wanted]
    heapify(waiting)
    for _ in range(places):
        if not waiting:
            break
        dealt = of_run[heappop(waiting)[-1]]
        shares[dealt.run] += 1
        if shares[dealt.run] < dealt.wanted:
            heappush(waiting, _order(dealt, shares[dealt.run]))
    return shares[run]


def _order(demand: Demand, share: int) -> tuple[int, bool, float, int]:
    return share, not demand.has_turn, demand.turn_began, demand.run


LEASE = timedelta(seconds=settings.LEASE_SECONDS)  # a living worker renews it well before
CALLS_PER_WORKER = 64  # so that more workers help with an endpoint that takes more
# A turn at a place that cannot be divided. Passing it on takes until the other run looks for it again, so
# with quick calls it must not pass after each.
TURN = timedelta(seconds=2)
REMEMBERED = timedelta(hours=1)


def workers_of(calls_in_flight: int) -> int:
    """Return how many workers share an endpoint's calls."""
    return -(-calls_in_flight // CALLS_PER_WORKER)


def most_places(calls_in_flight: int) -> int:
    """Return how many of an endpoint's calls one worker makes at the most."""
    return -(-calls_in_flight // workers_of(calls_in_flight))


@dataclass(frozen=True)
class Claim:
    """How many calls a holder may have in flight, and how many runs ask the same endpoint.

    share: its part of all places that are in use, and so of the rate at which the endpoint takes calls.
    """

    places: int
    runs: int
    share: float = 1.0


def claim_places(*, endpoint: Endpoint, run: int, holder: UUID, held: int, wanted: int) -> Claim | None:
    """Claim a holder's part of an endpoint's places; None where its run has enough workers there.

    held: the places that it may be using. It gets fewer where other runs need some of them: then it begins no
    call beyond these, and gives up the rest with its next claim. The caller has locked the endpoint.
    """
    now = timezone.now()
    known = list(LeaseHolder.objects.filter(endpoint=endpoint))
    mine = next((each for each in known if each.pk == holder), None)
    others = [each for each in known if each.pk != holder and each.alive_until >= now]
    colleagues = [each for each in others if each.run_id == run]
    if sum(not each.draining for each in colleagues) >= workers_of(endpoint.calls_in_flight):
        return None
    asking = LeaseHolder(id=holder, run_id=run, endpoint=endpoint, places=held, wanted=wanted)
    demands = _demands([*others, asking], known, now)
    share = fair_share(run, list(demands.values()), endpoint.calls_in_flight)
    free = endpoint.calls_in_flight - held - sum(each.places for each in others)
    places = min(wanted, share - sum(each.places for each in colleagues), held + max(free, 0))
    places = max(places, 0)
    asking.places = max(places, held)
    asking.turn_began = mine.turn_began if mine else None
    if places > held and not demands[run].has_turn:
        asking.turn_began = now
    asking.alive_until = now + LEASE
    asking.save(force_update=bool(mine), force_insert=not mine)
    in_use = places + sum(each.places for each in others)
    return Claim(places, len(demands), share=max(places, 1) / max(in_use, 1))


def _demands(living: Sequence[LeaseHolder], known: Sequence[LeaseHolder], now: datetime) -> dict[int, Demand]:
    """Return what each run could use, and whose turn it is; turns of holders that are gone count too."""
    wanted: Counter[int] = Counter()
    places: Counter[int] = Counter()
    for each in living:
        wanted[each.run_id] += each.wanted
        places[each.run_id] += each.places
    began: dict[int, datetime] = {}
    for each in known:
        if each.turn_began:
            began[each.run_id] = max(each.turn_began, began.get(each.run_id, each.turn_began))
    return {
        run: Demand(
            run,
            wanted[run],
            has_turn=run in began and places[run] > 0 and now - began[run] < TURN,
            turn_began=began[run].timestamp() if run in began else 0.0,
        )
        for run in wanted
    }


def keep_alive(*, holder: UUID) -> None:
    """Note a heartbeat of a holder."""
    LeaseHolder.objects.filter(pk=holder).update(alive_until=timezone.now() + LEASE)


def drain(*, holder: UUID, in_flight: int) -> None:
    """Note that a holder begins no more calls: others may have its places as these come to an end."""
    LeaseHolder.objects.filter(pk=holder).update(
        draining=True, places=in_flight, wanted=in_flight, alive_until=timezone.now() + LEASE
    )


def let_go(*, holder: UUID) -> None:
    """Note that a holder is gone. Its row stays for a while: it tells whose turn was last."""
    LeaseHolder.objects.filter(pk=holder).update(
        draining=True, places=0, wanted=0, alive_until=timezone.now()
    )


def forget_the_dead() -> None:
    """Delete the rows of holders that have been gone for long."""
    LeaseHolder.objects.filter(alive_until__lt=timezone.now() - REMEMBERED).delete()
