"""Payouts over the socket: sent once, answered the same, followed to their end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from gateway.telemetry.metrics import series
from tests.world.gateway.world import World, order
from tests.world.metrics import shown, timed

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN = (502, "SVC.PIX.010")
UNSENT = (502, "SVC.ACC.005")
TAKEN = (200, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Magic:
    """
    What becomes of a payout of R$ 777 and some centavos.

    Attributes:
        first: How its creation is answered.
        again: How the same request is answered after that.
        executed: Centavos that the bank really moved, or None for no execution.
        ends: What reading it shows in the end; ``processing`` is for ever.
    """

    first: tuple[int, str] = TAKEN
    again: tuple[int, str] = TAKEN
    executed: bool = True
    ends: str = "paid"


MAGIC: dict[int, Magic] = {
    2: Magic(again=(400, "SVC.PIX.010"), executed=False, ends="failed"),
    3: Magic(first=(400, "SVC.PIX.010"), again=(400, "SVC.PIX.010"), executed=False, ends="failed"),
    4: Magic(first=(403, "SVC.PIX.010"), again=(403, "SVC.PIX.010"), executed=False, ends="failed"),
    5: Magic(first=UNKNOWN, executed=False, ends="processing"),
    6: Magic(first=UNKNOWN),
    7: Magic(first=UNKNOWN, executed=False, ends="processing"),
    8: Magic(first=UNKNOWN),
    9: Magic(),
    10: Magic(),
    11: Magic(first=UNSENT, again=UNSENT, executed=False, ends="processing"),
}


NEVER_ANSWERED = 6


@pytest.mark.parametrize("centavos", list(MAGIC))
async def test_a_magic_amount_has_its_documented_effect(
    world: World, hurried_world: World, centavos: int
):
    """The first answer, the bank's own records, the final state, and a repeat."""
    if centavos == NEVER_ANSWERED:
        world = hurried_world
    expected, reference = MAGIC[centavos], f"magic-{centavos}"
    wanted = order(reference, world.today(), value=777 + centavos / 100)

    first = await world.pay(wanted)
    shown = await ended(world, reference, expected.ends)
    again = await world.pay(wanted)

    executed = [77700 + centavos] if expected.executed else []
    assert (first.verdict, again.verdict) == (expected.first, expected.again)
    assert await world.executions(reference) == executed
    assert shown["status"] == expected.ends
    assert ("failure" in shown) is (expected.ends == "failed")
    assert bool(shown["settled_at"]) is (expected.ends == "paid")


@pytest.mark.parametrize(
    ("value", "state"), [(10.5, "paid"), (777.02, "failed"), (777.03, "rejected")]
)
async def test_a_payout_is_counted_by_outcome_and_timed_to_settlement(
    world: World, value: float, state: str
):
    """However often it is read. Payouts of earlier tests may end meanwhile: it is then repeated."""
    expected = (1, int(state == "paid"))
    for number in range(3):
        before = counted(world, state)
        await world.pay(order(f"ends-{state}-{number}", world.today(), value=value))
        for _ in range(2):
            await world.settled(f"ends-{state}-{number}")
        after = counted(world, state)
        if (found := (after[0] - before[0], after[1] - before[1])) == expected:
            break

    assert found == expected


def counted(world: World, state: str) -> tuple[float, float]:
    values = world.gateway.telemetry.values
    times, _ = timed(values, series.PAYOUT_SETTLEMENT, "sandbox")
    return shown(values, series.PAYOUTS_ENDED, "sandbox", state), times


async def ended(world: World, reference: str, end: str) -> dict[str, Any]:
    """Read a payout until it is final; one that never is, once."""
    if end != "processing":
        return await world.settled(reference)
    found: dict[str, Any] = (await read(world, reference)).document
    return found


async def read(world: World, reference: str, **details: Any) -> Any:
    return await world.ask("GET", world.at(f"/withdraw/{reference}"), **details)


async def test_a_late_payout_is_processing_until_it_settles(world: World):
    """R$ 777.01: thirty seconds of the bank's clock."""
    await world.pay(order("late", world.today(), value=777.01))

    before = (await read(world, "late")).document
    try:
        await world.control.post("clock", body={"offset_s": 60})
        after = await world.settled("late")
    finally:
        await world.control.post("clock", body={"offset_s": 0})

    assert (before["status"], before["settled_at"]) == ("processing", "")
    assert after["status"] == "paid"


async def test_a_payout_settled_at_another_amount_is_not_shown_as_paid(world: World):
    """R$ 777.12: the bank moved one centavo less, which proves nothing."""
    await world.pay(order("other-amount", world.today(), value=777.12))

    async with world.bank_ahead():
        shown = (await read(world, "other-amount")).document

    assert (shown["status"], shown["value"]) == ("processing", 777.12)
    assert await world.executions("other-amount") == [77711]


async def test_a_repeat_is_answered_from_the_store(world: World):
    """In another spelling too, and without asking the bank again."""
    sent = order("repeated", world.today())
    spelt: dict[str, Any] = {**sent, "value": 10.50, "unknown": 1}
    spelt["destination"] = {
        **sent["destination"],  # type: ignore[dict-item]
        "tax_number": "52998224725",
        "key": "Maria@Example.COM",
    }

    first = (await world.pay(sent)).document
    await world.settled("repeated")
    answer = await world.pay(spelt)
    again = answer.document

    changed = {name for name in first if first[name] != again[name]}
    assert changed <= {"updated_at"}
    assert await world.asked(answer.trace_id) == []
    assert await world.executions("repeated") == [1050]


@pytest.mark.parametrize(
    "change",
    [
        {"value": 10.51},
        {"description": "other"},
        {"method": "bank_account"},
        {"destination": {"key": "joao@example.com"}},
        {"destination": {"name": "Joao"}},
        {"destination": {"tax_number": "11144477735"}},
    ],
    ids=str,
)
async def test_other_content_under_a_known_reference_is_refused(
    world: World, change: dict[str, Any]
):
    """Nothing is sent, and the stored payout stays as it is."""
    reference = "other-content"
    sent = order(reference, world.today())
    whom: dict[str, str] = {**sent["destination"], **change.get("destination", {})}  # type: ignore[dict-item]
    if change.get("method") == "bank_account":
        whom |= {"bank_number": "341", "branch": "1", "account": "1"}
    await world.pay(sent)

    answer = await world.pay({**sent, **change, "destination": whom})

    assert answer.verdict == (400, "SVC.PIX.010")
    assert "other content" in answer.document["message"]
    assert await world.executions(reference) == [1050]


async def test_the_same_reference_on_another_account_is_another_payout(world: World):
    """A reference is unique per account (contract 2.6)."""
    sent = order("on-both", world.today())

    main = await world.pay(sent)
    sister = await world.ask("POST", world.at("/withdraw", "sister"), by="company", document=sent)

    assert (main.status, sister.status) == (200, 200)
    assert await world.executions("on-both") == [1050]
    assert await world.executions("on-both", "sister") == [1050]


async def test_an_unsent_payout_may_be_sent_again(world: World):
    """Nothing listens: 502 ``SVC.ACC.005``; repeating it pays, and pays once."""
    sent = order("not-sent", world.today())

    async with world.failing("*", "refuse"):
        first = await world.pay(sent)
        shown = (await read(world, "not-sent")).document
    again = await world.pay(sent)

    assert first.verdict == (502, "SVC.ACC.005")
    assert shown["status"] == "processing"
    assert again.verdict == TAKEN
    assert (await world.settled("not-sent"))["status"] == "paid"
    assert await world.executions("not-sent") == [1050]


@pytest.mark.parametrize(
    ("fault", "executed"),
    [
        ("reset_before", False),
        ("reset_after", True),
        ("malformed", True),
        ("wrong_types", True),
        ("huge", True),
        ("status", False),
    ],
)
async def test_an_unknown_payout_is_never_sent_again(world: World, fault: str, executed: bool):
    """502 ``SVC.PIX.010``, then 200 ``processing`` for the same request, and paid later."""
    await prove_sent_once(world, fault, executed=executed)


@pytest.mark.parametrize(
    ("fault", "executed"), [("hang", False), ("hang_after", True), ("drip", True)]
)
async def test_a_payout_accepted_by_a_silent_bank_is_never_sent_again(
    hurried_world: World, fault: str, *, executed: bool
):
    await prove_sent_once(hurried_world, fault, executed=executed)


async def prove_sent_once(world: World, fault: str, *, executed: bool) -> None:
    reference = f"unknown-{fault}"
    sent = order(reference, world.today())

    async with world.failing("payout", fault, count=1):
        first = await world.pay(sent)
    again = await world.pay(sent)

    assert (first.verdict, again.verdict) == (UNKNOWN, TAKEN)
    assert again.document["status"] == "processing" or executed  # it may have been found by then
    assert await world.executions(reference) == ([1050] if executed else [])
    shown = await ended(world, reference, "paid" if executed else "processing")
    assert shown["status"] == ("paid" if executed else "processing")


async def test_a_payout_is_readable_while_the_bank_is_unavailable(world: World):
    """With its last known state."""
    await world.pay(order("read-while-away", world.today(), value=777.01))

    async with world.failing("*", "refuse"):
        answer = await read(world, "read-while-away")

    assert (answer.status, answer.document["status"]) == (200, "processing")


async def test_another_account_s_payout_is_not_found(world: World):
    """Neither another company's, nor that of another account of the company."""
    await world.pay(order("mine", world.today()))
    other, sister = (
        world.at("/withdraw/mine", "other_company"),
        world.at("/withdraw/mine", "sister"),
    )

    theirs = await world.ask("GET", other, by="other_company")
    hers = await world.ask("GET", sister, by="company")

    assert theirs.verdict == hers.verdict == (404, "SVC.PIX.011")


async def test_the_simulated_bank_s_ledger_balances(world: World):
    """After all tests above, in any order."""
    ledger = await world.control.get("ledger")

    assert ledger["balanced"] is True
