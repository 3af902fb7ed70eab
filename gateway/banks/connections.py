"""The configured providers, the bank behind an account, and the calls that it offers."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, cast

import msgspec
from yarl import URL

from gateway.banks.followup_rate import SLOWEST, FollowupRate
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.providers import (
    Bank,
    Banks,
    CredentialsRefused,
    EveryCall,
    NotSupported,
    ProviderAccount,
    ProviderAdapter,
    Reason,
)
from gateway.config.upstream import Provider
from gateway.core import errors
from gateway.core.account import Account
from gateway.core.errors import ServiceError
from gateway.core.strict import has_letters
from gateway.net.common.runtime import Proxy
from gateway.security.sealing import SealBroken

# Looking a member up by its name costs Python 3.11 a call each time.
_LACKS: Final[str] = Reason.NOT_SUPPORTED
_CREATE_PAYOUT: Final = PortCall.CREATE_PAYOUT


@dataclass(frozen=True, slots=True)
class ConfiguredProvider:
    """
    A configured provider.

    Attributes:
        read_only: Whether the operator allows no payouts.
        open_secrets: Reads an account's secrets from the text that was sealed; None for
            a bank that wants a single text. Raises ``CredentialsRefused``.
        adapter_name: The adapter's name, as configured.
        in_flight_limit: This process's maximum of concurrent calls.
        rate: Rate limit of status queries for its unsettled payouts.
    """

    adapter: ProviderAdapter
    read_only: bool
    open_secrets: Callable[[str], object] | None = None
    adapter_name: str = ""
    in_flight_limit: int = 0
    rate: FollowupRate = SLOWEST


class ConnectedBanks:
    """
    Finds banks; a ``Banks``.

    The result is kept on the account's record, so that its credentials are decrypted once.
    """

    def __init__(
        self, connections: Mapping[str, ConfiguredProvider], unseal: Callable[[bytes, str], str]
    ) -> None:
        """Decrypt credentials by ``unseal``: sealed bytes, and the account id they are bound to."""
        self._connections = connections
        self._unseal = unseal

    def of(self, account: Account) -> Bank | None:
        """
        Return the account's bank; None when its provider is not configured here.

        Raises:
            CredentialsRefused: the account's provider credentials cannot be
                opened with the keys in force, or do not fit its bank.
        """
        derived = account.derived
        if derived.bank_by is self:
            kept: Bank | None = derived.bank
            return kept
        derived.bank = bank = self._connected(account)
        derived.bank_by = self
        return bank

    def followup_rate_of(self, provider: str) -> FollowupRate:
        """Return the rate limit of status queries for a provider's unsettled payouts."""
        connection = self._connections.get(provider)
        return SLOWEST if connection is None else connection.rate

    def _connected(self, account: Account) -> Bank | None:
        connection = self._connections.get(account.provider)
        if connection is None:
            return None
        text, opener = self._opened(account), connection.open_secrets
        return Bank(
            name=account.provider,
            adapter=connection.adapter,
            account=ProviderAccount(
                account_id=account.id,
                provider_account=account.provider_account,
                credentials="" if opener else text,
                secrets=opener(text) if opener and text else None,
                holder=account.name,
            ),
            read_only=connection.read_only,
        )

    def _opened(self, account: Account) -> str:
        """Decrypt the account's secrets for its bank; empty without secrets."""
        sealed = account.sealed_credentials
        try:
            return self._unseal(sealed, account.id) if sealed else ""
        except SealBroken as problem:
            reason = "seal_broken"
            raise CredentialsRefused(reason) from problem


def bank_of(banks: Banks, account: Account) -> Bank:
    """
    Return the account's bank.

    Raises:
        ServiceError: ``SVC.ACC.005`` (422) when no provider is configured, or
            the account lacks the credentials that its provider requires.
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


def limits_of(provider: Provider) -> Mapping[str, object]:
    """
    Convert a provider's limits to an adapter's settings.

    One account has a quarter of the places, unless ``account_limits`` states another number.
    """
    is_limited = provider.account_limits.in_flight is not None
    return {
        "connect_s": provider.connect_timeout_s,
        "first_byte_s": provider.first_byte_timeout_s or None,
        "read_s": provider.read_timeout_s,
        "payout_s": provider.payout_timeout_s,
        "payout_connections": provider.payout_connections,
        "account_limits": msgspec.to_builtins(provider.account_limits),
        "breaker": msgspec.to_builtins(provider.breaker),
        "bulkhead": {
            "in_flight": provider.in_flight,
            "for_one": None if is_limited else max(1, provider.in_flight // 4),
            "waiting": provider.waiting,
            "wait_s": provider.waiting_s,
        },
    }


def proxy_of(provider: Provider) -> Proxy | None:
    """Return the connector of a provider's proxy; None without one. The URL has been checked."""
    if not provider.proxy.url:
        return None
    url = URL(provider.proxy.url)
    user = provider.proxy.user
    credentials = b64encode(user.encode() + b":" + provider.proxy.password.encode())
    authorization = f"Basic {credentials.decode()}" if user else ""
    return Proxy(host=url.raw_host or "", port=url.port or 0, authorization=authorization)
