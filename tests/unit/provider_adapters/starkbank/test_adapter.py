"""The adapter's own part: in which order it asks, and what becomes of an order."""

from __future__ import annotations

from datetime import date

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.provider_callbacks import CallbackSecrets
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    NotSent,
    Outcome,
    ProviderAccount,
    Rejected,
    Settled,
    Unavailable,
    Unknown,
)
from gateway.core.windows import Window
from provider_adapters.kit.answers import ProviderAnswer
from tests.unit.provider_adapters.starkbank.callbacks import BANK, event, signed
from tests.unit.provider_adapters.starkbank.making import (
    ACCOUNT,
    ENTRY,
    KEY,
    TO_KEY,
    TRANSFER,
    Script,
    answering,
    made,
    order,
    refusing,
)
from tests.unit.provider_adapters.starkbank.translate import MOVEMENT
from tests.world.banks.harness import FAR, PASSED
from tests.world.tables import cases

FOUND = answering({"key": ENTRY})
ORDERED = answering({"transfers": [TRANSFER]})
NONE = answering({"transfers": []})
BY_KEY = {**TRANSFER, "bankCode": "88888888", "branchCode": "1", "accountNumber": "2-3"}
LOOK = f"GET /v2/transfer?tags=ref%3A{KEY}&limit=2"


async def paid(*answers: ProviderAnswer | None, by_key: bool = False) -> tuple[Outcome, Script]:
    adapter, script = made(*answers)
    what = order(TO_KEY) if by_key else order()
    return await adapter.create_payout(ACCOUNT, what, FAR), script


async def test_a_payout_by_key_looks_the_key_up_first():
    outcome, script = await paid(FOUND, answering({"transfers": [BY_KEY]}), by_key=True)

    assert isinstance(outcome, Accepted)
    assert script.paths == ["GET /v2/dict-key/maria%40example.com", "POST /v2/transfer"]
    assert b'"bankCode":"88888888"' in script.heard[1].body
    assert [each.operation for each in script.heard] == ["look_up_key", "create_payout"]


@cases("answer", [None, answering({}, 500), answering("<html>"), refusing("invalidJson")])
async def test_a_failed_key_look_up_sends_no_payout(answer: ProviderAnswer | None):
    outcome, script = await paid(answer, by_key=True)

    assert isinstance(outcome, NotSent)
    assert not outcome.evidence.bytes_left
    assert all(request.method == "GET" for request in script.heard)


async def test_a_payout_to_an_unknown_key_is_rejected():
    outcome, _ = await paid(refusing("invalidPixKey"), by_key=True)

    assert isinstance(outcome, Rejected)
    assert (outcome.failure, outcome.evidence.bytes_left) == (FailureCode.KEY_NOT_FOUND, False)


async def test_a_payout_to_another_person_s_key_is_rejected():
    entry = answering({"key": {**ENTRY, "taxId": "***.000.001-**"}})

    outcome, script = await paid(entry, by_key=True)

    assert isinstance(outcome, Rejected)
    assert outcome.failure is FailureCode.OWNER_MISMATCH
    assert len(script.heard) == 1


async def test_an_account_without_secrets_sends_nothing():
    adapter, script = made(ORDERED)
    nobody = ProviderAccount(account_id="a", provider_account="1")

    outcome = await adapter.create_payout(nobody, order(), FAR)

    assert isinstance(outcome, NotSent)
    assert script.heard == []


@cases(
    ("refusal", "then", "kind", "requests"),
    [
        (refusing("invalidAmount"), NONE, Rejected, 2),
        (refusing("invalidAmount"), ORDERED, Accepted, 2),
        (refusing("invalidAmount"), None, Unknown, 2),
        (refusing("melting"), NONE, Unknown, 2),
        (refusing("melting"), ORDERED, Accepted, 2),
        (refusing("melting"), answering({"transfers": [{**TRANSFER, "amount": 1}]}), Unknown, 2),
        (refusing("melting"), refusing("invalidTransfer"), Unknown, 2),
        (refusing("invalidSignature"), NONE, NotSent, 1),
        (answering({}, 401), NONE, Unknown, 1),
        (answering({}, 500), NONE, Unknown, 1),
        (None, NONE, Unknown, 1),
    ],
)
async def test_a_refused_payout_is_looked_up_when_the_bank_may_know_its_key(
    refusal: ProviderAnswer | None,
    then: ProviderAnswer | None,
    kind: type[Outcome],
    requests: int,
):
    """The bank has no error code for a known key."""
    outcome, script = await paid(refusal, then)

    assert isinstance(outcome, kind)
    assert script.paths == ["POST /v2/transfer", LOOK][:requests]


async def test_a_payout_is_looked_up_by_our_tag():
    adapter, script = made(answering({"transfers": [{**TRANSFER, "status": "success"}]}), NONE)

    assert isinstance(await adapter.find_payout(ACCOUNT, KEY, "5107489032896512"), Settled)
    with pytest.raises(NotFound):
        await adapter.find_payout(ACCOUNT, KEY, "")
    assert script.paths == [LOOK, LOOK]


async def test_the_key_look_up_shares_the_payout_s_deadline():
    adapter, script = made(FOUND)

    outcome = await adapter.create_payout(ACCOUNT, order(TO_KEY), PASSED)

    assert isinstance(outcome, NotSent)
    assert script.heard == []


async def test_a_statement_is_limited_to_its_window():
    moments = ["2026-11-21T00:00:00", "2026-11-20T23:59:59", "2026-11-20T00:00:00",
               "2026-11-19T23:59:59"]  # fmt: skip
    entries = [{**MOVEMENT, "id": at, "created": f"{at}+00:00"} for at in moments]
    adapter, _ = made(answering({"transactions": entries, "cursor": "next"}))
    day = date(2026, 11, 20)

    page = await adapter.list_statement(ACCOUNT, Window(day, day), None, 100)

    assert [entry.provider_id for entry in page.items] == moments[1:3]
    assert page.next_cursor == "next"


async def test_keys_are_read_from_all_pages():
    def page(number: int, cursor: str | None) -> ProviderAnswer:
        key = {"id": f"{number}@example.com", "type": "email", "status": "registered"}
        return answering({"keys": [key], "cursor": cursor})

    adapter, script = made(page(1, "b"), page(2, None), page(1, "b"), page(2, None))

    keys = await adapter.list_keys(ACCOUNT)
    found = await adapter.get_key(ACCOUNT, keys[1].public_id(ACCOUNT.account_id))

    assert found == keys[1]
    assert script.paths[:2] == ["GET /v2/dict-key?limit=100", "GET /v2/dict-key?limit=100&cursor=b"]


async def test_missed_events_are_read_oldest_first_and_acknowledged_individually():
    def dated(name: str, at: str) -> dict[str, object]:
        return {**event("transfer", transfer=TRANSFER), "id": name, "created": at}

    newest = [dated(str(day), f"2026-11-{day}T12:00:00+00:00") for day in (12, 11, 10)]
    adapter, script = made(
        answering({"events": newest[:2], "cursor": "c"}), answering({"events": newest[2:]}),
        answering({"event": {}}), refusing("invalidEvent"),
    )  # fmt: skip

    missed = await adapter.list_missed_events(ACCOUNT, 2)
    await adapter.acknowledge_events(ACCOUNT, [each.id for each in missed])

    assert [each.id for each in missed] == ["10", "11"]
    assert script.paths[2:] == ["PATCH /v2/event/10", "PATCH /v2/event/11"]
    assert script.heard[2].body == b'{"isDelivered":true}'


async def test_an_event_that_cannot_be_acknowledged_is_reported():
    adapter, _ = made(None)

    with pytest.raises(Unavailable):
        await adapter.acknowledge_events(ACCOUNT, ["1"])


async def test_callbacks_are_verified_with_a_key_fetched_from_the_bank():
    """Fetched once, without a signature, and again when a signature does not match it."""
    keys = answering({"publicKeys": [{"content": BANK.pem}]})
    adapter, script = made(answering({"publicKeys": [{"content": BANK.pem}]}), keys)
    proof = adapter.callback_proof(CallbackSecrets())

    for _ in range(3):
        assert await proof.check(signed(event("transfer", transfer=TRANSFER))) is not None

    assert script.paths == ["GET /v2/public-key?limit=1"]
    assert "Access-Signature" not in script.heard[0].headers
