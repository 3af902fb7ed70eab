"""
The bank's paths, queries and credentials, and orders in its words.

Every function raises ``Refused`` for an identifier that cannot stand in a path, and
``NeverSendable`` for text that is not Unicode.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from gateway.banks.port.charges import ChargeOrder
from gateway.banks.port.payout_orders import AccountType, FailureCode, PayoutOrder, PixDestination
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import ProviderAccount
from gateway.banks.port.refunds import RefundOrder
from gateway.core.windows import Window
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.requests import ProviderRequest, get, paying, sending
from provider_adapters.kit.times import ends
from provider_adapters.sandbox.mapping import CHARGE_TYPES, KEY_TYPES

LARGEST_PAGE: Final = 500
"""Items the bank returns in one page at most (see the README)."""
PROBE: Final = ProviderRequest(operation="probe", method="GET", template="/", path="/")
"""Touches no account; the bank answers it with an error in its own shape."""
_ACCOUNT: Final = "/v1/contas/{conta}"
_NO_QUERY: Final[Mapping[str, str]] = {}


def balance(account: ProviderAccount) -> ProviderRequest:
    """Build ``GET …/saldo``."""
    return below_account(account, "get_balance", "/saldo")


def statement(
    account: ProviderAccount, window: Window, cursor: str | None, limit: int
) -> ProviderRequest:
    """Build ``GET …/extrato``, newest first."""
    page = _page(window, cursor, limit)
    return below_account(account, "list_statement", "/extrato", page)


def charge(account: ProviderAccount, reference: str, operation: str) -> ProviderRequest:
    """Build ``GET …/cobrancas/{referencia}``."""
    return below_account(account, operation, "/cobrancas/{referencia}", referencia=reference)


def payout(account: ProviderAccount, provider_key: str, provider_id: str) -> ProviderRequest:
    """Build ``GET …/transferencias/{id}``, or ``…/por-chave/{id}`` without the bank's id."""
    path = "/transferencias/{id}" if provider_id else "/transferencias/por-chave/{id}"
    return below_account(account, "find_payout", path, id=provider_id or provider_key)


def received_payments(
    account: ProviderAccount, window: Window, cursor: str | None, limit: int
) -> ProviderRequest:
    """Build ``GET …/recebimentos``, newest first."""
    page = _page(window, cursor, limit)
    return below_account(account, "list_received", "/recebimentos", page)


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
    template, headers = _ACCOUNT + path, {"Authorization": f"Bearer {account.credentials}"}
    at, whose = account.provider_account, account.account_id
    return get(operation, template, headers, query, account_id=whose, conta=at, **steps)


def _page(window: Window, cursor: str | None, limit: int) -> dict[str, str]:
    """Build a page's query; the bank's window excludes its end, as ours does."""
    start, end = ends(window)
    query = {"de": start, "ate": end, "limite": str(min(max(limit, 1), LARGEST_PAGE))}
    return query if cursor is None else {**query, "cursor": cursor}


_KEY_WORDS: Final = {kind: word for word, kind in KEY_TYPES.items()}
_CHARGE_WORDS: Final = {kind: word for word, kind in CHARGE_TYPES.items()}
_ACCOUNT_WORDS: Final = {
    AccountType.CHECKING: "corrente",
    AccountType.SAVINGS: "poupanca",
    AccountType.SALARY: "salario",
    AccountType.PAYMENT: "pagamento",
}


def create_key(account: ProviderAccount, order: KeyOrder) -> ProviderRequest:
    """Build ``POST …/chaves``; the bank generates the value of a random key."""
    document = {"tipo": _KEY_WORDS[order.type]}
    if order.key:
        document["chave"] = order.key
    return sending(below_account(account, "create_key", "/chaves"), document)


def create_charge(account: ProviderAccount, order: ChargeOrder) -> ProviderRequest:
    """Build ``POST …/cobrancas``; empty fields of the order are left out."""
    charge(account, order.reference, "create_charge")  # what could not be read is not made
    payer = order.payer
    document: dict[str, object] = {
        "referencia": order.reference,
        "tipo": _CHARGE_WORDS[order.type],
        "chave": order.key,
        "reutilizavel": order.reusable,
        "descricao": order.description,
        "valor_centavos": None if order.value is None else order.value.centavos,
        "expira_em_s": order.expires_in,
        "pagador": payer
        and {"nome": payer.name, "documento": payer.tax_number, "mensagem": payer.message},
    }
    given = {name: value for name, value in document.items() if value is not None}
    return sending(below_account(account, "create_charge", "/cobrancas"), given)


def register_callback(account: ProviderAccount, order: CallbackOrder) -> ProviderRequest:
    """Build ``POST …/avisos``; the secret is text, as the bank keeps it."""
    document = {"url": order.url, "segredo": order.secret.hex()}
    return sending(below_account(account, "register_callback", "/avisos"), document)


def missed_events(account: ProviderAccount, limit: int) -> ProviderRequest:
    """Build ``GET …/eventos-perdidos``, oldest first."""
    query = {"limite": str(min(max(limit, 1), LARGEST_PAGE))}
    return below_account(account, "list_missed_events", "/eventos-perdidos", query)


def create_payout(account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
    """Build ``POST …/transferencias``; the provider key is the idempotency key."""
    document = {
        "valor_centavos": order.value.centavos,
        "descricao": order.description,
        "destino": destination(order),
    }
    request = below_account(account, "create_payout", "/transferencias")
    return paying(request, document, order.provider_key, header="Idempotency-Key")


def refuse_unknown_place(
    order: PayoutOrder, key_types: Collection[PixKeyType], numbers: Collection[str] | None
) -> None:
    """
    Refuse a destination that this bank can pay to on no day; None for ``numbers`` is every bank.

    Raises:
        NeverSendable: It takes no keys of this type, or no bank has this number.
    """
    to = order.destination
    if isinstance(to, PixDestination):
        if to.key_type not in key_types:
            raise NeverSendable
    elif numbers is not None and to.bank_number not in numbers:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)


def create_refund(account: ProviderAccount, order: RefundOrder) -> ProviderRequest:
    """Build ``POST …/recebimentos/{e2e}/devolucoes``; the provider key is the idempotency key."""
    document = {
        "valor_centavos": order.value.centavos,
        "referencia": order.reference,
        "descricao": order.description,
    }
    path = "/recebimentos/{e2e}/devolucoes"
    request = below_account(account, "create_refund", path, e2e=order.payment_e2e_id)
    return paying(request, document, order.provider_key, header="Idempotency-Key")


def destination(order: PayoutOrder) -> dict[str, str]:
    """Write a payout's destination, without empty fields."""
    to = order.destination
    holder = {"nome": to.name, "documento": to.tax_number}
    if isinstance(to, PixDestination):
        place = {"forma": "chave", "tipo_chave": _KEY_WORDS[to.key_type], "chave": to.key}
    else:
        place = {
            "forma": "conta",
            "banco": to.bank_number,
            "agencia": to.branch,
            "conta": to.account,
            "tipo_conta": _ACCOUNT_WORDS[to.account_type],
        }
    return {name: text for name, text in (place | holder).items() if text}
