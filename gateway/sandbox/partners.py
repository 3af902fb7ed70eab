"""The sandbox bank as partners drive it, each at their own accounts."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from gateway.banks.port.charges import Charge, ChargeOrder
from gateway.charges.service import Charges
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.account import Account, Environment
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.calls import Caller
from gateway.core.catalogue import ErrorCode
from gateway.core.clocks import Now
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.payouts.model import provider_key
from gateway.sandbox import control
from gateway.sandbox.control import ABSENT, AWAY, SandboxControl
from gateway.sandbox.model import (
    FATES,
    DepositBody,
    PartnerFaultBody,
    PartnerFaultOrdered,
    Payment,
    PaymentBody,
    ReturnBody,
    Returned,
    ToppedUp,
)
from gateway.sandbox.service import SandboxTools

_PAYOUT: Final = "payout"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartnerSandbox:
    """
    What a partner makes the sandbox bank do; the gate has checked permission and account.

    The bank acts at the account of the call alone. Every method raises ``ServiceError``:
    ``SVC.ACC.005`` (422) for an account at another bank and (502) while the sandbox bank does not
    answer, ``SVC.GTW.008`` (422) in the bank's words where it refuses.

    Attributes:
        tools: Hold the bank's control interface, which is known once the bank listens.
        providers: The configured providers whose bank the sandbox bank is.
    """

    tools: SandboxTools
    charges: Charges
    providers: Collection[str]
    now: Now

    async def create_charge(self, caller: Caller, order: ChargeOrder) -> Charge:
        """
        Make a charge; answers its PIX QR code.

        Raises:
            ServiceError, ProviderError: as ``Charges.create``.
        """
        return await self.charges.create(self._acting(caller), caller.account, order)

    async def cancel_charge(self, caller: Caller, reference: str) -> Charge:
        """
        Cancel a charge; answers its QR code with status Canceled.

        Raises:
            ServiceError, ProviderError: as ``Charges.cancel``.
        """
        return await self.charges.cancel(self._acting(caller), caller.account, reference)

    async def pay_charge(self, caller: Caller, reference: str, wanted: PaymentBody) -> Payment:
        """
        Pay a charge as an outside payer: whole, in part, or once more.

        Raises:
            ServiceError: ``SVC.PIX.005`` (404): the account has no charge of that reference.
        """
        with _refusals(errors.CHARGE_NOT_FOUND):
            return await control.pay(
                self._bank(caller), caller.account, reference, wanted.value, any_pix=True
            )

    async def top_up(self, caller: Caller, wanted: DepositBody) -> ToppedUp:
        """Pay money into the account, without a charge."""
        with _refusals(errors.PROVIDER_NOT_CONFIGURED):
            return await control.top_up(self._bank(caller), caller.account, wanted.value)

    async def return_payout(self, caller: Caller, reference: str, wanted: ReturnBody) -> Returned:
        """
        Let a paid payout come back, all of it or a part.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404): the bank has no payout of that reference.
        """
        body = {} if wanted.value is None else {"value": wanted.value}
        with _refusals(errors.PAYOUT_NOT_FOUND):
            key = _key(caller.account, reference)
            await self._bank(caller).post("payouts", key, "return", body=body)
        return Returned(reference)

    async def order_fault(self, caller: Caller, wanted: PartnerFaultBody) -> PartnerFaultOrdered:
        """
        Let something go wrong once: the payout of a reference, or the next call of an operation.

        No other account meets it. Of an account 20 wait at most: the oldest gives way.

        Raises:
            ServiceError: ``SVC.VAL.001`` for a fate without a reference, ``SVC.VAL.011`` for a
                reference with another operation than the payout.
        """
        reference = wanted.reference or ""
        if wanted.fault in FATES and not reference:
            raise ServiceError(errors.FIELD_MISSING, "missing", field="reference")
        if reference and wanted.operation != _PAYOUT:
            error, words = errors.PAYLOAD_INVALID, (_PAYOUT,)
            raise ServiceError(error, "not_one_of", field="operation", words=words)
        body = {
            "account": caller.account.provider_account,
            "key": _key(caller.account, reference) if reference else "",
            "fault": wanted.fault,
            "operation": wanted.operation,
            "status": wanted.status,
        }
        with _refusals(errors.PROVIDER_NOT_CONFIGURED):
            await self._bank(caller).post("faults", body=body)
        return PartnerFaultOrdered(wanted.fault, wanted.operation, reference)

    def _acting(self, caller: Caller) -> Staff:
        """Return the partner as who acts, within their company."""
        acting = AuditContext(f"partner:{caller.principal.client_id}", self.now)
        return Staff(acting, CompanyScope(frozenset({caller.principal.company_id})))

    def _bank(self, caller: Caller) -> SandboxControl:
        if caller.account.provider not in self.providers:
            raise ServiceError(errors.PROVIDER_NOT_CONFIGURED, "no_provider")
        return self.tools.control


def _key(account: Account, reference: str) -> str:
    return provider_key(Environment.SANDBOX, account.id, reference)


@contextmanager
def _refusals(absent: ErrorCode) -> Iterator[None]:
    """Turn a refusal of the bank into its code: ``absent`` for what it does not know."""
    try:
        yield
    except RuleViolation as problem:
        if problem.field:
            error = errors.PAYLOAD_INVALID
            raise ServiceError(error, problem.reason, field=problem.field) from problem
        known = {ABSENT: absent, AWAY: errors.PROVIDER_BUSY}
        error = known.get(problem.reason, errors.BANK_REFUSED)
        detail = str(problem) if error is errors.BANK_REFUSED else ""
        raise ServiceError(error, problem.reason, detail=detail) from problem
