"""Builds every noun's service, each once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cached_property, partial
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict

from gateway.accounts.service import AccountBanks, Accounts, BankChanges
from gateway.app.build_identity import (
    build_identity,
    build_panel,
    build_sender,
    build_sign_on,
    build_user_policies,
)
from gateway.app.build_payouts import (
    build_payers,
    build_payouts,
    build_reconciler,
    hold_policy,
    night_of,
    shown_similar_within,
    tax_number_digests,
)
from gateway.app.cache import build_cache
from gateway.app.kept_records import KeptRecords, LastUses, build_kept_records, within
from gateway.app.kernel import Kernel
from gateway.app.sandbox import build_sandbox_tools, sandbox_providers
from gateway.approvals.facts import ApprovalFacts
from gateway.approvals.money import MoneyOrders
from gateway.approvals.service import ApprovalConfig, Approvals, ApprovedSecrets
from gateway.archive.model import first_kept
from gateway.audit.service import AuditLog
from gateway.banks.connections import ConfiguredProvider, ConnectedBanks
from gateway.banks.followup_rate import Shares
from gateway.banks.model import Provider, ProviderMinute
from gateway.banks.paced import PacedBanks
from gateway.banks.readings import Readings
from gateway.banks.service import BankReports
from gateway.banks.store import ProviderMinutes
from gateway.batches.model import Batch
from gateway.batches.oddities import Oddities
from gateway.batches.order import BatchOrders
from gateway.batches.service import Batches
from gateway.batches.store import BatchRecords
from gateway.batches.worker import BatchWorker
from gateway.callbacks.reception import Reception
from gateway.callbacks.service import Callbacks
from gateway.callbacks.store import CallbackRecords
from gateway.charges import routes as charge_routes
from gateway.charges.records import ChargeNotes, KeptCharges
from gateway.charges.service import ChargeReads, Charges
from gateway.charges.store import StoredCharges
from gateway.closings import routes as closing_routes
from gateway.closings.days import ClosingDays
from gateway.closings.foreign_debits import ForeignDebits
from gateway.closings.packages import ClosingPackages
from gateway.closings.readings import DayReadings
from gateway.closings.reconciliation import Reconciliation
from gateway.closings.service import Closings
from gateway.closings.signed import SignedClosings
from gateway.companies.service import Companies
from gateway.config.checks import sealing_key
from gateway.config.settings import Approvals as TwoPeople
from gateway.config.settings import Settings
from gateway.config.upstream import same_bank
from gateway.configuration.service import Configuration
from gateway.core.access import Staff
from gateway.core.account import Account, BankSecrets, Environment, GivenSecrets
from gateway.core.allowances import Allowance
from gateway.core.approvals import (
    CREDENTIALS,
    ENDPOINTS,
    PEOPLE,
    SIGN_ON,
    Approval,
    ApprovalKind,
    NewOrder,
    Wait,
)
from gateway.core.audit_context import RuleViolation
from gateway.core.caller_rules import ANYWHERE, UNDECIDED
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.exports import ExportKind, Exports, Turns
from gateway.core.sessions import SignedInUser
from gateway.core.strict import amount
from gateway.credentials.notices import CredentialNotices
from gateway.credentials.public_keys import PublicKeys
from gateway.credentials.service import Credentials, CredentialSource, tell_nobody
from gateway.deliveries.service import Deliveries
from gateway.deliveries.store import DeliveryRecords
from gateway.endpoints.notices import EndpointNotices
from gateway.endpoints.service import Endpoints
from gateway.endpoints.store import EndpointRecords
from gateway.events import routes as event_routes
from gateway.events.readers import FeedReaders
from gateway.events.service import EventFeed
from gateway.events.store import EventRecords
from gateway.events.waiting import Waits
from gateway.http.gates import (
    PartnerPolicies,
    UserPolicies,
    events_surface,
    partner_surface,
    sandbox_surface,
)
from gateway.http.route import Surface
from gateway.identity.mail import Mailer, SealedMailbox, Text
from gateway.identity.panel_surface import Panel
from gateway.identity.services import IdentityServices
from gateway.identity.users import Users
from gateway.mailbox.service import Mailbox
from gateway.notifications.model import Way
from gateway.notifications.occasions import Occasions
from gateway.notifications.outages import Outages
from gateway.notifications.recipients import Recipients
from gateway.notifications.service import Chats, Notifications
from gateway.notifications.store import ChatRecords, ChoiceRecords, NotificationRecords
from gateway.notifications.subscriptions import SubscriptionRecords
from gateway.notifications.watch import NotificationWatch
from gateway.outflow.envelope import Floor
from gateway.outflow.guard import GuardConfig, OutflowGuard
from gateway.outflow.model import Mode
from gateway.outflow.service import Outflows
from gateway.outflow.store import OutflowRecords
from gateway.overview.service import Overviews
from gateway.overview.store import OverviewRecords
from gateway.payouts import routes as payout_routes
from gateway.payouts.create import Payouts
from gateway.payouts.holds import HoldDecisions, HoldEnds
from gateway.payouts.limits import spent_by_day
from gateway.payouts.recipients import PaidRecipients
from gateway.payouts.search import PayoutDirectory
from gateway.payouts.staff import PayoutActs, PayoutProbes, PayoutRecords
from gateway.pix_keys import routes as key_routes
from gateway.pix_keys.service import KeyOwners, PixKeys
from gateway.process.cache import MemoryCache
from gateway.received.store import WalkRecords
from gateway.received.walk import PaymentWalk
from gateway.received.walks import PaymentWalks
from gateway.reference.pages import Reference
from gateway.refunds.refunding import RefundExecution
from gateway.refunds.service import Refunds
from gateway.refunds.store import RefundRecords
from gateway.request_log.service import RequestLog
from gateway.request_log.store import RequestRecords
from gateway.request_log.writer import RequestLogWriter
from gateway.reviews.probes import UnresolvedProbes
from gateway.reviews.service import Reviewers, Reviews
from gateway.sandbox import routes as sandbox_routes
from gateway.sandbox.partners import PartnerSandbox
from gateway.sandbox.self_service import IN_ALL, OF_NETWORK, SelfService
from gateway.sandbox.service import SandboxTools
from gateway.sandbox.store import OpenedAccounts
from gateway.search.service import BankSearches, Searches
from gateway.security.keys import Keys
from gateway.security.secrets import (
    has_valid_checksum,
    new_client_id,
    new_client_secret,
    new_signing_secret,
)
from gateway.security.webpush import PushSigner
from gateway.single_sign_on.service import IdentityProviders
from gateway.single_sign_on.sign_in import SingleSignOn
from gateway.statements import routes as statement_routes
from gateway.statements.reads import StatementReads
from gateway.statements.reports import Reports, movement_pages
from gateway.statements.service import Statements
from gateway.statements.snapshots import Snapshots
from gateway.stops.service import Stops
from gateway.store.schema import REVISIONS, revision_of
from gateway.traces.records import TracedRecords
from gateway.traces.service import Traces
from policies.authentication.basic import BasicCredentials, RightHeaders, SecretCheck
from policies.authentication.signature import SignedPayout
from policies.authorization.credential import AccountScope, FromAllowedCaller
from policies.authorization.user import VisibleAccount
from policies.traffic.quota import COMPANY, WithinQuota
from policies.traffic.throttle import FailureLimits, FailureThrottle
from provider_adapters.kit import banks as listed_banks

if TYPE_CHECKING:  # an extra
    from gateway.process.shared import SharedCache

_NO_BANKS: Final[Mapping[str, ConfiguredProvider]] = MappingProxyType({})


class Services:
    """
    The services of every noun over one kernel, each built on first use.

    A command uses one of them, a serving process nearly all.

    Args:
        connections: The banks by their provider's name.
        identity: Built already; by default as the settings say.
        cache: The cache of the banks' adapters.
        known: Returns the status of each bank.
        unwritten: Returns results of bank calls that are not stored yet.
        wake: Called when a callback arrives.
    """

    def __init__(  # noqa: PLR0913 - what only a process that serves has
        self,
        kernel: Kernel,
        connections: Mapping[str, ConfiguredProvider] = _NO_BANKS,
        *,
        identity: IdentityServices | None = None,
        cache: MemoryCache | SharedCache | None = None,
        known: Callable[[], Sequence[Provider]] = tuple,
        unwritten: Callable[[], Sequence[ProviderMinute]] = tuple,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.kernel = kernel
        self.connections = connections
        self.known = known
        self._unwritten = unwritten
        self._wake = wake
        if identity is not None:
            self.identity = self._waiting(identity)
        if cache is not None:
            self.cache = cache

    @cached_property
    def identity(self) -> IdentityServices:
        return self._waiting(build_identity(self.kernel))

    def _waiting(self, identity: IdentityServices) -> IdentityServices:
        """Let orders of identity wait; the approvals, which execute them, are built later."""

        async def wait(person: SignedInUser, order: NewOrder) -> Approval:
            return await self._orders.wait(person, order)

        if self._four_eyes.people:
            identity.factor_removals.wait = wait
        return identity

    @cached_property
    def user_policies(self) -> UserPolicies:
        """The gates of users on every surface."""
        return build_user_policies(self.kernel, self.identity)

    @cached_property
    def panel(self) -> Panel:
        return build_panel(self.kernel, self.identity, self.user_policies)

    @cached_property
    def cache(self) -> MemoryCache | SharedCache:
        kernel = self.kernel
        return build_cache(kernel.settings, kernel.keys.derivation, kernel.observer.count)

    # Who calls

    @cached_property
    def kept(self) -> KeptRecords:
        """The caches of this process; its own changes invalidate them here."""
        kernel, store = self.kernel, self.kernel.store
        kept = build_kept_records(
            kernel.settings, store, self.identity.keyring, kernel.observer, kernel.now
        )
        store.database.followers.append(partial(kept.forget, told_by="own"))
        return kept

    @cached_property
    def uses(self) -> LastUses:
        """The last use of each secret."""
        return LastUses(self.kernel.store.credentials, self.kernel.now)

    @cached_property
    def quota(self) -> WithinQuota:
        """The partners' token buckets."""
        kernel = self.kernel
        given = asdict(kernel.settings.ratelimits)
        of_partners = {name: given[name] for name in ("read", "payout", COMPANY)}
        quota = WithinQuota(of_partners, kernel.monotonic, kernel.observer.count, kernel.shared)
        kernel.reloads.append(lambda settings: quota.change(asdict(settings.ratelimits)))
        return quota

    @cached_property
    def basic(self) -> BasicCredentials:
        """Basic authentication, with the throttle of failed attempts."""
        kernel = self.kernel
        failed = asdict(kernel.settings.limits.failed_credentials)
        return BasicCredentials(
            find=self.kept.credentials.find,
            find_again=self.kept.credentials.find_since,
            check=SecretCheck(
                well_formed=has_valid_checksum,
                digests=kernel.keys.digester.digests,
                matching=partial(kernel.keys.digester.matching, now=kernel.now),
                used=self.uses.note,
            ),
            known=RightHeaders(os.urandom(32)),
            throttle=FailureThrottle(FailureLimits(**failed), kernel.monotonic, kernel.shared),
            now=kernel.now,
            clock=kernel.monotonic,
            signature=SignedPayout(kernel.now),
            took=partial(kernel.observer.authenticated, "basic"),
        )

    @cached_property
    def partners(self) -> Surface:
        """The partners' surface, whose routes traces and the reference show too."""
        routes = [
            statement_routes.partner_routes(self.statements.reads, self.quota),
            key_routes.partner_routes(self.banks),
            charge_routes.partner_routes(self.charges.reads),
            payout_routes.partner_routes(self.payouts),
        ]
        return partner_surface(routes, self.partner_policies, self.kernel.settings.environment)

    @cached_property
    def partner_policies(self) -> PartnerPolicies:
        """The checks in front of the partners' routes, of the extensions too."""
        return PartnerPolicies(
            credentials=self.basic,
            quota=self.quota,
            callers=FromAllowedCaller(self.uses.refused),
            scope=AccountScope(self.kept.accounts.find),
        )

    @cached_property
    def events(self) -> Surface:
        """The surface of events, and of signed days."""
        closings = SignedClosings(self.kernel.store.database)
        routes = [
            event_routes.partner_routes(self.event_feed),
            closing_routes.partner_routes(closings),
        ]
        return events_surface(routes, self.partner_policies)

    @cached_property
    def event_feed(self) -> EventFeed:
        records, kernel = EventRecords(self.kernel.store.database), self.kernel
        waits = Waits(records, kernel.monotonic)
        if not kernel.settings.events.walk_every_s:
            return EventFeed(records, waits, kernel.now)
        return EventFeed(records, waits, kernel.now, self.feed_readers.note)

    @cached_property
    def feed_readers(self) -> FeedReaders:
        return FeedReaders(self.kernel.store.database, self.kernel.shared_now)

    # Companies, accounts, credentials, stops, users

    @cached_property
    def companies(self) -> Companies:
        async def mail(address: str, subject: Text, text: Text) -> None:
            await Mailer(self.identity.context).inform(address, subject, text)

        kernel = self.kernel
        return Companies(database=kernel.store.database, new_id=kernel.new_id, mail=mail)

    @cached_property
    def accounts(self) -> Accounts:
        kernel, settings = self.kernel, self.kernel.settings
        return Accounts(
            store=kernel.store.accounts,
            new_id=kernel.new_id,
            seal=kernel.keys.sealer.seal,
            read_secrets=partial(_account_secrets, settings),
            providers={name: same_bank(name, settings.providers) for name in settings.providers},
            listed_banks=listed_banks.every,
        )

    @cached_property
    def account_banks(self) -> AccountBanks:
        return AccountBanks(
            accounts=self.accounts,
            wait=self._orders.wait,
            takes_two=self._four_eyes.credentials,
            banks=self.banks,
            audit=self.kernel.store.audit,
        )

    @cached_property
    def visible_account(self) -> VisibleAccount:
        """Accounts for users, uncached: a change is visible at once."""
        kernel = self.kernel

        async def load(wanted: tuple[str, CompanyScope]) -> Account | None:
            return await kernel.store.accounts.visible(*wanted)

        return VisibleAccount(within(kernel.settings.database.auth_timeout_s, load))

    @cached_property
    def credentials(self) -> Credentials:
        """Credentials for users; orders wait for a second person where the settings require it."""
        wait = self._orders.wait if self._four_eyes.credentials else None
        return build_credentials(self.kernel, wait, identity=self.identity)

    @cached_property
    def public_keys(self) -> PublicKeys:
        """Public keys of credentials; their orders wait like orders of credentials."""
        return PublicKeys(self.credentials)

    @cached_property
    def endpoint_records(self) -> EndpointRecords:
        return EndpointRecords(self.kernel.store.database, self.kernel.keys.sealer)

    @cached_property
    def endpoint_notices(self) -> EndpointNotices:
        return EndpointNotices(Mailer(self.identity.context), self.kernel.store.database)

    @cached_property
    def endpoints(self) -> Endpoints:
        """Endpoints for users; orders wait for a second person where the settings require it."""
        return build_endpoints(self, self._orders.wait if self._four_eyes.credentials else None)

    @cached_property
    def deliveries(self) -> Deliveries:
        return Deliveries(
            records=DeliveryRecords(self.kernel.store.database),
            endpoints=self.endpoint_records,
            now=self.kernel.shared_now,
            random=os.urandom,
        )

    @cached_property
    def stops(self) -> Stops:
        store = self.kernel.store
        return Stops(
            database=store.database,
            providers=self.kernel.settings.providers,
            accounts=store.accounts,
            credentials=store.credentials,
            new_id=self.kernel.new_id,
            now=self.kernel.shared_now,
        )

    @cached_property
    def outflows(self) -> Outflows:
        return Outflows(
            records=OutflowRecords(self.kernel.store.database),
            config=_guard_config(self.kernel.settings),
            now=self.kernel.shared_now,
        )

    @cached_property
    def outflow_guard(self) -> OutflowGuard:
        return OutflowGuard(
            records=self.outflows.records,
            stops=self.stops,
            config=self.outflows.config,
            now=self.kernel.shared_now,
            new_id=self.kernel.new_id,
        )

    @cached_property
    def users(self) -> Users:
        """Users for staff; acts wait for a second person where the settings require it."""
        wait = self._orders.wait if self._four_eyes.people else None
        return replace(self.identity.users, wait=wait, exports=self.exports)

    @cached_property
    def identity_providers(self) -> IdentityProviders:
        """Companies' providers; orders wait for a second person where the settings require it."""
        return build_identity_providers(self, self._orders.wait if self._four_eyes.people else None)

    @cached_property
    def sign_on(self) -> SingleSignOn:
        return build_sign_on(self.kernel, self.identity)

    # Orders that wait for a second person

    @cached_property
    def _four_eyes(self) -> TwoPeople:
        return self.kernel.settings.approvals

    @cached_property
    def _orders(self) -> Approvals:
        """The approvals service without its executors, which need it themselves."""
        kernel, store = self.kernel, self.kernel.store
        above, sealer = kernel.settings.payouts.approval_above, kernel.keys.sealer
        return Approvals(
            store=store.approvals,
            audit=store.audit,
            users=store.identity.users,
            money=MoneyOrders(
                accounts=store.accounts,
                payouts=self.payouts,
                refunds=self.refund_execution,
                now=kernel.now,
            ),
            known=ApprovalFacts(
                payouts=self.payout_records, readings=self.readings, orders=store.approvals
            ),
            config=ApprovalConfig(
                above=None if above is None else amount(above),
                now=kernel.now,
                new_id=kernel.new_id,
                seal=sealer.seal,
                open=sealer.open,
                stored=self.notification_wake.set,
            ),
            exports=self.exports,
        )

    @cached_property
    def approvals(self) -> Approvals:
        orders = self._orders
        orders.executors.update(dict.fromkeys(PEOPLE, self.users))
        orders.executors.update(dict.fromkeys(CREDENTIALS, self.credentials))
        orders.executors.update(dict.fromkeys(ENDPOINTS, self.endpoints))
        orders.executors.update(dict.fromkeys(SIGN_ON, self.identity_providers))
        orders.executors[ApprovalKind.CREDENTIAL_KEY] = self.public_keys
        orders.executors[ApprovalKind.FACTOR_REMOVAL] = self.identity.factor_removals
        orders.executors[ApprovalKind.ACCOUNT_BANK] = BankChanges(self.accounts, self.kernel.now)
        orders.executors[ApprovalKind.BATCH] = self._batch_orders
        return orders

    @cached_property
    def approved_secrets(self) -> ApprovedSecrets:
        return ApprovedSecrets(self.approvals, self.credentials, self.endpoints)

    # What people and chats are told outside the panel

    @cached_property
    def notification_wake(self) -> asyncio.Event:
        """Set when an order was stored in this process."""
        return asyncio.Event()

    @cached_property
    def call_wakes(self) -> Mapping[Way, asyncio.Event]:
        """Set when something was written in this process for a way that is a call."""
        return {way: asyncio.Event() for way in (Way.PUSH, Way.CHAT)}

    def _wake_calls(self, ways: Collection[Way]) -> None:
        for way in ways:
            self.call_wakes[way].set()

    @cached_property
    def chat_records(self) -> ChatRecords:
        return ChatRecords(self.kernel.store.database, self.kernel.keys.sealer)

    @cached_property
    def push_subscriptions(self) -> SubscriptionRecords:
        return SubscriptionRecords(self.kernel.store.database, self.kernel.keys.sealer)

    @cached_property
    def push_signer(self) -> PushSigner | None:
        """Signs push messages; None where no key is configured."""
        key = self.kernel.settings.notifications.push_key
        return PushSigner(sealing_key(key), self.kernel.settings.origin) if key else None

    @cached_property
    def notifications(self) -> Notifications:
        return Notifications(
            choices=ChoiceRecords(self.kernel.store.database),
            subscriptions=self.push_subscriptions,
            push_key=self.push_signer.public if self.push_signer else "",
            allow_local=self.kernel.settings.events.allow_local,
            new_id=self.kernel.new_id,
        )

    @cached_property
    def chats(self) -> Chats:
        return Chats(
            database=self.kernel.store.database,
            records=self.chat_records,
            new_sender=partial(build_sender, self.kernel),
            origin=self.kernel.settings.origin,
            allow_local=self.kernel.settings.events.allow_local,
            new_id=self.kernel.new_id,
        )

    @cached_property
    def notification_watch(self) -> NotificationWatch:
        context, database = self.identity.context, self.kernel.store.database
        outages = Outages(database)
        return NotificationWatch(
            recipients=Recipients(
                users=context.stores.users,
                choices=self.notifications.choices,
                chats=self.chat_records,
                subscriptions=self.push_subscriptions,
                occasions=Occasions(database=database, outages=outages),
                now=self.kernel.shared_now,
            ),
            outages=outages,
            records=NotificationRecords(database),
            mailbox=context.stores.mailbox,
            mailer=Mailer(context),
            origin=context.settings.origin,
            now=self.kernel.shared_now,
            new_id=self.kernel.new_id,
            count=self.kernel.observer.count,
            wake_calls=self._wake_calls,
        )

    # Accounts at their banks

    @cached_property
    def banks(self) -> ConnectedBanks:
        return ConnectedBanks(self.connections, self.kernel.keys.sealer.open)

    @cached_property
    def bank_reports(self) -> BankReports:
        return BankReports(
            minutes=ProviderMinutes(self.kernel.store.database),
            unwritten=self._unwritten,
            names=frozenset(self.kernel.settings.providers),
            known=self.known,
            now=self.kernel.now,
        )

    @cached_property
    def readings(self) -> Readings:
        """Balances as they were last read."""
        kernel, store = self.kernel, self.kernel.store
        return Readings(
            database=store.database,
            find_account=store.accounts.find,
            banks=self.banks,
            now=kernel.now,
        )

    @cached_property
    def charges(self) -> Charges:
        kernel = self.kernel
        records = StoredCharges(kernel.store.database)
        notes = ChargeNotes(records, kernel.now)
        kept = KeptCharges(records=records, notes=notes, now=kernel.now, new_id=kernel.new_id)
        return Charges(ChargeReads(self.banks, kept), kernel.store.audit, self.exports)

    @cached_property
    def pix_keys(self) -> PixKeys:
        return PixKeys(KeyOwners(self.banks, self.kernel.store.audit, self._owner_lookups))

    @cached_property
    def _owner_lookups(self) -> Allowance:
        """Whose owner each person may learn: of keys, and of a CPF that is searched for."""
        return self.kernel.allowance("owner_lookups")

    @cached_property
    def exports(self) -> Exports:
        """What people take away as files and lists."""
        kernel = self.kernel

        async def record(who: Staff, kind: ExportKind) -> None:
            user_id = who.person.user_id if who.person else ""
            event = who.acting.event("export.large", f"user:{user_id}", {"file": kind.value})
            await kernel.store.audit.append(event)

        return Exports(
            turns=Turns(),
            files=kernel.allowance("exports"),
            rows=kernel.allowance("exported_rows"),
            alarming=kernel.allowance("alarming_rows"),
            listed=kernel.allowance("listed_rows"),
            on_alarm=record,
        )

    @cached_property
    def statements(self) -> Statements:
        kernel, banks, kept = self.kernel, self.banks, self.kernel.settings.statements
        snapshots = Snapshots(
            cache=self.cache, keep_s=kept.snapshot_s, most_bytes=kept.snapshot_bytes
        )
        return Statements(
            reads=StatementReads(banks, kernel.observer.count, snapshots),
            readings=self.readings,
            reports=Reports(
                banks=banks,
                pages=partial(movement_pages, banks),
                environment=kernel.settings.environment,
                now=kernel.now,
            ),
            payouts=kernel.store.payouts,
            charges=StoredCharges(kernel.store.database),
            exports=self.exports,
        )

    @cached_property
    def refund_execution(self) -> RefundExecution:
        """Executes refunds that users have ordered; stops of payouts stop refunds too."""
        kernel = self.kernel
        return RefundExecution(
            banks=self.banks,
            audit=kernel.store.audit,
            environment=kernel.settings.environment,
            now=kernel.now,
            monotonic=kernel.monotonic,
            stops=self.kept.stops_in_force,
            tell=self.refund_records.take,
        )

    @cached_property
    def refund_records(self) -> RefundRecords:
        return RefundRecords(self.kernel.store.database)

    @cached_property
    def refunds(self) -> Refunds:
        return Refunds(
            banks=self.banks,
            kept=self.charges.reads.kept,
            environment=self.kernel.settings.environment,
            place=self._orders.order,
            tell=self.refund_records.take,
            exports=self.exports,
        )

    @cached_property
    def payment_walks(self) -> PaymentWalks:
        kernel, banks = self.kernel, self.banks
        records = WalkRecords(kernel.store.database)
        return PaymentWalks(
            banks=banks,
            records=records,
            walk=PaymentWalk(
                charges=self.charges.reads.kept,
                payouts=kernel.store.payouts,
                note_returns=self.payouts.follow_up.note,
                refunds=self.refund_records,
                records=records,
            ),
            shares=Shares(banks.followup_rate_of),
            count=kernel.observer.count,
            now=kernel.shared_now,
        )

    @cached_property
    def closings(self) -> Closings:
        return Closings(
            database=self.kernel.store.database,
            statements=self.statements,
            exports=self.exports,
            readings=self.day_readings,
            one_signature=self.kernel.settings.closings.signatures == "one",
        )

    @cached_property
    def day_readings(self) -> DayReadings:
        after_midnight = timedelta(seconds=self.kernel.settings.closings.after_midnight_s)
        return DayReadings(self.kernel.store.database, after_midnight)

    @cached_property
    def closing_days(self) -> ClosingDays:
        return ClosingDays(
            database=self.kernel.store.database,
            exports=self.exports,
            one_signature=self.closings.one_signature,
        )

    @cached_property
    def closing_packages(self) -> ClosingPackages:
        return ClosingPackages(
            database=self.kernel.store.database, statements=self.statements, exports=self.exports
        )

    @cached_property
    def reconciliation(self) -> Reconciliation:
        """Reads days by banks of its own, each call in its turn."""
        kernel, banks = self.kernel, self.banks
        slots = Shares(banks.followup_rate_of)
        paced = PacedBanks(banks, slots.of)
        reads = replace(self.statements.reads, banks=paced)
        return Reconciliation(
            providers=tuple(kernel.settings.providers),
            banks=banks,
            closings=replace(self.closings, statements=replace(self.statements, reads=reads)),
            readings=self.day_readings,
            at_once=lambda provider: slots.of(provider).rate.at_once,
            count=kernel.observer.count,
            now=kernel.shared_now,
        )

    @cached_property
    def foreign_debits(self) -> ForeignDebits:
        return ForeignDebits(self.kernel.store.database)

    @cached_property
    def sandbox(self) -> SandboxTools | None:
        """Tools that make the sandbox bank act; None in production."""
        return build_sandbox_tools(self.kernel)

    @cached_property
    def self_service(self) -> SelfService | None:
        """Credentials that partners get by themselves; None in production."""
        if self.sandbox is None:
            return None
        kernel, names = self.kernel, sandbox_providers(self.kernel.settings)
        takes_payouts = (name for name in names if not kernel.settings.providers[name].read_only)
        return SelfService(
            tools=self.sandbox,
            opened=OpenedAccounts(kernel.store.database, OF_NETWORK, IN_ALL),
            companies=self.companies,
            accounts=self.accounts,
            credentials=replace(self.credentials, wait=None, tell=tell_nobody),
            provider=next(takes_payouts, ""),
            new_id=kernel.new_id,
            now=kernel.shared_now,
        )

    @cached_property
    def sandbox_surface(self) -> Surface | None:
        """The surface by which partners drive the sandbox; None where it is not open."""
        kernel, tools, own = self.kernel, self.sandbox, self.self_service
        if tools is None or own is None or not kernel.settings.sandbox.open:
            return None
        partner = PartnerSandbox(
            tools=tools,
            charges=self.charges,
            providers=sandbox_providers(kernel.settings),
            now=kernel.now,
        )
        return sandbox_surface(
            [sandbox_routes.partner_routes(partner)],
            sandbox_routes.open_routes(own),
            self.partner_policies,
            self.user_policies.address_quota,
        )

    @cached_property
    def reception(self) -> Reception:
        """
        Reception of the banks' callbacks.

        Raises:
            AdapterRefused: see ``make_address``.
        """
        from gateway.app.banks import make_addresses  # noqa: PLC0415 - loads adapters, 0.2 s

        kernel = self.kernel
        adapters = {name: each.adapter for name, each in self.connections.items()}
        return Reception(
            store=CallbackRecords(kernel.store.database),
            addresses=make_addresses(kernel.settings, kernel.keys.derivation, adapters),
            now=kernel.now,
            new_id=kernel.new_id,
            note=kernel.observer.callback,
            wake=self._wake,
        )

    # Payouts

    @cached_property
    def payouts(self) -> Payouts:
        return build_payouts(self.kernel, self.banks, self.kept.stops_in_force)

    @cached_property
    def _absent_after(self) -> Mapping[str, timedelta | None]:
        """Return ``absent_after`` of each bank, as its adapter declares."""
        return {
            name: each.adapter.capabilities.absent_after for name, each in self.connections.items()
        }

    @cached_property
    def payout_records(self) -> PayoutRecords:
        """Payouts for staff; similar payouts are shown even where they are not refused."""
        kernel, store = self.kernel, self.kernel.store
        return PayoutRecords(
            directory=PayoutDirectory(store.database),
            payouts=store.payouts,
            similar_within=shown_similar_within(kernel.settings),
            absent_after=self._absent_after,
            digests=tax_number_digests(kernel).every,
            exports=self.exports,
            kept_from=self._kept_from,
        )

    @cached_property
    def recipients(self) -> PaidRecipients:
        kernel = self.kernel
        return PaidRecipients(
            database=kernel.store.database,
            payouts=kernel.store.payouts,
            digests=tax_number_digests(kernel).every,
            exports=self.exports,
        )

    def _kept_from(self, now: datetime) -> date | None:
        months = self.kernel.settings.payouts.keep_months
        return None if months is None else first_kept(now, months)

    @cached_property
    def _payout_probes(self) -> PayoutProbes:
        """Return the status queries for staff, which have their own capacity at a bank."""
        store = self.kernel.store
        look = build_reconciler(self.kernel, self.payouts.follow_up).probe
        return PayoutProbes(payouts=store.payouts, look=look, audit=store.audit)

    @cached_property
    def payout_acts(self) -> PayoutActs:
        return PayoutActs(
            payouts=self.payouts.store,
            follow_up=self.payouts.follow_up,
            probes=self._payout_probes,
            pay=self._orders.order,
            owners=self.pix_keys.owners,
        )

    @cached_property
    def hold_ends(self) -> HoldEnds:
        """Sends held payouts whose time is over."""
        return HoldEnds(payouts=self.payouts, payers=build_payers(self.kernel))

    @cached_property
    def hold_decisions(self) -> HoldDecisions:
        return HoldDecisions(
            payouts=self.payouts,
            payers=build_payers(self.kernel),
            people_of_file=self.kernel.store.approvals.people_of_file,
        )

    @cached_property
    def batches(self) -> Batches:
        """Files of payouts; their orders wait where orders of payouts may wait, of any value."""
        kernel, store = self.kernel, self.kernel.store
        hold, sealer = hold_policy(kernel), kernel.keys.sealer
        return Batches(
            records=BatchRecords(store.database),
            accounts=store.accounts,
            payouts=self.payouts,
            oddities=Oddities(
                database=store.database,
                digests=tax_number_digests(kernel).every,
                hold_above=None if hold is None else hold.above,
            ),
            audit=store.audit,
            exports=self.exports,
            new_id=kernel.new_id,
            seal=sealer.seal,
            open=sealer.open,
            wait=None if self._orders.config.above is None else self._orders.wait,
        )

    @cached_property
    def _batch_orders(self) -> BatchOrders:
        batches = self.batches

        async def find(batch_id: str) -> Batch | None:
            found = await batches.records.find(batch_id, EVERY_COMPANY)
            return None if found is None else found.batch

        return BatchOrders(
            find=find,
            paying_account=batches.paying_account,
            begin=batches.begin,
            now=self.kernel.now,
        )

    @cached_property
    def batch_worker(self) -> BatchWorker:
        return BatchWorker(
            records=self.batches.records,
            payouts=self.payouts,
            payers=build_payers(self.kernel),
            payout=self.batches.payout,
            now=self.kernel.shared_now,
        )

    @cached_property
    def reviews(self) -> Reviews:
        store = self.kernel.store
        return Reviews(
            database=store.database,
            payouts=store.payouts,
            follow_ups=store.follow_ups,
            reviewers=Reviewers(
                users=store.identity.users,
                accounts=store.accounts,
                people_of=store.approvals.people_of,
            ),
            absent_after=self._absent_after,
            exports=self.exports,
        )

    @cached_property
    def unresolved_probes(self) -> UnresolvedProbes:
        return UnresolvedProbes(database=self.kernel.store.database, probes=self._payout_probes)

    # What operators watch

    @cached_property
    def searches(self) -> Searches:
        database = self.kernel.store.database
        return Searches(
            database=database,
            directory=PayoutDirectory(database),
            digests=tax_number_digests(self.kernel).every,
            looked_up=self._owner_lookups,
            exports=self.exports,
        )

    @cached_property
    def bank_searches(self) -> BankSearches:
        return BankSearches(database=self.kernel.store.database, refunds=self.refunds)

    @cached_property
    def audit(self) -> AuditLog:
        store = self.kernel.store
        return AuditLog(database=store.database, chain=store.audit, exports=self.exports)

    @cached_property
    def callbacks(self) -> Callbacks:
        return Callbacks(CallbackRecords(self.kernel.store.database), self.exports)

    @cached_property
    def configuration(self) -> Configuration:
        kernel = self.kernel
        configuration = Configuration(
            version=version("pixgate"),
            settings=kernel.settings,
            revision=partial(revision_of, kernel.store.database),
            revisions=REVISIONS,
        )
        kernel.reloads.append(configuration.take)
        return configuration

    @cached_property
    def overviews(self) -> Overviews:
        # a bank whose callbacks have a secret of their own is to send them
        providers = self.kernel.settings.providers
        telling = frozenset(name for name, each in providers.items() if each.callbacks.secret)
        records = OverviewRecords(self.kernel.store.database)
        return Overviews(
            records=records,
            telling=telling,
            known=self.known,
            now=self.kernel.now,
            demands_limits=self.kernel.settings.environment is Environment.PRODUCTION,
        )

    @cached_property
    def request_lines(self) -> RequestLogWriter:
        """The request log of this process."""
        records = RequestRecords(self.kernel.store.database)
        return RequestLogWriter(records.add, self.kernel.observer.count)

    @cached_property
    def requests(self) -> RequestLog:
        return RequestLog(RequestRecords(self.kernel.store.database), self.exports)

    @cached_property
    def traces(self) -> Traces:
        database, sandbox = self.kernel.store.database, self.sandbox_surface
        gates = (
            *(*self.partners.gates, *self.events.gates),
            *(() if sandbox is None else sandbox.gates),
        )
        routes = [route for gate in gates for route in gate.routes]
        return Traces(
            database=database,
            requests=RequestRecords(database),
            flush=self.request_lines.flush,
            records=TracedRecords(database),
            needed={each.name: str(each.needs) for each in routes if each.needs is not None},
        )

    @cached_property
    def reference(self) -> Reference:
        return Reference(self.partners)

    @cached_property
    def mailbox(self) -> Mailbox | None:
        """The mailbox of sent mail; None in production."""
        if self.kernel.settings.environment is not Environment.SANDBOX:
            return None
        return Mailbox(SealedMailbox(self.kernel.store.database, self.kernel.keys.sealer))


def build_credentials(
    kernel: Kernel,
    wait: Wait | None = None,
    source: CredentialSource | None = None,
    identity: IdentityServices | None = None,
) -> Credentials:
    """Build the credentials; ``source`` replaces the random source, ``identity`` writes mail."""
    context = (identity or build_identity(kernel)).context
    store, is_production = kernel.store, kernel.settings.environment is Environment.PRODUCTION
    return Credentials(
        database=store.database,
        stored=store.credentials,
        accounts=store.accounts,
        source=source or credential_source(kernel.keys),
        now=kernel.shared_now,
        undecided=UNDECIDED if is_production else ANYWHERE,
        demands_limits=is_production,
        night=night_of(kernel.settings),
        spent_by_day=partial(spent_by_day, store.database),
        wait=wait,
        tell=CredentialNotices(Mailer(context)).tell,
    )


def build_identity_providers(services: Services, wait: Wait | None = None) -> IdentityProviders:
    """Build the identity providers; without ``wait`` every order is executed at once."""
    kernel = services.kernel
    return IdentityProviders(
        database=kernel.store.database,
        records=services.sign_on.records,
        context=services.identity.context,
        allow_local=kernel.settings.events.allow_local,
        wait=wait,
    )


def build_endpoints(services: Services, wait: Wait | None = None) -> Endpoints:
    """Build the endpoints; without ``wait`` every order is executed at once."""
    kernel = services.kernel
    return Endpoints(
        database=kernel.store.database,
        records=services.endpoint_records,
        accounts=kernel.store.accounts,
        allow_local=kernel.settings.events.allow_local,
        new_id=kernel.new_id,
        new_secret=partial(new_signing_secret, os.urandom),
        now=kernel.shared_now,
        wait=wait,
        tell=services.endpoint_notices.tell,
    )


def _guard_config(settings: Settings) -> GuardConfig:
    chosen = settings.outflow
    return GuardConfig(
        mode=Mode(chosen.guard),
        companies={company.lower(): Mode(mode) for company, mode in chosen.companies.items()},
        floor=Floor(payouts=chosen.new_payees, centavos=amount(chosen.new_payees_value).centavos),
    )


def credential_source(keys: Keys) -> CredentialSource:
    """Return the random source of credentials, with digests under these keys."""
    return CredentialSource(
        client_id=partial(new_client_id, os.urandom),
        client_secret=partial(new_client_secret, os.urandom),
        digest=keys.digester.digest,
    )


def _account_secrets(settings: Settings, provider: str, given: GivenSecrets) -> BankSecrets:
    """Read an account's secrets; adapters are loaded only here, as most commands need none."""
    from gateway.app.banks import account_secrets  # noqa: PLC0415 - loads adapters, 0.2 s
    from provider_adapters.kit.factory import AdapterRefused  # noqa: PLC0415 - the same

    try:
        return account_secrets(settings, provider, given)
    except AdapterRefused as problem:
        raise RuleViolation(str(problem)) from problem
