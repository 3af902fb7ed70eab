"""The partner's surface: the order of its questions, and the ten operations of contract 4.1."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from gateway.banks.port.providers import NotFound, NotSupported, ProviderError
from gateway.banks.port.statements import Statement
from gateway.charges import documents as charge_documents
from gateway.charges.service import ChargeReads
from gateway.core import errors
from gateway.core.account import Account, Environment
from gateway.core.calls import Call, Caller
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import CATALOGUE
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Search
from gateway.http.common import open_gate
from gateway.http.route import Gate, Row, RowLimits, Surface, route
from gateway.payouts import bodies
from gateway.payouts import documents as payout_documents
from gateway.payouts.create import CERTAINLY_NOT_SENT, Payouts
from gateway.pix_keys import documents as key_documents
from gateway.pix_keys.service import get_key, list_keys
from gateway.statements import documents as statement_documents
from gateway.statements.reads import StatementReads, balance_of
from policies.authentication.basic import BasicCredentials
from policies.authorization.credential import AccountScope, AccountState, RequiresPermission
from policies.traffic.quota import WithinQuota
from policies.traffic.throttle import NotBlocked
from policies.validation.inputs import KEY_ID, NOTHING, REFERENCE, SEARCH
from policies.validation.parameters import Identifiers

PREFIX: Final = "/baas/v1"
CHALLENGE: Final = 'Basic realm="baas", charset="UTF-8"'

# Far above any valid payout; it bounds what one request may hold in memory.
BODY_BYTES = 64 * 1024
READ = RowLimits("read", 0)
PAYOUT = RowLimits("payout", BODY_BYTES)
CANCEL = RowLimits("payout", 0)

READ_BALANCE = Permission(Resource.BALANCE, Action.READ)
READ_KEYS = Permission(Resource.PIX_KEY, Action.READ)
READ_CHARGE = Permission(Resource.QRCODE, Action.READ)
READ_TRANSACTIONS = Permission(Resource.TRANSACTION, Action.READ)
READ_PAYOUT = Permission(Resource.WITHDRAW, Action.READ)
WRITE_PAYOUT = Permission(Resource.WITHDRAW, Action.WRITE)

_STORE_FAILS: dict[type[Exception], ErrorCode] = {StoreUnavailable: errors.INTERNAL}
_NO_PROVIDER = (errors.PROVIDER_NOT_CONFIGURED,)


def _reads(code: ErrorCode) -> dict[type[Exception], ErrorCode]:
    """Say what a failing provider becomes on a read; one that lacks the operation is 422."""
    return {NotSupported: errors.PROVIDER_NOT_CONFIGURED, ProviderError: code}


def _charging(
    statements: StatementReads, quota: WithinQuota
) -> Callable[[Caller, Search], Awaitable[Statement]]:
    """Read statements; each page of the bank behind the first costs as much as a call."""

    async def read(caller: Caller, search: Search) -> Statement:
        further = partial(quota.charge, READ.quota, caller.principal)
        return await statements.read(caller.account, search, further)

    return read


def banking_surface(
    routes: Sequence[Row[Caller]],
    credentials: BasicCredentials,
    quota: WithinQuota,
    find_account: Callable[[str], Awaitable[Account | None]],
    environment: Environment,
) -> Surface:
    """Put the partner's gate and the open gate together."""
    partner = Gate(
        policies=(
            NotBlocked(credentials.throttle),
            credentials,
            quota,
            RequiresPermission(),
            Identifiers(),
            AccountScope(find_account),
            AccountState(),
        ),
        admits=admit_partner,
        rows=routes,
        scheme="basic",
    )
    return Surface(
        name="banking",
        prefix=PREFIX,
        gates=(partner, open_gate("banking", environment, CATALOGUE)),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({"banking.health"}),
    )


def admit_partner(call: Call) -> Caller:
    """Turn a call that passed every question into what operations take."""
    if call.principal is None or call.account is None:
        problem = "a policy of this gate is missing"
        raise RuntimeError(problem)
    return Caller(call.principal, call.account)


def banking_routes(
    charges: ChargeReads, statements: StatementReads, payouts: Payouts, quota: WithinQuota
) -> Sequence[Row[Caller]]:
    """Return the routes in the order of the contract."""
    banks = statements.banks
    return (
        route(
            "GET",
            "/account/{account_id}/balance",
            name="banking.balance",
            summary="Read the account's balance, live.",
            needs=READ_BALANCE,
            limits=READ,
            takes=NOTHING,
            runs=lambda caller, _: balance_of(banks, caller.account),
            shows=statement_documents.balance,
            fails=_reads(errors.BALANCE_UNAVAILABLE),
            raises=_NO_PROVIDER,
        ),
        route(
            "GET",
            "/account/{account_id}/pix/keys",
            name="banking.pix_keys",
            summary="List the account's PIX keys.",
            needs=READ_KEYS,
            limits=READ,
            takes=NOTHING,
            runs=lambda caller, _: list_keys(banks, caller.account),
            shows=key_documents.pix_keys,
            fails=_reads(errors.PIX_KEYS_UNAVAILABLE),
            raises=_NO_PROVIDER,
        ),
        route(
            "GET",
            "/account/{account_id}/pix/keys/{key_id}",
            name="banking.pix_key",
            summary="Read one PIX key.",
            needs=READ_KEYS,
            limits=READ,
            takes=KEY_ID,
            runs=lambda caller, key_id: get_key(banks, caller.account, key_id),
            shows=key_documents.pix_key,
            fails=_reads(errors.PIX_KEYS_UNAVAILABLE) | {NotFound: errors.PIX_KEY_NOT_FOUND},
            raises=_NO_PROVIDER,
        ),
        route(
            "GET",
            "/account/{account_id}/pix/qrcode/{reference}",
            name="banking.qrcode",
            summary="Read a charge as a PIX QR code.",
            needs=READ_CHARGE,
            limits=READ,
            takes=REFERENCE,
            runs=lambda caller, reference: charges.read(caller.account, reference),
            shows=charge_documents.charge,
            fails=_reads(errors.CHARGE_UNAVAILABLE) | {NotFound: errors.CHARGE_NOT_FOUND},
            raises=(*_NO_PROVIDER, errors.CHARGE_NOT_FOUND),
        ),
        route(
            "GET",
            "/account/{account_id}/pix/transactions/{reference}",
            name="banking.pix_transaction",
            summary="Resolve a charge to its payment, pending until it is paid.",
            needs=READ_TRANSACTIONS,
            limits=READ,
            takes=REFERENCE,
            runs=lambda caller, named: charges.read_payment(caller.account, named),
            shows=charge_documents.transaction,
            fails=_reads(errors.TRANSACTION_UNAVAILABLE) | {NotFound: errors.TRANSACTION_NOT_FOUND},
            raises=_NO_PROVIDER,
        ),
        route(
            "GET",
            "/account/{account_id}/transactions",
            name="banking.statement",
            summary="Read the account's statement for a window of days.",
            needs=READ_TRANSACTIONS,
            limits=READ,
            takes=SEARCH,
            runs=_charging(statements, quota),
            shows=statement_documents.statement,
            fails=_reads(errors.STATEMENT_UNAVAILABLE),
            raises=_NO_PROVIDER,
        ),
        route(
            "POST",
            "/account/{account_id}/withdraw",
            name="banking.payout_create",
            summary="Pay out to a PIX key or a bank account.",
            needs=WRITE_PAYOUT,
            limits=PAYOUT,
            takes=bodies.PAYOUT,
            runs=payouts.create,
            shows=payout_documents.payout_created,
            fails=_STORE_FAILS | {ProviderError: errors.PROVIDER_UNREACHABLE},
            raises=(
                *_NO_PROVIDER,
                errors.PAYOUT_DATE_NOT_TODAY,
                errors.PROVIDER_READ_ONLY,
                *CERTAINLY_NOT_SENT,
                errors.PAYOUT_REJECTED,
                errors.PAYOUT_REFERENCE_IN_USE,
                errors.PAYOUT_NOT_ALLOWED,
                errors.PAYOUTS_STOPPED,
                errors.CREDENTIAL_LIMIT,
                errors.PAYOUT_UNKNOWN,
                errors.BODY_TOO_LARGE,
                errors.REQUEST_TIMEOUT,
            ),
        ),
        route(
            "GET",
            "/account/{account_id}/withdraw/{reference}",
            name="banking.payout",
            summary="Read a payout by its reference.",
            needs=READ_PAYOUT,
            limits=READ,
            takes=REFERENCE,
            runs=payouts.read,
            shows=payout_documents.payout,
            fails=_STORE_FAILS,
            raises=(errors.PAYOUT_NOT_FOUND,),
        ),
        route(
            "GET",
            "/account/{account_id}/withdraws",
            name="banking.payouts",
            summary="List payouts created within a window of days.",
            needs=READ_PAYOUT,
            limits=READ,
            takes=SEARCH,
            runs=payouts.search,
            shows=payout_documents.payouts,
            fails=_STORE_FAILS,
            raises=(),
        ),
        route(
            "DELETE",
            "/account/{account_id}/withdraw/{reference}",
            name="banking.payout_cancel",
            summary="Always refused: a submitted payout is final.",
            needs=WRITE_PAYOUT,
            limits=CANCEL,
            takes=NOTHING,
            runs=payouts.cancel,
            shows=payout_documents.nothing,
            fails=_STORE_FAILS,
            raises=(errors.CANCEL_NOT_IMPLEMENTED,),
        ),
    )
