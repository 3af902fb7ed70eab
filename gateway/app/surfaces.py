"""Every surface with everything it needs, from settings and parts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final, NoReturn

from gateway.app.build_backoffice import (
    BackOfficeParts,
    admin_services,
    backoffice_operations,
    backoffice_questions,
    make_management_rows,
)
from gateway.app.build_identity import People
from gateway.app.build_panel import Panel
from gateway.app.people_surfaces import (
    PeopleParts,
    PeopleQuestions,
    make_panel_api,
    make_people_questions,
    make_people_surfaces,
)
from gateway.config.settings import Settings
from gateway.domain.bank.providers import Banks
from gateway.domain.kernel.clocks import Now
from gateway.domain.payouts.payouts import FINAL_STATES, Change, Payout, Payouts
from gateway.domain.payouts.returns import Returns
from gateway.http.backoffice.cells import BackOfficeOperations
from gateway.http.backoffice.rows import operation_rows
from gateway.http.backoffice.surface import operator_surface
from gateway.http.banking.routes import Operations
from gateway.http.banking.surface import Questions, banking_surface
from gateway.http.callbacks.surface import callback_surface
from gateway.http.route import Surface
from gateway.net.common.runtime import Failpoint
from gateway.operations.backoffice.access_orders import BackOfficeCarriers
from gateway.operations.backoffice.approvals import Approvals
from gateway.operations.backoffice.callbacks import Reception
from gateway.operations.bank.reads import Balances, Charges, PixKeys
from gateway.operations.bank.snapshots import Snapshots
from gateway.operations.bank.statements import Statements
from gateway.operations.payouts.followup import FollowUp
from gateway.operations.payouts.guards import PayoutGuards, SimilarPolicy
from gateway.operations.payouts.payouts import Payouts as PayoutOperations
from gateway.operations.payouts.payouts import Terms
from gateway.runtime.caches.cache import ConfiguredCache
from gateway.runtime.failpoints import FailingPayouts
from gateway.runtime.records.kept_records import KeptRecords
from gateway.runtime.records.record_cache import SecondLooks
from gateway.telemetry.ports import Count
from gateway.telemetry.records import RequestObserver
from policies.authentication.basic import BasicCredentials, SecretCheck, Stopwatch
from policies.authorization.credential import AccountScope
from policies.traffic.quota import COMPANY, Quota, WithinQuota
from policies.traffic.throttle import FailureLimits, FailureThrottle, NotBlocked
from policies.validation.inputs import payout_input

_WAITING_SHARE: Final = 4
"""A quarter of the requests in flight may wait for a second look, and leave room for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessContext:
    """
    What a surface stands on.

    Attributes:
        kept: What is known of credentials, accounts and stops without asking.
        failpoint: Called at each point of a payout; None if none is armed.
    """

    settings: Settings
    kept: KeptRecords
    payouts: Payouts
    returns: Returns
    banks: Banks
    people: People
    panel: Panel
    backoffice: BackOfficeParts
    reception: Reception
    check: SecretCheck
    observer: RequestObserver
    cache: ConfiguredCache
    count: Count
    now: Now
    failpoint: Failpoint | None = None


def make_surfaces(parts: ProcessContext) -> Sequence[Surface]:
    """Put policies and operations together."""
    questions, does = _questions(parts), _operations(parts)
    banking = banking_surface(questions, does, parts.settings.environment)
    people = PeopleParts(
        settings=parts.settings, people=parts.people, panel=parts.panel, count=parts.count
    )
    who = make_people_questions(people)
    office = _office(parts, does, who)
    panel = make_panel_api(people, who, office)
    callbacks = callback_surface(parts.reception)
    return (banking, *make_people_surfaces(people, who), office, panel, callbacks)


def described_surfaces(settings: Settings) -> Sequence[Surface]:
    """Make surfaces whose rows can be looked at but not served: nothing stands behind them."""
    nothing: Any = _NotServed()
    return make_surfaces(
        ProcessContext(
            settings=settings,
            kept=nothing,
            payouts=nothing,
            returns=nothing,
            banks=nothing,
            people=nothing,
            panel=nothing,
            backoffice=BackOfficeParts(
                settings=settings, store=nothing, keys=nothing, now=nothing, providers=nothing
            ),
            reception=nothing,
            check=nothing,
            observer=nothing,
            cache=nothing,
            count=nothing,
            now=nothing,
        )
    )


class _NotServed:
    """
    Stands for every part behind a surface that is only described.

    Rows are made with their operations, and operations with stores and banks. The
    metrics need the rows' names before any of these exist, and ``pixgate routes``
    opens no store.
    """

    def __getattr__(self, _name: str) -> _NotServed:
        """Have whatever is asked for."""
        return self

    def __call__(self, *_arguments: object, **_named: object) -> NoReturn:
        """Fail: nothing of a row that is described can be run."""
        message = "these rows are described, not served"
        raise RuntimeError(message)


def _office(parts: ProcessContext, does: Operations, who: PeopleQuestions) -> Surface:
    """Put the back office together, over the operations of partners."""
    operations = _office_operations(parts, does)
    rows = operation_rows(operations) + make_management_rows(
        parts.backoffice, parts.people, operations.approvals
    )
    questions = backoffice_questions(parts.backoffice, who)
    return operator_surface(questions, rows, parts.settings.environment)


def make_approvals(parts: ProcessContext) -> Approvals:
    """Make what ends the orders that nobody decides."""
    return _office_operations(parts, _operations(parts)).approvals


def _office_operations(parts: ProcessContext, does: Operations) -> BackOfficeOperations:
    """Make the back office's operations, with what carries orders out."""
    carriers = BackOfficeCarriers(
        records=admin_services(parts.backoffice).credentials,
        services=parts.people.services,
        users=parts.people.parts.stores.users,
    )
    return backoffice_operations(parts.backoffice, does, carriers)


def _questions(parts: ProcessContext) -> Questions:
    """Make the policies."""
    throttle = _throttle(parts.settings)
    return Questions(
        not_blocked=NotBlocked(throttle),
        credentials=_credentials(parts, throttle),
        quota=_quota(parts),
        scope=AccountScope(parts.kept.accounts.find),
    )


def _credentials(parts: ProcessContext, throttle: FailureThrottle) -> BasicCredentials:
    """Make the policy that finds out who is calling."""
    records = parts.kept.credentials
    most = parts.settings.limits.in_flight // _WAITING_SHARE
    return BasicCredentials(
        find=records.find,
        find_again=SecondLooks(records, time.monotonic, max(1, most)).after,
        check=parts.check,
        throttle=throttle,
        now=parts.now,
        stopwatch=Stopwatch(time.monotonic, partial(parts.observer.authenticated, "basic")),
    )


def _throttle(settings: Settings) -> FailureThrottle:
    """Make the throttle on refused credentials."""
    limits = settings.limits.failed_credentials
    return FailureThrottle(
        FailureLimits(
            per_address=limits.per_address,
            per_address_and_client=limits.per_address_and_client,
            hard_per_address=limits.hard_per_address,
            window_s=limits.window_s,
        ),
        time.monotonic,
    )


def _quota(parts: ProcessContext) -> WithinQuota:
    """Make the partner's token buckets."""
    rates = parts.settings.ratelimits
    quotas = {
        "read": Quota(rates.read.rate, rates.read.burst),
        "payout": Quota(rates.payout.rate, rates.payout.burst),
        COMPANY: Quota(rates.company.rate, rates.company.burst),
    }
    return WithinQuota(quotas, time.monotonic, parts.observer.count)


def make_follow_up(parts: ProcessContext) -> FollowUp:
    """Make what follows unsettled payouts up, on reading and in the background."""
    return FollowUp(
        parts.payouts,
        parts.banks,
        parts.now,
        parts.observer.count,
        parts.returns,
        look_first=parts.settings.payouts.look_first,
        moved=partial(_count_ended, parts.observer),
    )


def _count_ended(observer: RequestObserver, payout: Payout, change: Change) -> None:
    """Tell of a payout that ended: how, and how long that took."""
    if change.after in FINAL_STATES:
        took = (change.settled_at or change.at) - payout.created_at
        took_s = max(0.0, took.total_seconds())  # the bank's clock may be behind ours
        observer.payout_ended(payout.provider, change.after.value, took_s)


def _guards(parts: ProcessContext) -> PayoutGuards:
    """Make what may keep a payout from being sent."""
    settings = parts.settings.payouts
    return PayoutGuards(
        stops=parts.kept.stops_in_force,
        store=parts.payouts,
        similar=SimilarPolicy(
            timedelta(seconds=settings.similar_within_s), settings.similar == "refuse"
        ),
        now=parts.now,
        count=parts.observer.count,
    )


def _operations(parts: ProcessContext) -> Operations:
    """Make the operations."""
    settings, banks = parts.settings, parts.banks

    terms = Terms(
        environment=settings.environment,
        now=parts.now,
        monotonic=time.monotonic,
        count=parts.observer.count,
        look_first=settings.payouts.look_first,
        moved=partial(_count_ended, parts.observer),
    )
    store = FailingPayouts(parts.payouts, parts.failpoint) if parts.failpoint else parts.payouts
    payouts = PayoutOperations(store, banks, make_follow_up(parts), _guards(parts), terms)
    return Operations(
        balances=Balances(banks),
        pix_keys=PixKeys(banks),
        charges=Charges(banks, parts.now),
        statements=Statements(banks, parts.observer.count, _snapshots(parts)),
        payouts=payouts,
        payout_input=payout_input(alphanumeric_cnpj=settings.validation.alphanumeric_cnpj),
    )


def _snapshots(parts: ProcessContext) -> Snapshots:
    """Say how long, and up to which size, statements are kept."""
    asked = parts.settings.statements
    return Snapshots(cache=parts.cache, keep_s=asked.snapshot_s, most_bytes=asked.snapshot_bytes)
