"""Wishes for reset links."""

from gateway.domain.stores import StoreUnavailable
from gateway.operations.identity import wishes as module
from gateway.telemetry import trace
from tests.unit.door import EMAIL, HOME

NOBODY = "nobody@example.com"


async def test_nobody_is_looked_up_while_the_caller_waits(door, maria, monkeypatch):
    """What is done for a person costs three durable writes, and would be felt."""
    looked_up = []
    find = door.store.identity.users.find_by_email

    async def finding(email):
        looked_up.append(email)
        return await find(email)

    monkeypatch.setattr(door.store.identity.users, "find_by_email", finding)
    for email in (EMAIL, NOBODY):
        await door.desk.passwords.forgot(email, HOME)
    before = list(looked_up)

    assert await door.desk.wishes.answer() == 1
    assert (before, looked_up) == ([], [EMAIL, NOBODY])


async def test_a_link_is_told_under_the_trace_of_its_wish(door, maria):
    trace.begin("the-wish")
    await door.desk.passwords.forgot(EMAIL, HOME)
    trace.begin("another")

    await door.desk.wishes.answer()

    entries = await door.store.office.record.after(0, 50)
    told = next(each.event for each in entries if each.event.action == "password.forgotten")
    assert (told.trace_id, told.details["address"]) == ("the-wish", HOME.address)


async def test_a_wish_waits_while_the_store_is_away(door, maria, monkeypatch):
    await door.desk.passwords.forgot(EMAIL, HOME)

    async def away(_email):
        raise StoreUnavailable

    with monkeypatch.context() as patched:
        patched.setattr(door.store.identity.users, "find_by_email", away)
        try:
            await door.desk.wishes.answer()
        except StoreUnavailable:
            sent = len(await door.mails())

    assert (sent, await door.desk.wishes.answer(), len(await door.mails())) == (0, 1, 1)


async def test_what_waits_is_bounded(door, maria, monkeypatch, caplog):
    monkeypatch.setattr(module, "_MOST", 2)

    for _ in range(3):
        door.desk.wishes.add(EMAIL, HOME.address)

    assert await door.desk.wishes.answer() == 2
    assert "dropped" in caplog.text
    assert EMAIL not in caplog.text
