"""The bank's own SDK and our adapter ask the same, of a bank that checks every signature."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import starkbank
from starkbank.error import InputErrors, InvalidSignatureError

from gateway.banks.port.charges import ChargeOrder, ChargeStatus, ChargeType, Payer
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import Accepted, Settled
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.kit.references import charge_key
from provider_adapters.testing.bank import books
from provider_adapters.testing.bank.callbacks import Event, EventKind, Listener
from provider_adapters.testing.starkbank import callback
from tests.contract.starkbank.conftest import OWN_KEY, Workspace
from tests.world.banks.harness import FAR, KEY

DAY = Window(date(2026, 11, 20), date(2026, 11, 20))
AFTER, BEFORE = date(2026, 11, 18), date(2026, 11, 21)
NAME, TAX_ID = "Maria Silva", "52998224725"
TO_ACCOUNT = BankDestination(
    name=NAME, tax_number=TAX_ID, bank_number="341", branch="0001", account="123456-7",
    account_type=AccountType.CHECKING,
)  # fmt: skip
TO_KEY = PixDestination(
    name=NAME, tax_number=TAX_ID, key_type=PixKeyType.EMAIL, key="maria@example.com"
)
PLACE = {
    "bank_code": "60701190", "branch_code": "0001", "account_number": "123456-7",
    "account_type": "checking",
}  # fmt: skip


def order(to: BankDestination | PixDestination, key: str = KEY) -> PayoutOrder:
    by_key = isinstance(to, PixDestination)
    method = PayoutMethod.PIX if by_key else PayoutMethod.BANK_ACCOUNT
    return PayoutOrder(
        provider_key=key, method=method, value=Money(1050), destination=to, description="Nota 1"
    )


def transfer(key: str, **place: Any) -> starkbank.Transfer:
    return starkbank.Transfer(
        amount=1050,
        name=NAME,
        tax_id=TAX_ID,
        external_id=key,
        tags=[f"ref:{key}"],
        description="Nota 1",
        **place,
    )


Reading = Callable[[Workspace], Awaitable[object]]
READS: dict[str, tuple[Reading, Reading]] = {
    "balance": (
        lambda at: at.by_sdk(starkbank.balance.get),
        lambda at: at.adapter.get_balance(at.account),
    ),
    "statement": (
        lambda at: at.by_sdk(starkbank.transaction.page, limit=100, after=AFTER, before=BEFORE),
        lambda at: at.adapter.list_statement(at.account, DAY, None, 100),
    ),
    "keys": (
        lambda at: at.by_sdk(starkbank.dictkey.page, limit=100),
        lambda at: at.adapter.list_keys(at.account),
    ),
    "owner": (
        lambda at: at.by_sdk(starkbank.dictkey.get, "maria@example.com"),
        lambda at: at.adapter.look_up_key(at.account, "maria@example.com"),
    ),
    "received": (
        lambda at: _both(
            at.by_sdk(starkbank.deposit.page, limit=20, after=AFTER, before=BEFORE),
            at.by_sdk(
                starkbank.invoice.log.page, limit=20, after=AFTER, before=BEFORE, types=["paid"]
            ),
        ),
        lambda at: at.adapter.list_received(at.account, DAY, None, 100),
    ),
    "addresses": (
        lambda at: at.by_sdk(starkbank.webhook.page, limit=100),
        lambda at: at.adapter.list_callbacks(at.account),
    ),
}


async def _both(first: Awaitable[object], second: Awaitable[object]) -> None:
    await first
    await second


@pytest.mark.parametrize("name", READS)
async def test_a_read_request_matches_the_sdk_s(workspace: Workspace, name: str):
    theirs, ours = READS[name]

    await theirs(workspace)
    wanted = await workspace.asked()
    await ours(workspace)

    assert await workspace.asked() == wanted


async def test_a_transfer_to_an_account_matches_the_sdk_s(workspace: Workspace):
    (made,) = await workspace.by_sdk(starkbank.transfer.create, [transfer("a" * 32, **PLACE)])
    (wanted,) = await workspace.asked()
    outcome = await workspace.adapter.create_payout(workspace.account, order(TO_ACCOUNT), FAR)
    (asked,) = await workspace.asked()

    assert made.status == "processing"
    assert isinstance(outcome, Accepted)
    text = json.dumps(wanted.body).replace("a" * 32, KEY)
    assert (asked.method, asked.path, asked.body) == ("POST", wanted.path, json.loads(text))


async def test_a_transfer_to_a_key_matches_the_sdk_s(workspace: Workspace):
    """The key is looked up in the directory first, and its account is used unchanged."""
    found = await workspace.by_sdk(starkbank.dictkey.get, "maria@example.com")
    place = {
        "bank_code": found.ispb, "branch_code": found.branch_code,
        "account_number": found.account_number, "account_type": found.account_type,
    }  # fmt: skip
    ordered = transfer("a" * 32, **place)
    ordered.name = found.name
    await workspace.by_sdk(starkbank.transfer.create, [ordered])
    wanted = await workspace.asked()
    outcome = await workspace.adapter.create_payout(workspace.account, order(TO_KEY), FAR)
    asked = await workspace.asked()

    assert isinstance(outcome, Accepted)
    assert asked[0] == wanted[0]
    assert asked[1].body == json.loads(json.dumps(wanted[1].body).replace("a" * 32, KEY))


async def test_each_client_finds_the_other_s_orders(workspace: Workspace):
    await workspace.adapter.create_payout(workspace.account, order(TO_ACCOUNT), FAR)
    await workspace.asked()

    found, _ = await workspace.by_sdk(starkbank.transfer.page, tags=[f"ref:{KEY}"], limit=2)
    (theirs,) = found
    wanted = await workspace.asked()
    ours = await workspace.adapter.find_payout(workspace.account, KEY, "")

    assert await workspace.asked() == wanted
    assert isinstance(ours, Accepted | Settled)
    assert (ours.provider_id, theirs.external_id) == (theirs.id, KEY)


async def test_a_repeated_external_id_is_an_error_and_our_client_finds_its_payout(
    workspace: Workspace,
):
    """The SDK raises an error; our client searches by the tag and finds the payout."""
    await workspace.adapter.create_payout(workspace.account, order(TO_ACCOUNT), FAR)

    with pytest.raises(InputErrors):
        await workspace.by_sdk(starkbank.transfer.create, [transfer(KEY, **PLACE)])
    again = await workspace.adapter.create_payout(workspace.account, order(TO_ACCOUNT), FAR)

    assert isinstance(again, Accepted | Settled)
    executed = await workspace.control.get("executions", query={"key": KEY})
    assert len(executed["data"]) == 1


def charge(*, named: bool) -> ChargeOrder:
    payer = Payer(name=NAME, tax_number=TAX_ID) if named else None
    return ChargeOrder(
        reference="A/1", type=ChargeType.DYNAMIC, key=OWN_KEY, value=Money(1050),
        expires_in=3600, payer=payer, description="Nota",
    )  # fmt: skip


def tags(at: Workspace) -> list[str]:
    key = charge_key(at.adapter.environment, at.account.account_id, "A/1")
    return [f"ref:{key}", "reference:412f31"]


async def test_an_invoice_request_matches_the_sdk_s(workspace: Workspace):
    due = datetime.now(UTC) + timedelta(seconds=3599)
    asked_for = starkbank.Invoice(
        amount=1050, name=NAME, tax_id=TAX_ID, due=due, expiration=timedelta(seconds=1), fine=0,
        interest=0, tags=["theirs"], descriptions=[{"key": "description", "value": "Nota"}],
    )  # fmt: skip
    await workspace.by_sdk(starkbank.invoice.create, [asked_for])
    (wanted,) = await workspace.asked()
    made = await workspace.adapter.create_charge(workspace.account, charge(named=True))
    *looked, ours = await workspace.asked()

    assert made.status is ChargeStatus.ACTIVE
    assert all(each.method == "GET" for each in looked)
    theirs, mine = wanted.body["invoices"][0], ours.body["invoices"][0]
    moments = [datetime.fromisoformat(each.pop("due")) for each in (theirs, mine)]
    assert abs(moments[0] - moments[1]) < timedelta(minutes=5)
    assert (ours.path, mine) == (wanted.path, {**theirs, "tags": tags(workspace)})


async def test_requests_to_read_pay_and_cancel_an_invoice_match_the_sdk_s(workspace: Workspace):
    at, account = workspace, workspace.account
    await at.adapter.create_charge(account, charge(named=True))
    (invoice,), _ = await at.by_sdk(starkbank.invoice.page, tags=tags(at)[:1], limit=2)
    await at.asked()
    await at.by_sdk(starkbank.invoice.update, invoice.id, status="canceled")
    (wanted,) = await at.asked()

    gone = await at.adapter.cancel_charge(account, "A/1")

    assert gone.status is ChargeStatus.CANCELED
    assert (await at.asked())[-1] == wanted


async def test_both_clients_read_the_same_payer_of_an_invoice(workspace: Workspace):
    at, account = workspace, workspace.account
    await at.adapter.create_charge(account, charge(named=True))
    await at.control.post("charges", "reference:412f31", "pay", body={})
    (invoice,), _ = await at.by_sdk(starkbank.invoice.page, tags=tags(at)[:1], limit=2)

    theirs = await at.by_sdk(starkbank.invoice.payment, invoice.id)
    ours = await at.adapter.get_charge_payment(account, "A/1")

    assert invoice.status == "paid"
    assert (ours.e2e_id, ours.value) == (theirs.end_to_end_id, Money(theirs.amount))
    assert ours.paid_at is not None


async def test_a_br_code_request_matches_the_sdk_s(workspace: Workspace):
    asked_for = starkbank.DynamicBrcode(
        amount=1050, expiration=3600, tags=["theirs"], display_description="Nota"
    )
    await workspace.by_sdk(starkbank.dynamicbrcode.create, [asked_for])
    (wanted,) = await workspace.asked()
    made = await workspace.adapter.create_charge(workspace.account, charge(named=False))
    *_, ours = await workspace.asked()

    assert made.emv
    mine = {**wanted.body["brcodes"][0], "tags": tags(workspace)}
    assert (ours.path, ours.body) == (wanted.path, {"brcodes": [mine]})


async def test_requests_to_register_and_remove_a_webhook_match_the_sdk_s(workspace: Workspace):
    at, url = workspace, "http://127.0.0.1:1/callbacks/x"
    given = {"url": url, "subscriptions": ["deposit", "invoice", "transfer"]}
    made = await at.by_sdk(starkbank.webhook.create, **given)
    await at.by_sdk(starkbank.webhook.delete, made.id)
    wanted = await at.asked()

    ours = await at.adapter.register_callback(at.account, CallbackOrder(url=url))
    await at.adapter.remove_callback(at.account, ours.id)

    asked = await at.asked()
    assert asked[0] == wanted[0]
    assert asked[1].method == "DELETE"
    assert asked[1].path.removesuffix(ours.id) == wanted[1].path.removesuffix(made.id)


async def test_requests_for_missed_events_match_the_sdk_s(workspace: Workspace):
    at = workspace
    await at.by_sdk(starkbank.event.page, is_delivered=False, limit=100)
    with pytest.raises(InputErrors):
        await at.by_sdk(starkbank.event.update, "1", is_delivered=True)
    wanted = await at.asked()

    await at.adapter.list_missed_events(at.account, 10)
    await at.adapter.acknowledge_events(at.account, ["1"])

    asked = await at.asked()
    assert asked[0].query == {name: text.lower() for name, text in wanted[0].query.items()}
    assert (asked[0].path, asked[1]) == (wanted[0].path, wanted[1])


async def test_the_sdk_accepts_the_simulator_s_callbacks(workspace: Workspace):
    """The SDK fetches the simulator's key, and refuses a changed body."""
    at = workspace
    outcome = await at.adapter.create_payout(at.account, order(TO_ACCOUNT), FAR)
    assert isinstance(outcome, Accepted)
    kept = books.open_books(
        at.bank.db_path, now=lambda: datetime.now(UTC), random_hex=at.bank.random_hex,
        settle_after_s=1.0,
    )  # fmt: skip
    event = Event(
        id="1", kind=EventKind.PAYOUT, account_id=at.account.provider_account,
        subject=outcome.provider_id,
    )  # fmt: skip
    made = callback(kept, event, Listener(id="1", url="http://127.0.0.1:1", secret=""))
    kept.database.close()
    assert made is not None
    body, signature = made.body.decode(), made.headers["Digital-Signature"]

    parsed = await at.by_sdk(starkbank.event.parse, content=body, signature=signature)

    assert (parsed.subscription, parsed.log.transfer.external_id) == ("transfer", KEY)
    with pytest.raises(InvalidSignatureError):
        await at.by_sdk(
            starkbank.event.parse, content=body.replace("1050", "1051"), signature=signature
        )
