"""Finding the bank behind an account, and what that bank offers."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.provider_options import (
    BlockCalls,
    ChargeCalls,
    IncomingCalls,
    KeyCalls,
    Option,
    RefundCalls,
)
from gateway.domain.bank.providers import Bank, Banks, NotSupported
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.strict import has_letters


def bank_of(banks: Banks, account: Account) -> Bank:
    """
    Return the account's bank.

    Raises:
        ServiceError: ``SVC.ACC.005`` (422) when no provider is configured, or
            the account lacks the credentials that its provider asks for.
    """
    bank = banks.of(account)
    if bank is None:
        raise ServiceError(errors.PROVIDER_NOT_CONFIGURED, "no_provider")
    if bank.lacks_credentials:
        raise ServiceError(errors.PROVIDER_NOT_CONFIGURED, "no_bank_credentials")
    return bank


def paying_bank_of(banks: Banks, account: Account) -> Bank:
    """
    Return the account's bank if payouts can be made through it.

    Raises:
        ServiceError: ``SVC.ACC.005``, 422 when no provider is configured and
            403 when it is read-only.
    """
    bank = bank_of(banks, account)
    if bank.read_only:
        raise ServiceError(errors.PROVIDER_READ_ONLY, "read_only")
    return bank


def refuse_letters(banks: Banks, account: Account, numbers: Mapping[str, str]) -> None:
    """
    Refuse a CNPJ with letters where the account's bank does not take such.

    ``numbers`` are tax numbers and PIX keys in their normal form, by the field they came in.

    Raises:
        ServiceError: ``SVC.VAL.011`` (400), as for a number that is none.
    """
    field = next((name for name, number in numbers.items() if has_letters(number)), "")
    bank = banks.of(account) if field else None
    if bank is not None and not bank.adapter.capabilities.alphanumeric_cnpj:
        reason = "key_form" if field.endswith("key") else "tax_number_form"
        raise ServiceError(errors.PAYLOAD_INVALID, reason, field=field)


_LACKS = "not_supported"


def key_calls(bank: Bank, option: Option) -> KeyCalls:
    """Return the bank's calls about keys; raises ``NotSupported`` when it lacks this one."""
    if _offers(bank, option) and isinstance(bank.adapter, KeyCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def charge_calls(bank: Bank, option: Option) -> ChargeCalls:
    """Return the bank's calls that change charges; raises ``NotSupported`` likewise."""
    if _offers(bank, option) and isinstance(bank.adapter, ChargeCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def incoming_calls(bank: Bank, option: Option) -> IncomingCalls:
    """Return the bank's calls about what came in; raises ``NotSupported`` likewise."""
    if _offers(bank, option) and isinstance(bank.adapter, IncomingCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def refund_calls(bank: Bank, option: Option) -> RefundCalls:
    """Return the bank's calls about refunds; raises ``NotSupported`` likewise."""
    if _offers(bank, option) and isinstance(bank.adapter, RefundCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def block_calls(bank: Bank, option: Option) -> BlockCalls:
    """Return the bank's call about blocks; raises ``NotSupported`` likewise."""
    if _offers(bank, option) and isinstance(bank.adapter, BlockCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def _offers(bank: Bank, option: Option) -> bool:
    return option.value in bank.adapter.capabilities.operations
