"""What users order at a bank: charges and PIX keys; each is in the audit log first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.charges import Charge, ChargeOrder
from gateway.domain.bank.pix_keys import KeyOrder, KeyOwner, PixKeyStatus, PixKeyType
from gateway.domain.bank.provider_options import IN_USE, WHY, OutcomeUnknown
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    BadReply,
    Banks,
    NotFound,
    ProviderError,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.domain.bank.records.charges import ChargeRecord
from gateway.domain.kernel import errors
from gateway.domain.kernel.audit import Audit
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import LEASE, StoreUnavailable
from gateway.operations.bank.charge_records import KeptCharges
from gateway.operations.bank.connections import bank_of, changing_bank_of, offered, refuse_letters
from gateway.operations.bank.reads import OwnedKey
from gateway.operations.kernel.audit_context import AuditContext

_BEING_MADE: Final = (
    "A charge of this reference is being made, or its outcome is unknown: read it in 30 s."
)
_MADE_WITHIN_S: Final = LEASE.total_seconds() - 3.0
"""Before the reference is free for other processes, whose clocks may be a moment ahead."""


@dataclass(frozen=True, slots=True)
class ChargeOrders:
    """
    Changes the charges of an account (contract 4.3).

    Every call raises ``NotSupported`` for a bank that does not offer it, and
    ``ServiceError`` ``SVC.ACC.005`` when no provider is configured (422) or
    it is read-only (403).

    One charge of a reference is made at a time, in whatever process. Banks that take a
    reference twice are asked first whether they know it, so two at once must not ask before
    either has made its charge.
    """

    banks: Banks
    audit: Audit
    kept: KeptCharges

    async def create(self, acting: AuditContext, account: Account, order: ChargeOrder) -> Charge:
        """
        Make a charge, which is on record before the bank is asked.

        Not repeated by itself: after a failure read the charge by its reference.

        Raises:
            ServiceError: ``SVC.GTW.009`` when the reference is in use, or was ordered less
                than 30 s ago with an outcome that is not known yet; ``SVC.GTW.008`` when the
                bank refuses, such as for a key that is not the account's.
            ProviderError: it is not known whether it was made, but for
                ``Unreachable``.
            StoreUnavailable: nothing was asked of the bank.
        """
        bank = changing_bank_of(self.banks, account)
        calls = offered(bank, PortCall.CREATE_CHARGE)
        payer = "" if order.payer is None else order.payer.tax_number
        refuse_letters(self.banks, account, {"key": order.key, "payer.tax_number": payer})
        asked = "open" if order.value is None else str(order.value)
        details = {"type": order.type.value, "value": asked}
        act = _charge_act(acting, account, "create", details)
        record = await self.kept.order(bank.name, account, order)
        if record is None:
            raise ServiceError(errors.ALREADY_IN_USE, "being_made", detail=_BEING_MADE)
        async with self._dropped_unless_made(record), recorded(self.audit, act):
            charge = await _in_time(calls.create_charge(bank.account, order))
        await self.kept.made(record, charge)
        return charge

    async def cancel(self, acting: AuditContext, account: Account, reference: str) -> Charge:
        """
        Cancel a charge and return it as ``Canceled``; safe to repeat.

        Raises:
            NotFound: the bank has none of that reference.
            ServiceError: ``SVC.GTW.008`` when it is paid.
            ProviderError: not known to be done.
            StoreUnavailable: nothing was asked of the bank.
        """
        bank = changing_bank_of(self.banks, account)
        calls = offered(bank, PortCall.CANCEL_CHARGE)
        async with recorded(self.audit, _charge_act(acting, account, "cancel", {})):
            charge = await calls.cancel_charge(bank.account, reference)
        await self.kept.changed(account, charge)
        return charge

    @asynccontextmanager
    async def _dropped_unless_made(self, record: ChargeRecord) -> AsyncIterator[None]:
        """Drop the record where it is certain that the bank made nothing."""
        try:
            yield
        except (ServiceError, StoreUnavailable):  # refused, or nothing was asked of the bank
            await self.kept.not_made(record)
            raise
        except ProviderError as problem:
            if _ending(problem) != _UNKNOWN:
                await self.kept.not_made(record)
            raise


async def _in_time(making: Awaitable[Charge]) -> Charge:
    """Wait for the bank while the reference is held; raises ``Unavailable`` afterwards."""
    try:
        async with asyncio.timeout(_MADE_WITHIN_S):
            return await making
    except TimeoutError as problem:
        raise Unavailable(Reason.TIMEOUT) from problem


def _charge_act(
    acting: AuditContext, account: Account, what: str, details: dict[str, str]
) -> BankAct:
    """Describe an act on a charge without its reference, which may hold personal data."""
    return BankAct(
        acting=acting,
        account=account,
        action=f"charge.{what}",
        subject=f"account:{account.id}",
        details=details,
    )


@dataclass(frozen=True, slots=True)
class PixKeyOrders:
    """
    Changes the keys of an account (contract 4.3).

    Every call raises ``NotSupported`` for a bank that does not offer it, and
    ``ServiceError`` ``SVC.ACC.005`` when no provider is configured (422) or
    it is read-only (403, changes alone).
    """

    banks: Banks
    audit: Audit

    async def create(self, acting: AuditContext, account: Account, order: KeyOrder) -> OwnedKey:
        """
        Register a key.

        Not repeated by itself: after a failure look at the list of keys first.

        Raises:
            ServiceError: ``SVC.GTW.009`` when the key is in use, by this
                account too; ``SVC.GTW.008`` when the bank refuses.
            ProviderError: it is not known whether it was registered, but for
                ``Unreachable``.
            StoreUnavailable: nothing was asked of the bank.
        """
        bank = changing_bank_of(self.banks, account)
        calls = offered(bank, PortCall.CREATE_KEY)
        refuse_letters(self.banks, account, {"key": order.key})
        async with recorded(self.audit, _key_act(acting, account, "create", order.type)):
            key = await calls.create_key(bank.account, order)
        return OwnedKey(key.public_id(account.id), key)

    async def cancel(self, acting: AuditContext, account: Account, key_id: str) -> OwnedKey:
        """
        Give a key up, by its public id; one that is given up already is returned as it is.

        Raises:
            NotFound: the bank has none of that id.
            ServiceError: ``SVC.GTW.008`` when the bank refuses.
            ProviderError: not known to be done; safe to repeat.
            StoreUnavailable: nothing was changed.
        """
        bank = changing_bank_of(self.banks, account)
        calls = offered(bank, PortCall.CANCEL_KEY)
        key = await offered(bank, PortCall.GET_KEY).get_key(bank.account, key_id)
        if key.status is not PixKeyStatus.CANCELED:
            async with recorded(self.audit, _key_act(acting, account, "cancel", key.type, key_id)):
                key = await calls.cancel_key(bank.account, key)
        return OwnedKey(key_id, key)

    async def look_up(self, acting: AuditContext, account: Account, key: str) -> KeyOwner:
        """
        Ask who is behind a key of any bank, given in its normal form.

        It shows a person's data and the central bank counts such questions, so
        it is recorded as an act; the key itself is not.

        Raises:
            NotFound: nobody has this key.
            ServiceError: ``SVC.GTW.008`` when the bank refuses to tell.
            ProviderError: the bank gave no usable answer; safe to repeat.
            StoreUnavailable: nothing was asked.
        """
        bank = bank_of(self.banks, account)
        calls = offered(bank, PortCall.LOOK_UP_KEY)
        refuse_letters(self.banks, account, {"key": key})
        async with recorded(self.audit, _key_act(acting, account, "look_up")):
            return await calls.look_up_key(bank.account, key)


def _key_act(
    acting: AuditContext,
    account: Account,
    what: str,
    kind: PixKeyType | None = None,
    key_id: str = "",
) -> BankAct:
    """Describe an act on a key without the key itself, which may be a tax number."""
    return BankAct(
        acting=acting,
        account=account,
        action=f"pix_key.{what}",
        subject=f"pix_key:{key_id}" if key_id else f"account:{account.id}",
        details={"type": kind.value} if kind else {},
    )


_log = logging.getLogger(__name__)


_UNKNOWN: Final = "unknown"
_NOT_KNOWN: Final = (Unavailable, BadReply, OutcomeUnknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAct:
    """
    An act at a bank that a user ordered.

    Attributes:
        action: What, such as ``pix_key.create``; the audit log adds how far it got.
        subject: A kind and an id that say nothing about anybody.
        details: Flat texts; never a name, a tax number or a secret.
    """

    acting: AuditContext
    account: Account
    action: str
    subject: str
    details: Mapping[str, str]


@asynccontextmanager
async def recorded(audit: Audit, act: BankAct) -> AsyncIterator[None]:
    """
    Surround the bank's call: ``….ordered`` is written before, the ending after.

    Endings are ``done``, ``refused``, ``absent``, ``not_sent`` and ``unknown``.
    An act that is only ordered ended with its process: it is unknown too.

    Raises:
        StoreUnavailable: the order could not be written; the bank was asked nothing.
        ServiceError: ``SVC.GTW.009`` when the bank has such a thing already,
            ``SVC.GTW.008`` when it refuses.
        ProviderError: as the bank's call does.
    """
    await _write(audit, act, "ordered", {})
    try:
        yield
    except Refused as problem:
        await _end(audit, act, "refused", problem.reason)
        raise refused(problem.reason) from problem
    except ProviderError as problem:
        await _end(audit, act, _ending(problem), problem.reason)
        raise
    await _end(audit, act, "done", "")


def refused(reason: str) -> ServiceError:
    """Make the refusal of a fixed reason, with its sentence for the operator."""
    error = errors.ALREADY_IN_USE if reason == IN_USE else errors.BANK_REFUSED
    return ServiceError(error, reason, detail=WHY.get(reason, ""))


def _ending(problem: ProviderError) -> str:
    """Say in a word what is known after a failure."""
    if isinstance(problem, Unreachable):
        return "not_sent"
    if isinstance(problem, NotFound):
        return "absent"
    return "refused" if _answered_no(problem) else _UNKNOWN


def _answered_no(problem: ProviderError) -> bool:
    """Say whether the bank's answer proves that nothing was done."""
    return not isinstance(problem, _NOT_KNOWN)


async def _end(audit: Audit, act: BankAct, ending: str, reason: str) -> None:
    """Write how it ended. The bank has acted, so a failed write is logged and not raised."""
    try:
        await _write(audit, act, ending, {"reason": reason} if reason else {})
    except StoreUnavailable:
        _log.warning("audit_ending_lost action=%s.%s", act.action, ending)


async def _write(audit: Audit, act: BankAct, step: str, more: Mapping[str, str]) -> None:
    """Write a step; of a key or a refund the store could not tell whose it is."""
    details = {"account": act.account.id, **act.details, **more}
    event = act.acting.event(f"{act.action}.{step}", act.subject, details)
    await audit.append(replace(event, companies=frozenset({act.account.company_id})))
