"""Every request that the Woovi adapter can make, once or more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from gateway.banks.client.messages import ProviderRequest
from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.woovi import requests
from provider_adapters.woovi.mapping import REGISTERED
from tests.world.banks.harness import KEY, order
from tests.world.banks.woovi import ACCOUNT, PAID_IN, by_account, refund

_WINDOW = Window(date(2026, 11, 1), date(2026, 11, 30))
_CHARGE = ChargeOrder(
    reference="pedido/1",
    type=ChargeType.DYNAMIC,
    key="loja@example.com",
    value=Money(1050),
    expires_in=600,
    description="pedido 1",
    payer=Payer(name="Ana", tax_number="52998224725"),
)


def every_request() -> Sequence[ProviderRequest]:
    """Return them in the order of ``requests``; the list of public keys is in its pages alone."""
    callback = CallbackOrder(url="https://gateway.example/callbacks/woovi/token")
    return (
        requests.balance(ACCOUNT),
        requests.statement(ACCOUNT, _WINDOW, 0, 100),
        requests.keys(ACCOUNT, "list_keys", 0),
        requests.create_key(ACCOUNT, KeyOrder(PixKeyType.EVP, "")),
        requests.create_key(ACCOUNT, KeyOrder(PixKeyType.CNPJ, "11222333000181")),
        requests.cancel_key(ACCOUNT, "+5511987654321"),
        requests.look_up_key(ACCOUNT, "maria@example.com"),
        requests.charge(ACCOUNT, "pedido/1", "get_charge"),
        requests.create_charge(ACCOUNT, _CHARGE),
        requests.cancel_charge(ACCOUNT, "pedido/1"),
        requests.charge_refunds(ACCOUNT, "pedido/1", "find_received"),
        requests.charge_transactions(ACCOUNT, "pedido/1"),
        requests.transaction(ACCOUNT, PAID_IN),
        requests.transactions(ACCOUNT, _WINDOW, 100, 100),
        requests.payout(ACCOUNT, KEY),
        requests.create_payout(ACCOUNT, order()),
        requests.create_payout(ACCOUNT, by_account("341")),
        requests.create_payout(ACCOUNT, by_account("60701190", "11222333000181")),
        requests.refund(ACCOUNT, KEY),
        requests.refunds(ACCOUNT, 0, 100),
        requests.create_refund(ACCOUNT, refund()),
        requests.webhooks(ACCOUNT, "list_callbacks"),
        requests.webhooks(ACCOUNT, "register_callback", callback.url),
        *(requests.register_callback(ACCOUNT, callback, event) for event in REGISTERED),
        requests.remove_callback(ACCOUNT, "V2ViaG9vazox"),
    )
