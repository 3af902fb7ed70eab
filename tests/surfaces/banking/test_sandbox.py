"""The sandbox that partners drive, over the socket: whose account, which right, what happens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from urllib.parse import quote

import pytest
import pytest_asyncio

from gateway.config.settings import Sandbox
from gateway.core.access import Staff
from gateway.store.tables.core import audit
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import NOBODY, World, opened, order, sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN = ("hang_after", "reset_after", "malformed")
"""Executed, and not answered as it should be."""


async def drive(
    world: World,
    path: str,
    document: Mapping[str, object] | None = None,
    by: str = "full",
    account: str = "main",
) -> Answer:
    at = f"/sandbox/v1/account/{world.demo['accounts'][account]['id']}{path}"
    return await world.ask("POST", at, by=by, document={} if document is None else document)


async def key_of(world: World) -> str:
    keys = await world.ask("GET", world.at("/pix/keys"))
    found: str = next(each["key"] for each in keys.document["data"] if each["status"] == "active")
    return found


async def charge(world: World, reference: str, **more: object) -> Answer:
    wanted = {"reference": reference, "type": "Dynamic", "key": await key_of(world)}
    return await drive(world, "/charges", {**wanted, "value": 25.00, **more})


async def state(world: World, reference: str) -> tuple[str, str]:
    """Return the state of a charge, and of its payment."""
    one = quote(reference, safe="")
    shown = await world.ask("GET", world.at(f"/pix/qrcode/{one}"))
    paid = await world.ask("GET", world.at(f"/pix/transactions/{one}"))
    return shown.document["status"], paid.document["status"]


async def received(world: World, reference: str) -> list[float]:
    """Return what the statement of the bank has as paid in under the name of a charge."""
    account_id = world.demo["accounts"]["main"]["id"]
    database = world.gateway.bank.books.database  # type: ignore[union-attr]
    rows = database.all(
        "SELECT centavos FROM payments WHERE account_id = ? AND reference = ? ORDER BY seq",
        (account_id, reference),
    )
    return [row["centavos"] / 100 for row in rows]


async def test_a_charge_is_made_and_paid_whole(world: World):
    made = await charge(world, "own/whole")
    before = await state(world, "own/whole")
    paid = await drive(world, "/charges/own%2Fwhole/pay")

    assert (made.status, made.document["reference"], before) == (
        200,
        "own/whole",
        ("Active", "pending"),
    )
    assert (paid.status, paid.document["value"], paid.document["pays"]) == (200, 25.00, True)
    assert await state(world, "own/whole") == ("Paid", "paid")
    shown = await world.ask("GET", world.at("/pix/transactions/own%2Fwhole"))
    assert shown.document["e2e_id"] == paid.document["e2e_id"]


async def test_a_charge_paid_in_part_stays_open_and_names_what_came(world: World):
    """Anyone can write the name of a charge into a Pix: only the charge says that it is paid."""
    await charge(world, "own-part")

    part = await drive(world, "/charges/own-part/pay", {"value": 10.01})
    between = await state(world, "own-part")
    whole = await drive(world, "/charges/own-part/pay", {"value": 25.00})

    assert (part.document["value"], part.document["pays"]) == (10.01, False)
    assert between == ("Active", "pending")
    assert whole.document["pays"] is True
    assert await received(world, "own-part") == [10.01, 25.00]


async def test_a_charge_paid_twice_takes_the_money_twice(world: World):
    await charge(world, "own-twice")

    first, second = [(await drive(world, "/charges/own-twice/pay")).document for _ in range(2)]
    other = await drive(world, "/charges/own-twice/pay", {"value": 1.00})
    shown = await world.ask("GET", world.at("/pix/transactions/own-twice"))

    assert (first["pays"], second["pays"]) == (True, False)
    assert shown.document["e2e_id"] == first["e2e_id"]
    assert other.verdict == (422, "SVC.GTW.008")
    assert await received(world, "own-twice") == [25.00, 25.00]


async def test_an_open_and_reusable_charge_is_paid_with_any_amount_each_time(world: World):
    await charge(world, "own-open", type="Static", value=None)

    paid = [
        (await drive(world, "/charges/own-open/pay", {"value": value})).document["pays"]
        for value in (1.50, 2.50)
    ]
    without = await drive(world, "/charges/own-open/pay")

    assert paid == [True, True]
    assert without.verdict == (422, "SVC.GTW.008")


async def test_a_cancelled_charge_cannot_be_paid(world: World):
    await charge(world, "own-cancelled")

    cancelled = await drive(world, "/charges/own-cancelled/cancel")
    refused = await drive(world, "/charges/own-cancelled/pay", {"value": 1.00})

    assert (cancelled.status, cancelled.document["status"]) == (200, "Canceled")
    assert refused.verdict == (422, "SVC.GTW.008")
    assert "cancelled" in refused.document["message"]


async def test_a_charge_that_the_bank_refuses_says_why(world: World):
    """A reference that is taken, a key of nobody, a key of another account."""
    await charge(world, "own-used")
    taken = await charge(world, "own-used")
    others = await world.ask("GET", world.at("/pix/keys", "other_company"), by="other_company")
    keys = ("nobody@example.com", others.document["data"][0]["key"])
    foreign = [await charge(world, "own-foreign", key=each) for each in keys]

    assert taken.verdict == (409, "SVC.GTW.009")
    assert taken.document["message"].endswith("The key or the reference is in use.")
    assert [each.verdict for each in foreign] == [(422, "SVC.GTW.008")] * 2
    assert {each.document["message"] for each in foreign} == {
        "The bank refused the request. The PIX key is not an active key of the account."
    }


async def test_a_word_that_is_none_is_refused_with_the_words(world: World):
    both = {"fault": "reject", "reference": "a", "operation": "balance"}
    wrong = [
        await drive(world, "/faults", both),
        await drive(world, "/faults", {"fault": "s3cret", "reference": "a"}),
        await charge(world, "own-kind", type="s3cret"),
    ]

    assert [each.verdict for each in wrong] == [(400, "SVC.VAL.011")] * 3
    operation, fault, kind = [each.document["message"] for each in wrong]
    assert operation == "operation must be payout."
    assert fault.startswith("fault must be ")
    assert "reset_after" in fault
    assert kind == "type must be Dynamic or Static."
    assert "s3cret" not in fault + kind


async def test_the_audit_log_names_who_made_a_charge(world: World):
    await charge(world, "own-audited")

    client_id = world.pair("full")["client_id"]
    found = await acts(world, f"partner:{client_id}")

    assert {"charge.create.ordered", "charge.create.done"} <= set(found)


async def acts(world: World, actor: str) -> list[str]:
    rows = await world.gateway.kernel.store.database.rows(
        audit.select().where(audit.c.actor == actor)
    )
    return [row.action for row in rows]


async def test_money_is_paid_in(world: World):
    before = (await world.ask("GET", world.at("/balance"))).document["balance"]

    answer = await drive(world, "/top-up", {"value": 131072.01})

    after = (await world.ask("GET", world.at("/balance"))).document["balance"]
    assert answer.status == 200
    assert round(after - before, 2) == 131072.01
    assert answer.document == {"balance": after}


async def test_a_paid_payout_comes_back_in_parts_up_to_its_amount(world: World):
    await world.pay(order("own-returned", world.today(), value=30.00))
    await world.settled("own-returned")

    part = await drive(world, "/payouts/own-returned/return", {"value": 10.00})
    rest = await drive(world, "/payouts/own-returned/return")
    again = await drive(world, "/payouts/own-returned/return")

    assert [each.status for each in (part, rest)] == [200, 200]
    assert part.document == {"reference": "own-returned"}
    assert again.verdict == (422, "SVC.GTW.008")
    assert (await world.ask("GET", world.at("/withdraw/own-returned"))).document["status"] == "paid"


@pytest.mark.parametrize("fault", UNKNOWN)
async def test_the_outcome_of_one_payout_is_unknown_and_resolves(world: World, fault: str):
    reference = f"own-{fault}"
    ordered = await drive(world, "/faults", {"fault": fault, "reference": reference})

    other = await world.pay(order(f"{reference}-other", world.today()))
    first = await world.pay(order(reference, world.today()))

    assert ordered.document == {"fault": fault, "operation": "payout", "reference": reference}
    assert other.status == 200
    assert first.verdict == (502, "SVC.PIX.010")
    await world.look_at_unsettled()
    assert (await world.settled(reference))["status"] == "paid"
    assert len(await world.executions(reference)) == 1


async def test_one_payout_fails_after_it_was_accepted(world: World):
    await drive(world, "/faults", {"fault": "fail_later", "reference": "own-fails"})

    other = await world.pay(order("own-does-not-fail", world.today()))
    first = await world.pay(order("own-fails", world.today()))

    assert (first.status, other.status) == (200, 200)
    assert (await world.settled("own-fails"))["status"] == "failed"
    assert (await world.settled("own-does-not-fail"))["status"] == "paid"


async def test_the_fault_of_a_reference_meets_no_other_account(world: World):
    """Nor a call of another partner: a fault without a reference is the account's next call."""
    await drive(world, "/faults", {"fault": "reject", "reference": "own-same"})
    await drive(world, "/faults", {"fault": "status", "operation": "balance"})

    path = world.at("/withdraw", "other_company")
    others = await world.ask(
        "POST", path, by="other_company", document=order("own-same", world.today())
    )
    balance = world.at("/balance", "other_company")
    read = [(await world.ask("GET", balance, by="other_company")).status for _ in range(3)]

    assert (others.status, read) == (200, [200] * 3)
    own = await world.pay(order("own-same", world.today()))
    assert own.verdict == (400, "SVC.PIX.010")
    balances = [(await world.ask("GET", world.at("/balance"))).verdict for _ in range(2)]
    assert balances == [(502, "SVC.ACC.006"), (200, "")]
    assert (await world.control.get("faults"))["data"] == []


@pytest.mark.parametrize("fault", ["reject", "fail_later"])
async def test_the_oldest_of_more_than_twenty_faults_gives_way(world: World, fault: str):
    """Nobody who never makes the calls is locked out, and staff are not shown them."""
    for number in range(21):
        ordered = {"fault": fault, "reference": f"many-{fault}-{number}"}
        assert (await drive(world, "/faults", ordered)).status == 200
    shown = (await world.gateway.services.sandbox.state(office(world))).faults  # type: ignore[union-attr]

    for number in range(21):
        await world.pay(order(f"many-{fault}-{number}", world.today(), value=number + 1))

    ended = [(await world.settled(f"many-{fault}-{number}"))["status"] for number in range(21)]
    assert ended == ["paid", *["failed"] * 20]
    assert shown == []


def office(world: World) -> Staff:
    return Staff(world.office.acting)


@pytest.mark.parametrize(
    ("path", "document", "said"),
    [
        ("/charges/absent/pay", {}, (404, "SVC.PIX.005")),
        ("/charges/absent/cancel", {}, (404, "SVC.PIX.005")),
        ("/charges/absent/pay", {"value": "1.00"}, (400, "SVC.VAL.011")),
        ("/charges/absent/pay", {"value": 0}, (400, "SVC.VAL.009")),
        ("/charges/absent/pay", {"value": 1.001}, (400, "SVC.VAL.011")),
        ("/charges/%00/pay", {}, (400, "SVC.VAL.011")),
        ("/charges", {}, (400, "SVC.VAL.001")),
        ("/top-up", {}, (400, "SVC.VAL.001")),
        ("/top-up", {"value": -1}, (400, "SVC.VAL.009")),
        ("/top-up", {"value": 9999999999999.99}, (400, "SVC.VAL.011")),
        ("/payouts/absent/return", {}, (404, "SVC.PIX.011")),
        ("/payouts/absent/return", {"value": 0.001}, (400, "SVC.VAL.011")),
        ("/faults", {}, (400, "SVC.VAL.001")),
        ("/faults", {"fault": "refuse"}, (400, "SVC.VAL.011")),
        ("/faults", {"fault": "fail_later"}, (400, "SVC.VAL.001")),
        (
            "/faults",
            {"fault": "reject", "operation": "balance", "reference": "a"},
            (400, "SVC.VAL.011"),
        ),
        ("/faults", {"fault": "status", "status": 200}, (400, "SVC.VAL.011")),
        ("/absent", {}, (404, "SVC.GTW.001")),
    ],
)
async def test_an_absent_path_or_record_or_a_malformed_body_is_refused(
    world: World, path: str, document: Mapping[str, object], said: tuple[int, str]
):
    assert (await drive(world, path, document)).verdict == said


async def test_a_reference_of_another_account_is_not_found(world: World):
    """Of the own company, of another company: by whoever may drive the account of the path."""
    await charge(world, "own-alone")
    await world.pay(order("own-alone", world.today()))
    await world.settled("own-alone")

    for by, account in (("company", "sister"), ("other_company", "other_company")):
        paid = await drive(world, "/charges/own-alone/pay", by=by, account=account)
        cancelled = await drive(world, "/charges/own-alone/cancel", by=by, account=account)
        returned = await drive(world, "/payouts/own-alone/return", by=by, account=account)

        assert [each.verdict for each in (paid, cancelled, returned)] == [
            (404, "SVC.PIX.005"),
            (404, "SVC.PIX.005"),
            (404, "SVC.PIX.011"),
        ]
    assert await state(world, "own-alone") == ("Active", "pending")


CHARGES = ("/charges", "/charges/a/pay", "/charges/a/cancel")
PAYOUTS = ("/top-up", "/payouts/a/return", "/faults")
DENIED = (403, "SVC.AUT.010")


@pytest.mark.parametrize(
    ("by", "account", "charges", "payouts"),
    [
        (NOBODY, "main", (401, "SVC.AUT.001"), (401, "SVC.AUT.001")),
        ("revoked", "main", (401, "SVC.AUT.010"), (401, "SVC.AUT.010")),
        ("none", "main", DENIED, DENIED),
        ("qrcode:read", "main", DENIED, DENIED),
        ("withdraw:read", "main", DENIED, DENIED),
        ("qrcode:write", "main", None, DENIED),
        ("qrcode:manage", "main", None, DENIED),
        ("withdraw:write", "main", DENIED, None),
        ("full", "sister", DENIED, DENIED),
        ("full", "other_company", (404, "SVC.ACC.001"), (404, "SVC.ACC.001")),
        ("company", "inactive", (400, "SVC.ACC.002"), (400, "SVC.ACC.002")),
        ("company", "no_provider", (422, "SVC.ACC.005"), (422, "SVC.ACC.005")),
    ],
)
async def test_each_call_has_its_permission_and_is_at_an_account_of_the_credential(
    world: World,
    by: str,
    account: str,
    charges: tuple[int, str] | None,
    payouts: tuple[int, str] | None,
):
    """None: the gate lets it on, and what was sent is wrong or absent."""
    sent: Mapping[str, Mapping[str, object]] = {
        "/charges": {"reference": "a", "type": "Dynamic", "key": "maria@example.com", "value": 1},
        "/top-up": {"value": 1},
        "/faults": {"fault": "drip", "reference": "never"},
    }
    for paths, said in ((CHARGES, charges), (PAYOUTS, payouts)):
        for path in paths:
            answer = await drive(world, path, sent.get(path, {}), by=by, account=account)
            if said is None:
                assert answer.status in {200, 404, 422}, path
            else:
                assert answer.verdict == said, path
    await world.control.delete("faults")


@pytest.mark.parametrize("path", [*CHARGES, *PAYOUTS])
async def test_a_sandbox_that_is_not_open_has_no_such_paths(closed: World, path: str):
    answers = (
        await drive(closed, path, {"value": 1}),
        await closed.ask("POST", "/sandbox/v1/credentials", by=NOBODY, document={}),
        await closed.ask("GET", "/sandbox/v1/openapi.json", by=NOBODY),
    )

    assert [each.verdict for each in answers] == [(404, "SVC.GTW.001")] * 3


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def closed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    settings = sandbox(tmp_path_factory.mktemp("closed"), sandbox=Sandbox(open=False))
    async with opened(settings) as made:
        yield made
