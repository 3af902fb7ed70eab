"""Finds the bank behind an account, and checks its capabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.providers import Bank, Banks, EveryCall, NotSupported, Reason
from gateway.core import errors
from gateway.core.account import Account
from gateway.core.errors import ServiceError
from gateway.core.strict import has_letters

# Looking a member up by its name costs Python 3.11 a call each time.
_LACKS: Final[str] = Reason.NOT_SUPPORTED
_CREATE_PAYOUT: Final = PortCall.CREATE_PAYOUT


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


def paying_bank_of(banks: Banks, account: Account, method: PayoutMethod) -> Bank:
    """
    Return the account's bank if payouts can be made through it.

    Raises:
        ServiceError: ``SVC.ACC.005``, 422 when no provider is configured or the
            bank takes no payouts to such a destination, and 403 when the
            operator made it read-only or the bank takes no payouts at all.
    """
    bank = bank_of(banks, account)
    if not bank.pays:
        raise ServiceError(errors.PROVIDER_READ_ONLY, "read_only")
    if method not in bank.adapter.capabilities.destinations:
        raise ServiceError(errors.PROVIDER_NOT_CONFIGURED, "not_supported")
    return bank


def changing_bank_of(banks: Banks, account: Account) -> Bank:
    """
    Return the account's bank if its charges, keys and refunds may be changed through us.

    Capabilities are not checked here; a bank without payouts may be returned.

    Raises:
        ServiceError: ``SVC.ACC.005``, 422 when no provider is configured and
            403 when the operator made it read-only.
    """
    bank = bank_of(banks, account)
    if bank.read_only:
        raise ServiceError(errors.PROVIDER_READ_ONLY, "read_only")
    return bank


def refuse_letters(banks: Banks, account: Account, numbers: Mapping[str, str]) -> None:
    """
    Refuse a CNPJ with letters where the account's bank does not accept such numbers.

    ``numbers`` are tax numbers and PIX keys in their normal form, by the field they came in.

    Raises:
        ServiceError: ``SVC.VAL.011`` (400), which names the bank as the reason.
    """
    field = next((name for name, number in numbers.items() if has_letters(number)), "")
    bank = banks.of(account) if field else None
    if bank is not None and not bank.adapter.capabilities.alphanumeric_cnpj:
        raise ServiceError(errors.PAYLOAD_INVALID, "bank_takes_digits", field=field)


def offered(bank: Bank, call: PortCall) -> EveryCall:
    """
    Return the bank's calls if the bank offers this call.

    That a declared call is there was checked when the adapter was loaded.

    Raises:
        NotSupported: the bank does not offer it.
    """
    if call in bank.adapter.capabilities.calls:
        return cast("EveryCall", bank.adapter)
    raise NotSupported(_LACKS)


def payout_calls(bank: Bank) -> EveryCall:
    """Return the calls of a bank that takes payouts; raises ``NotSupported`` otherwise."""
    return offered(bank, _CREATE_PAYOUT)
