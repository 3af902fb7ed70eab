"""Finding the bank behind an account."""

from __future__ import annotations

from gateway.domain import errors
from gateway.domain.accounts import Account
from gateway.domain.errors import ServiceError
from gateway.domain.providers import Bank, Banks


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
