"""The bank's addresses and its credentials: what is asked, where, and as whom."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote

import msgspec

from gateway.domain.bank.payout_orders import PayoutOrder
from gateway.domain.bank.providers import ProviderAccount, Refused
from gateway.net.client.messages import Kind, ProviderRequest, filled
from gateway.net.client.reasons import Reason
from provider_adapters.sandbox import payouts

ACCOUNT = "/v1/contas/{conta}"
PAYOUTS = f"{ACCOUNT}/transferencias"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A read below an account: ``steps`` fill the braces of ``path``, ``query`` follows it."""

    operation: str
    path: str
    steps: Mapping[str, str] = msgspec.field(default_factory=dict)
    query: Mapping[str, str] = msgspec.field(default_factory=dict)


PROBE = ProviderRequest(operation="probe", method="GET", template="/", path="/")
"""The bank answers it in its own words; no account is touched."""


def asking(account: ProviderAccount, question: Question) -> ProviderRequest:
    """Make the request of a read; raises ``Refused`` for what cannot be put into a path."""
    template = ACCOUNT + question.path
    if question.steps:
        path = filled(template, conta=account.provider_account, **question.steps)
    else:
        path = _account_path(template, account.provider_account)
    if question.query:
        fields = (f"{name}={_encoded(text)}" for name, text in question.query.items())
        path = f"{path}?{'&'.join(fields)}"
    return ProviderRequest(
        operation=question.operation,
        method="GET",
        template=template,
        path=path,
        headers=_credentials(account),
    )


def ordering(account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
    """
    Make the request that moves money; raises ``Refused`` for what cannot be written.

    The provider key is the idempotency key, which the bank keeps for ever.
    """
    try:
        body = payouts.body(order)
    except ValueError as problem:
        raise Refused(Reason.UNSENDABLE) from problem
    return ProviderRequest(
        operation="create_payout",
        method="POST",
        template=PAYOUTS,
        path=filled(PAYOUTS, conta=account.provider_account),
        headers={**_credentials(account), "Idempotency-Key": order.provider_key},
        body=body,
        kind=Kind.PAYOUT,
    )


@lru_cache(maxsize=10_000)
def _account_path(template: str, conta: str) -> str:
    """Fill in an account alone; the same few paths are asked for over and over."""
    return filled(template, conta=conta)


@lru_cache(maxsize=1_000)
def _encoded(text: str) -> str:
    """Write a text of a query; all but cursors come again and again."""
    return quote(text, safe="")


def _credentials(account: ProviderAccount) -> dict[str, str]:
    """Speak as the account: its credentials are the bank's token for it."""
    return {"Authorization": f"Bearer {account.credentials}"}
