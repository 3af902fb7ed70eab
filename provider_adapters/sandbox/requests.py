"""
The bank's paths, queries and credentials: every request that changes nothing.

Requests that carry a document of ours are in ``orders``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from gateway.domain.bank.providers import ProviderAccount
from gateway.domain.kernel.windows import Window
from gateway.net.client.messages import ProviderRequest, filled

LARGEST_PAGE: Final = 500
"""Items the bank returns in one page at most (see the README)."""

PROBE: Final = ProviderRequest(operation="probe", method="GET", template="/", path="/")
"""Touches no account; the bank answers it with an error in its own shape."""

_ACCOUNT: Final = "/v1/contas/{conta}"
_NO_QUERY: Final[Mapping[str, str]] = {}


def balance(account: ProviderAccount) -> ProviderRequest:
    """Build ``GET …/saldo``."""
    return below_account(account, "get_balance", "/saldo")


def blocks(account: ProviderAccount) -> ProviderRequest:
    """Build ``GET …/bloqueios``: all at once, without pages."""
    return below_account(account, "list_blocks", "/bloqueios")


def statement(
    account: ProviderAccount, window: Window, cursor: str | None, limit: int
) -> ProviderRequest:
    """Build ``GET …/extrato``, newest first."""
    page = _page(window, cursor, limit)
    return below_account(account, "list_statement", "/extrato", page)


def keys(account: ProviderAccount, operation: str) -> ProviderRequest:
    """Build ``GET …/chaves``: every key at once, without pages."""
    return below_account(account, operation, "/chaves")


def charge(account: ProviderAccount, reference: str, operation: str) -> ProviderRequest:
    """Build ``GET …/cobrancas/{referencia}``."""
    return below_account(account, operation, "/cobrancas/{referencia}", referencia=reference)


def charge_payment(account: ProviderAccount, reference: str) -> ProviderRequest:
    """Build ``GET …/cobrancas/{referencia}/pagamento``."""
    path = "/cobrancas/{referencia}/pagamento"
    return below_account(account, "get_charge_payment", path, referencia=reference)


def payout(account: ProviderAccount, provider_key: str, provider_id: str) -> ProviderRequest:
    """Build ``GET …/transferencias/{id}``, or ``…/por-chave/{id}`` without the bank's id."""
    path = "/transferencias/{id}" if provider_id else "/transferencias/por-chave/{id}"
    return below_account(account, "find_payout", path, id=provider_id or provider_key)


def received_payment(account: ProviderAccount, e2e_id: str) -> ProviderRequest:
    """Build ``GET …/recebimentos/{e2e}``."""
    return below_account(account, "find_received", "/recebimentos/{e2e}", e2e=e2e_id)


def received_payments(
    account: ProviderAccount, window: Window, cursor: str | None, limit: int
) -> ProviderRequest:
    """Build ``GET …/recebimentos``, newest first."""
    page = _page(window, cursor, limit)
    return below_account(account, "list_received", "/recebimentos", page)


def refund(account: ProviderAccount, provider_key: str) -> ProviderRequest:
    """Build ``GET …/devolucoes/por-chave/{chave}``."""
    path = "/devolucoes/por-chave/{chave}"
    return below_account(account, "find_refund", path, chave=provider_key)


def refunds(
    account: ProviderAccount, window: Window, cursor: str | None, limit: int
) -> ProviderRequest:
    """Build ``GET …/devolucoes``, newest first."""
    page = _page(window, cursor, limit)
    return below_account(account, "list_refunds", "/devolucoes", page)


def below_account(
    account: ProviderAccount,
    operation: str,
    path: str,
    query: Mapping[str, str] = _NO_QUERY,
    **steps: str,
) -> ProviderRequest:
    """
    Build a GET below the account's path, with the account's token.

    ``steps`` fill the braces of ``path``, ``query`` follows it.

    Raises:
        Refused: A step cannot stand in a path.
    """
    template = _ACCOUNT + path
    if steps:
        address = filled(template, conta=account.provider_account, **steps)
    else:
        address = _account_path(template, account.provider_account)
    if query:
        fields = (f"{name}={_encoded(text)}" for name, text in query.items())
        address = f"{address}?{'&'.join(fields)}"
    return ProviderRequest(
        operation=operation,
        method="GET",
        template=template,
        path=address,
        headers={"Authorization": f"Bearer {account.credentials}"},
    )


def instant(at: datetime) -> str:
    """Format a UTC instant as the bank reads it: RFC 3339 with milliseconds."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _page(window: Window, cursor: str | None, limit: int) -> dict[str, str]:
    """Build a page's query; the bank's window excludes its end, as ours does."""
    start, end = _instants(window)
    query = {"de": start, "ate": end, "limite": str(min(max(limit, 1), LARGEST_PAGE))}
    return query if cursor is None else {**query, "cursor": cursor}


# The same few accounts, days and limits come again and again. The sizes bound memory: ten
# thousand paths of about 100 bytes, a thousand windows, a thousand texts.
@lru_cache(maxsize=10_000)
def _account_path(template: str, conta: str) -> str:
    """Fill in the account alone."""
    return filled(template, conta=conta)


@lru_cache(maxsize=1_000)
def _instants(window: Window) -> tuple[str, str]:
    """Format both ends of a window."""
    return instant(window.start), instant(window.end)


@lru_cache(maxsize=1_000)
def _encoded(text: str) -> str:
    """Encode a query value; only cursors are new each time."""
    return quote(text, safe="")
