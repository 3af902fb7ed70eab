"""Bank: a configured provider's adapter, and the operations on accounts at their banks."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from msgspec import to_builtins

from gateway.app.kernel import Kernel
from gateway.banks.checked_adapter import checked_calls
from gateway.banks.health import Connection, limits_of, proxy_of
from gateway.banks.paces import Pace, share_of
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Banks, ProviderAdapter
from gateway.banks.readings import Readings
from gateway.charges.records import ChargeNotes, KeptCharges
from gateway.charges.service import ChargeReads, Charges
from gateway.charges.store import StoredCharges
from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.core.account import BankSecrets, GivenSecrets
from gateway.core.cache import Cache
from gateway.net.common.names import HostNames
from gateway.net.common.runtime import Runtime
from gateway.pix_keys.service import KeyOwners, PixKeys
from gateway.refunds.refunding import RefundExecution, StopsInForce
from gateway.reports.files import Turns
from gateway.statements.reads import StatementReads
from gateway.statements.reports import Reports, movement_pages
from gateway.statements.service import Statements
from gateway.statements.snapshots import Snapshots
from gateway.telemetry.ports import Event
from gateway.telemetry.records import Observer
from provider_adapters.checks import check_adapter, refused_if_raised, without_values
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from provider_adapters.kit.secrets import open_secrets, read_secrets, secrets_kind
from provider_adapters.kit.settings import ALL_OPERATIONS, ClientLimits
from provider_adapters.registry import find

_ASKED_BY_LOOKS: Final = (PortCall.FIND_PAYOUT, PortCall.LIST_STATEMENT, ALL_OPERATIONS)


def connect(
    name: str,
    settings: Settings,
    observer: Observer,
    runtime: Runtime | None = None,
    cache: Cache | None = None,
) -> Connection:
    """
    Make the adapter of one provider, its answers checked; nothing is opened yet.

    An adapter whose settings have ``limits`` and ``tls`` gets the provider's,
    unless it was given its own. ``runtime`` is its clocks, chance and fail points,
    ``cache`` for what it fetches and keeps for a while.

    Raises:
        AdapterRefused: the adapter is unknown, does not take its settings, or
            is not what the port asks for; the reason quotes no setting.
    """
    provider = settings.providers[name]
    told: list[ClientLimits] = []
    names = HostNames(partial(observer.count, Event.LOOK_UP_FAILED, name))
    context = AdapterContext(
        name=name,
        environment=settings.environment,
        observer=observer,
        runtime=replace(runtime or Runtime(), names=names, proxy=proxy_of(provider)),
        on_limits=told.append,
        cache=cache,
    )
    adapter = checked_calls(name, _made(provider, context), observer.count)
    kind = secrets_kind(find(provider.adapter), provider.settings)
    opener = None if kind is None else partial(open_secrets, kind, environment=settings.environment)
    return Connection(
        adapter,
        provider.read_only,
        opener,
        provider.adapter,
        provider.in_flight,
        _pace(told, provider),
    )


def account_secrets(settings: Settings, provider: str, given: GivenSecrets) -> BankSecrets:
    """
    Read what was entered for an account, as the adapter of its provider asks for it.

    Raises:
        BankSecretsRefused: it does not fit, or is not whole.
        AdapterRefused: the adapter cannot be loaded.
    """
    chosen = settings.providers[provider]
    kind = secrets_kind(find(chosen.adapter), chosen.settings)
    return read_secrets(kind, given, settings.environment)


async def start(name: str, connection: Connection) -> None:
    """
    Start the adapter of one provider.

    Raises:
        AdapterRefused: it cannot be started, whatever it raised; the reason quotes no setting.
    """
    with refused_if_raised(f"providers.{name}: the adapter's start"):
        await connection.adapter.start()


def _pace(told: Sequence[ClientLimits], provider: Provider) -> Pace:
    """Return the share of following up; of an adapter without our client, in what is configured."""
    if not told:
        return share_of(provider.in_flight, 0, ())
    allowed = told[0].account_limits
    rates = (allowed.rates.get(name) for name in _ASKED_BY_LOOKS)
    return share_of(
        told[0].bulkhead.in_flight,
        told[0].account_in_flight,
        [each.rate for each in rates if each is not None],
    )


def _made(provider: Provider, context: AdapterContext) -> ProviderAdapter:
    """Make an adapter with the provider's limits and TLS where it takes them, and check it."""
    path = f"providers.{context.name}"
    try:
        factory = find(provider.adapter)
    except AdapterRefused as problem:
        message = f"{path}: {problem}"
        raise AdapterRefused(message) from problem
    _refuse_unknown_operations(context.name, provider)
    ours = {"limits": limits_of(provider), "tls": to_builtins(provider.tls)}
    known = factory.settings.__struct_fields__
    taken = {part: value for part, value in ours.items() if part in known}
    where = f"{path}: adapter {provider.adapter!r}"
    try:
        with refused_if_raised(where):
            adapter = factory({**taken, **provider.settings}, context)
    except AdapterRefused as problem:
        raise AdapterRefused(without_values(str(problem), provider.settings)) from problem
    check_adapter(adapter, factory, where)
    return adapter


def _refuse_unknown_operations(name: str, provider: Provider) -> None:
    """Refuse a rate of something that no bank is asked for; raises ``AdapterRefused``."""
    known = (*PortCall, ALL_OPERATIONS)
    for operation in provider.account_limits.rates.keys() - set(known):
        near = difflib.get_close_matches(operation, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        message = f"providers.{name}.account_limits.rates: no such operation{hint}"
        raise AdapterRefused(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRoom:
    """
    What is done with accounts at their banks, payouts aside.

    Attributes:
        banks: Finds the bank behind an account.
        refunds: Gives the refunds that users have ordered.
        readings: Balances as they were last read.
    """

    banks: Banks
    charges: Charges
    pix_keys: PixKeys
    statements: Statements
    refunds: RefundExecution
    readings: Readings


def build_bank(kernel: Kernel, banks: Banks, stops: StopsInForce, cache: Cache) -> BankRoom:
    """Build the room; what stops payouts (``stops``) stops refunds too."""
    store, now, environment = kernel.store, kernel.now, kernel.settings.environment
    kept = kernel.settings.statements
    snapshots = Snapshots(cache=cache, keep_s=kept.snapshot_s, most_bytes=kept.snapshot_bytes)
    records = StoredCharges(store.database)
    charges = KeptCharges(
        records=records, notes=ChargeNotes(records, now), now=now, new_id=kernel.new_id
    )
    readings = Readings(
        database=store.database, find_account=store.accounts.find, banks=banks, now=now
    )
    return BankRoom(
        banks=banks,
        readings=readings,
        charges=Charges(ChargeReads(banks, charges), store.audit),
        pix_keys=PixKeys(KeyOwners(banks, store.audit)),
        statements=Statements(
            reads=StatementReads(banks, kernel.observer.count, snapshots),
            readings=readings,
            reports=Reports(
                banks=banks, pages=partial(movement_pages, banks), environment=environment, now=now
            ),
            payouts=store.payout_links,
            charges=records,
            turns=Turns(),
        ),
        refunds=RefundExecution(
            banks=banks,
            audit=store.audit,
            environment=environment,
            now=now,
            monotonic=kernel.monotonic,
            stops=stops,
        ),
    )
