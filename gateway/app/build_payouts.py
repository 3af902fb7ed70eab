"""Builds the payout services: creation, follow-up, and the kill switches that stop sending."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import time, timedelta
from functools import partial
from typing import Final

from gateway.app.kernel import Kernel
from gateway.banks.followup_rate import FollowupRate
from gateway.banks.port.providers import Banks
from gateway.config.settings import Settings
from gateway.core.account import Account
from gateway.core.clocks import CertainClock
from gateway.core.night import Night
from gateway.core.strict import amount
from gateway.net.common.runtime import chance, unarmed
from gateway.payouts.create import (
    HoldPolicy,
    PayoutConfig,
    PayoutGuards,
    Payouts,
    SimilarPolicy,
)
from gateway.payouts.followup import FollowUp
from gateway.payouts.holds import HoldEnds, Payers
from gateway.payouts.model import FINAL_STATES, Change, EventKind, Payout, PayoutState
from gateway.payouts.owner_mismatches import OwnerMismatches
from gateway.payouts.reconciler import Reconciler, Work, slowest
from gateway.refunds.refunding import StopsInForce
from gateway.security.tax_numbers import LABEL, TaxNumberDigests
from gateway.stops.service import stops_since
from gateway.telemetry.ports import Event, HoldOutcome
from gateway.telemetry.records import RequestObserver

_TAKEN: Final = frozenset({PayoutState.ACCEPTED, PayoutState.PAID})
"""A bank may settle at once: that payout was accepted, too."""
_SIMILAR_S: Final = 600.0
"""Payouts within ten minutes are listed as similar where the configuration does not say."""


def build_payouts(kernel: Kernel, banks: Banks, stops: StopsInForce) -> Payouts:
    """Build the service; ``stops`` returns the kill switches in force."""
    stored, settings = kernel.store.payouts, kernel.settings
    mismatches = _mismatches(kernel)
    return Payouts(
        stored,
        banks,
        build_follow_up(kernel, banks, mismatches),
        PayoutGuards(
            stops=stops,
            store=stored,
            similar=SimilarPolicy(
                timedelta(seconds=settings.payouts.similar_within_s),
                settings.payouts.similar == "refuse",
            ),
            mismatches=mismatches,
            now=kernel.shared_now,
            count=kernel.observer.count,
            hold=hold_policy(kernel),
            writes=kernel.writes,
        ),
        PayoutConfig(
            environment=settings.environment,
            now=kernel.shared_now,
            monotonic=kernel.monotonic,
            count=kernel.observer.count,
            look_first=settings.payouts.look_first,
            moved=partial(_count_step, kernel.observer),
            payee_digest=tax_number_digests(kernel).digest,
            night=night_of(settings),
            failpoint=kernel.failpoint or unarmed,
        ),
    )


def hold_policy(kernel: Kernel) -> HoldPolicy | None:
    """Return which payouts are held; None for none."""
    above = kernel.settings.hold_above
    if above is None:
        return None
    return HoldPolicy(
        above=amount(above),
        lasts=timedelta(seconds=kernel.settings.payouts.hold_s),
        digests=tax_number_digests(kernel).every,
    )


def build_payers(kernel: Kernel) -> Payers:
    """Build the reader of who ordered a payout."""
    store = kernel.store
    return Payers(
        accounts=store.accounts,
        credentials=store.credentials,
        users=store.identity.users,
        stops_since=partial(stops_since, store.database),
        now=kernel.shared_now,
    )


def night_of(settings: Settings) -> Night:
    """Return the hours and default limits of the night."""
    given = settings.payouts.night
    return Night(
        begins=time.fromisoformat(given.begins),
        ends=time.fromisoformat(given.ends),
        per_payout=amount(given.limit_per_payout) if given.limit_per_payout else None,
        per_night=amount(given.limit_per_night) if given.limit_per_night else None,
    )


def tax_number_digests(kernel: Kernel) -> TaxNumberDigests:
    """Build the digests that find payouts by the recipient's tax number."""
    return TaxNumberDigests(kernel.keys.derivation.keys(LABEL))


def _mismatches(kernel: Kernel) -> OwnerMismatches:
    return OwnerMismatches(kernel.allowance("owner_mismatches"), kernel.monotonic)


def build_follow_up(
    kernel: Kernel, banks: Banks, mismatches: OwnerMismatches | None = None
) -> FollowUp:
    """Build the follow-up of unsettled payouts: on reading, in the background, by command."""
    return FollowUp(
        kernel.store.payouts,
        banks,
        kernel.shared_now,
        kernel.observer.count,
        mismatches or _mismatches(kernel),
        look_first=kernel.settings.payouts.look_first,
        moved=partial(_count_step, kernel.observer),
        certain=CertainClock(kernel.shared_now, kernel.monotonic),
    )


def shown_similar_within(settings: Settings) -> timedelta:
    """Return how close two payouts are shown as similar, also where none is refused."""
    return timedelta(seconds=settings.payouts.similar_within_s or _SIMILAR_S)


def build_reconciler(
    kernel: Kernel,
    follow_up: FollowUp,
    holds: HoldEnds | None = None,
    find_account: Callable[[str], Awaitable[Account | None]] | None = None,
    rate: Callable[[str], FollowupRate] = slowest,
) -> Reconciler:
    """Build the reconciler of unsettled payouts; it finds accounts in the store by default."""
    return Reconciler(
        Work(
            due=kernel.store.follow_ups,
            find_account=find_account or kernel.store.accounts.find,
            follow_up=follow_up,
            now=kernel.shared_now,
            may_claim=kernel.is_in_step,
            owner=kernel.new_id(),
            chance=chance,
            tell=kernel.observer.unsettled,
            rate=rate,
            end_hold=None if holds is None else holds.end,
        )
    )


def _count_step(observer: RequestObserver, payout: Payout, change: Change) -> None:
    """Count accepted money, ended payouts with their result and duration, and refused holds."""
    if payout.state is PayoutState.HELD:
        observer.count(Event.PAYOUT_HOLD, _hold_outcome(change))
    centavos = payout.value.centavos
    if change.after in _TAKEN and payout.state is not PayoutState.ACCEPTED:
        observer.money(payout.provider, PayoutState.ACCEPTED.value, centavos)
    if change.after in FINAL_STATES:
        observer.money(payout.provider, change.after.value, centavos)
        took = (change.settled_at or change.at) - payout.created_at
        took_s = max(0.0, took.total_seconds())  # the bank's clock may be behind ours
        observer.payout_ended(payout.provider, change.after.value, took_s)


def _hold_outcome(change: Change) -> HoldOutcome:
    """Return the outcome of a hold whose step did not send the payout."""
    if change.cause is EventKind.EXPIRED:
        return HoldOutcome.EXPIRED
    return HoldOutcome.REFUSED if change.by else HoldOutcome.NOT_ALLOWED
