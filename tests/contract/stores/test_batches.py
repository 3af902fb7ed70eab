"""Files of payouts over a real store: refused whole, approved once, each row paid once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event as listening
from sqlalchemy import select, update

from gateway.app.store import Store
from gateway.batches.model import MOST_DRAFTS, BatchSearch, Oddity, Progress
from gateway.batches.store import ABANDONED, BatchRecords
from gateway.core.approvals import RejectionBody
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.money import Money, Sum
from gateway.core.sessions import SignedInUser
from gateway.core.windows import Paging
from gateway.payouts.holds import HoldDecisions, RefusalBody
from gateway.store.orders import resumed_by
from gateway.store.tables.backoffice import batches
from gateway.store.tables.core import payouts
from tests.contract.stores.databases import both, server_alone
from tests.contract.stores.locks import until_blocked
from tests.world.acts import acts_of
from tests.world.batches import (
    BOTH,
    EVA,
    JOAO,
    MARIA,
    OLGA,
    VERA,
    BatchWorld,
    opened,
    row,
)
from tests.world.payouts import IS_ACCEPTED, IS_NOT_SENT, IS_REJECTED, IS_SETTLED, IS_UNKNOWN
from tests.world.stores.samples import ACCOUNT, NOW, account, event

THREE = (row("a"), row("b", key="b@example.com"), row("c", key="c@example.com"))
DAY_S = 86_400


class Killed(BaseException):
    """The process ends here, as by ``kill -9``."""


@pytest.fixture
async def world(store: Store) -> BatchWorld:
    return await opened(store)


async def refusal(deed) -> str:
    with pytest.raises((ServiceError, RuleViolation)) as refused:
        await deed
    return refused.value.reason


@both
async def test_a_file_is_ordered_approved_once_and_each_row_is_paid_once_in_order(
    world: BatchWorld,
):
    world.node.bank.says = [IS_SETTLED]
    batch_id, waits = await world.ordered(*THREE)
    before = await world.get(batch_id)

    await world.worker.turn()
    sent_before = world.paid
    await world.approve(waits)
    await world.worker.turn()
    await world.worker.turn()

    after = await world.get(batch_id)
    assert (before.batch.status, before.batch.value) == ("waiting", Sum(3150))
    assert waits.value == Money(3150)
    assert sent_before == []
    orders = world.node.bank.orders
    assert [each.destination.key for each in orders] == [  # type: ignore[union-attr]
        "maria@example.com",
        "b@example.com",
        "c@example.com",
    ]
    assert after.batch.status == "done"
    assert [(each.status, each.payouts, each.value) for each in after.progress] == [
        (Progress.PAID, 3, Sum(3150))
    ]
    assert [each.has_payout for each in await world.rows(batch_id)] == [True] * 3


async def test_a_file_with_one_bad_row_is_refused_as_a_whole(world: BatchWorld):
    made = await world.uploaded(row("a"), row("b", "1,234"))

    found = await world.batches.problems(world.staff(JOAO), made.batch.id, Paging(1, 10))

    assert (made.batch.status, made.batch.payouts, made.problems) == ("refused", 0, 1)
    assert [(each.number, each.reason) for each in found.items] == [(3, "amount_two_ways")]
    assert await world.rows(made.batch.id) == []
    assert await refusal(world.batches.order(world.staff(MARIA), made.batch.id)) == "batch_ended"


async def test_nobody_approves_their_own_file_and_only_its_maker_orders_it(world: BatchWorld):
    made = await world.uploaded(row("a"), who=BOTH)
    others = world.batches.order(world.staff(OLGA), made.batch.id)

    assert await refusal(others) == "not_own_order"
    waits = await world.batches.order(world.staff(BOTH), made.batch.id)
    assert await refusal(world.approve(waits, BOTH)) == "own_order"  # type: ignore[arg-type]
    assert await refusal(world.batches.order(world.staff(BOTH), made.batch.id)) == "waiting"


async def test_a_rejected_file_is_a_draft_again_and_nothing_is_paid(world: BatchWorld):
    batch_id, waits = await world.ordered(*THREE)

    await world.approvals.reject(world.staff(JOAO), waits.id, RejectionBody("conferir"))
    await world.worker.turn()

    found = (await world.get(batch_id)).batch
    assert (found.status, found.approval_id) == ("draft", waits.id)
    assert world.paid == []


async def test_the_order_of_a_cancelled_file_is_void(world: BatchWorld):
    batch_id, waits = await world.ordered(*THREE)

    await world.stop(batch_id)

    assert await refusal(world.approve(waits)) == "void"
    await world.worker.turn()
    assert world.paid == []


@both
async def test_a_worker_that_is_killed_after_the_bank_has_a_payout_does_not_pay_it_again(
    world: BatchWorld, monkeypatch: pytest.MonkeyPatch
):
    batch_id = await world.approved(*THREE)

    async def killed(*_given: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(BatchRecords, "finish", killed)
        with pytest.raises(Killed):
            await world.worker.turn()
    sent = list(world.paid)
    await world.worker.turn()

    assert len(sent) == 1
    assert len(world.paid) == len(set(world.paid)) == 3
    assert await world.stands(batch_id) == {Progress.SENT: 3}


async def test_a_worker_that_is_killed_before_the_payout_is_stored_pays_it_later(
    world: BatchWorld, monkeypatch: pytest.MonkeyPatch
):
    batch_id = await world.approved(*THREE)

    async def killed(*_given: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(type(world.node.payouts), "create", killed)
        with pytest.raises(Killed):
            await world.worker.turn()
    await world.worker.turn()

    assert len(set(world.paid)) == 3
    assert await world.stands(batch_id) == {Progress.SENT: 3}


async def test_two_workers_at_once_pay_each_row_once(world: BatchWorld):
    await world.approved(*THREE)

    await asyncio.gather(world.worker.turn(), world.worker.turn())

    assert sorted(world.paid) == sorted(set(world.paid))
    assert len(world.paid) == 3


async def test_a_row_that_the_bank_refuses_is_marked_and_the_others_go_on(world: BatchWorld):
    world.node.bank.says = [IS_ACCEPTED, IS_REJECTED, IS_ACCEPTED]
    batch_id = await world.approved(*THREE)

    await world.worker.turn()

    rows = await world.rows(batch_id)
    assert [each.status for each in rows] == [Progress.SENT, Progress.FAILED, Progress.SENT]
    assert [each.code for each in rows] == ["", "INSUFFICIENT_FUNDS", ""]
    assert (await world.get(batch_id)).batch.status == "ordered"


async def test_an_unknown_payout_is_never_sent_again(world: BatchWorld):
    world.node.bank.says = [IS_UNKNOWN, IS_ACCEPTED]
    batch_id = await world.approved(*THREE)

    await world.worker.turn()
    await world.worker.turn()

    assert len(world.paid) == 3
    assert await world.stands(batch_id) == {Progress.UNKNOWN: 1, Progress.SENT: 2}
    assert (await world.rows(batch_id))[0].code == "SVC.PIX.010"


async def test_a_row_whose_payout_was_found_paid_has_no_code_any_more(world: BatchWorld):
    world.node.bank.says, world.node.bank.knows = [IS_UNKNOWN], IS_SETTLED
    batch_id = await world.approved(THREE[0])
    await world.worker.turn()

    await world.node.follow_up.look(await world.node.store.find(ACCOUNT, "a"), account())

    [row_of_a] = await world.rows(batch_id)
    assert (row_of_a.status, row_of_a.code) == (Progress.PAID, "")


@both
async def test_a_row_whose_payout_failed_later_has_the_code_of_the_failure(world: BatchWorld):
    world.node.bank.says, world.node.bank.knows = [IS_ACCEPTED], IS_REJECTED
    batch_id = await world.approved(THREE[0])
    await world.worker.turn()
    [before] = await world.rows(batch_id)

    await world.node.follow_up.look(await world.node.store.find(ACCOUNT, "a"), account())

    [after] = await world.rows(batch_id)
    result = await world.batches.result(world.staff(MARIA), batch_id)
    assert (before.status, before.code) == (Progress.SENT, "")
    assert (after.status, after.code) == (Progress.FAILED, "INSUFFICIENT_FUNDS")
    assert b"falhou;INSUFFICIENT_FUNDS" in result.first


@both
async def test_a_file_is_done_when_it_is_decided_what_became_of_every_payout(world: BatchWorld):
    world.node.bank.says = [IS_ACCEPTED, IS_SETTLED]
    batch_id = await world.approved(*THREE[:2])
    await world.worker.turn()
    open_, database = (await world.get(batch_id)).batch, world.store.database
    of_a = update(payouts).where(payouts.c.reference == "a")

    await database.write(of_a.values(review=True))
    await world.worker.end_decided()
    in_review = (await world.get(batch_id)).batch
    stands = await world.stands(batch_id)
    [row_of_a, _] = await world.rows(batch_id)
    result = await world.batches.result(world.staff(MARIA), batch_id)
    await database.write(of_a.values(review=False, state="failed", failure_code="OTHER"))
    await world.worker.end_decided()

    ended = (await world.get(batch_id)).batch
    assert (open_.status, in_review.status) == ("ordered", "ordered")
    assert stands == {Progress.REVIEW: 1, Progress.PAID: 1}
    assert (row_of_a.status, row_of_a.has_payout) == (Progress.REVIEW, True)
    assert b"aguarda pareceres" in result.first
    assert (ended.status, ended.ended_at) == ("done", world.clock.now())
    assert await world.batches.records.forget(NOW + timedelta(days=1), NOW) == 1


async def test_files_are_shown_with_the_name_of_who_uploaded_them(world: BatchWorld):
    mine, theirs = await world.uploaded(row("a")), await world.uploaded(row("b"), who=OLGA)
    elsewhere = replace(world.staff(JOAO), scope=CompanyScope(frozenset({"another"})))

    found = await world.batches.people(world.staff(JOAO), [mine.batch.id, theirs.batch.id])
    alone = await world.batches.people(world.staff(JOAO), [theirs.batch.id])

    assert {each.name for each in found} == {"maria", "olga"}
    assert [each.email for each in alone] == ["olga@example.com"]
    assert await world.batches.people(elsewhere, [mine.batch.id]) == []


async def test_a_payout_that_was_certainly_not_sent_is_sent_at_a_later_turn(world: BatchWorld):
    world.node.bank.says = [IS_NOT_SENT, IS_ACCEPTED]
    batch_id = await world.approved(*THREE)

    await world.worker.turn()
    first = await world.stands(batch_id)
    await world.worker.turn()

    assert first == {Progress.WAITING: 3}
    assert len(world.paid) == 4
    assert await world.stands(batch_id) == {Progress.SENT: 3}


async def test_a_row_that_is_never_sent_lets_the_others_pass_after_ten_tries(world: BatchWorld):
    world.node.bank.says = [IS_NOT_SENT] * 10 + [IS_ACCEPTED]
    batch_id = await world.approved(*THREE)

    for _ in range(10):
        await world.worker.turn()

    assert await world.stands(batch_id) == {Progress.SENT: 2, Progress.NOT_SENT: 1}


@both
async def test_a_stop_holds_the_rest_until_another_person_lets_it_go_on(world: BatchWorld):
    """Also a stop that was lifted before a worker came to the file again."""
    batch_id = await world.approved(*THREE)
    world.clock.passes(10)
    world.halt()

    await world.worker.turn()
    held = (await world.get(batch_id)).batch
    world.clock.passes(7200)
    await world.worker.turn()
    still = world.paid
    await world.batches.resume(world.staff(JOAO), batch_id)
    await world.worker.turn()

    assert (held.status, held.held_for) == ("held", "stopped_meanwhile")
    assert still == []
    assert await world.stands(batch_id) == {Progress.SENT: 3}


async def test_the_maker_of_a_held_file_does_not_let_it_go_on(world: BatchWorld):
    batch_id, waits = await world.ordered(row("a"), who=BOTH)
    await world.approve(waits)
    world.clock.passes(10)
    world.halt()
    await world.worker.turn()

    assert await refusal(world.batches.resume(world.staff(BOTH), batch_id)) == "own_order"


async def test_the_rest_of_a_file_is_cancelled_by_its_maker_or_with_the_right_to_stop_payouts(
    world: BatchWorld,
):
    world.node.bank.says = [IS_ACCEPTED, IS_NOT_SENT]
    first = await world.approved(*THREE)
    await world.worker.turn()
    await world.stop(first)
    second = await world.approved(row("d"))
    await world.stop(second, JOAO)

    await world.worker.turn()

    assert await world.stands(first) == {Progress.SENT: 1, Progress.NOT_SENT: 2}
    assert await world.stands(second) == {Progress.NOT_SENT: 1}
    assert len(world.paid) == 2
    assert await refusal(world.stop(first)) == "batch_ended"


@both
async def test_a_row_that_was_begun_when_its_file_was_cancelled_is_settled_by_the_store(
    world: BatchWorld, monkeypatch: pytest.MonkeyPatch
):
    """What is stored was ordered; what is not stored after a minute never is."""
    sent, unsent = await world.approved(row("a")), await world.approved(row("b"))

    async def killed(*_given: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(BatchRecords, "finish", killed)
        with pytest.raises(Killed):
            await world.worker.turn()
    [other] = await world.batches.records.due(unsent, 10)
    await world.batches.records.begin(other, world.clock.now())
    for each in (sent, unsent):
        await world.stop(each)
    await world.worker.turn()
    early = await world.stands(unsent)
    world.clock.passes(ABANDONED.total_seconds() + 1)
    await world.worker.turn()

    assert early == {Progress.SENT: 1}
    assert await world.stands(sent) == {Progress.SENT: 1}
    assert await world.stands(unsent) == {Progress.NOT_SENT: 1}
    assert len(world.paid) == 1


@both
async def test_a_row_whose_payout_is_stored_after_its_file_was_cancelled_is_what_that_is(
    world: BatchWorld, monkeypatch: pytest.MonkeyPatch
):
    """Its worker was suspended: the row had been settled without a payout."""
    batch_id, create = await world.approved(row("a")), type(world.node.payouts).create

    async def suspended(*given: Any) -> object:
        await world.stop(batch_id)
        world.clock.passes(ABANDONED.total_seconds() + 1)
        await world.worker.turn()
        assert await world.stands(batch_id) == {Progress.NOT_SENT: 1}
        return await create(*given)

    with monkeypatch.context() as patch:
        patch.setattr(type(world.node.payouts), "create", suspended)
        await world.worker.turn()

    [found] = await world.rows(batch_id)
    assert (found.status, found.has_payout) == (Progress.SENT, True)
    assert len(world.paid) == 1


@both
async def test_a_cancelled_row_that_was_tried_is_what_becomes_of_its_payout(world: BatchWorld):
    world.node.bank.says = [IS_NOT_SENT, IS_SETTLED]
    batch_id = await world.approved(row("a"), row("b"))
    await world.worker.turn()
    await world.stop(batch_id)
    world.clock.passes(ABANDONED.total_seconds() + 1)
    await world.worker.turn()
    before = [(each.status, each.has_payout) for each in await world.rows(batch_id)]

    again = await world.approved(row("a"))
    await world.worker.turn()

    assert before == [(Progress.NOT_SENT, True), (Progress.NOT_SENT, False)]
    assert [each.status for each in await world.rows(batch_id)] == [
        Progress.PAID,
        Progress.NOT_SENT,
    ]
    assert await world.stands(again) == {Progress.PAID: 1}
    assert len(world.paid) == 2


async def test_at_the_end_of_the_day_the_rest_is_not_sent(world: BatchWorld):
    running = await world.approved(row("a"))
    held = await world.approved(row("b"))
    world.clock.passes(10)
    world.halt()
    await world.worker.turn()
    world.clock.passes(DAY_S)

    await world.worker.turn()

    for each in (running, held):
        rows = await world.rows(each)
        assert [(one.status, one.code) for one in rows] == [(Progress.NOT_SENT, "SVC.VAL.008")]
    assert world.paid == []


async def test_payouts_in_the_name_of_a_disabled_person_are_held(world: BatchWorld):
    batch_id = await world.approved(*THREE)
    maria = await world.store.identity.users.find(MARIA.user_id)
    assert maria is not None
    await world.store.identity.users.replace(replace(maria, active=False), event())

    await world.worker.turn()

    assert (await world.get(batch_id)).batch.held_for == "revoked"
    assert world.paid == []


async def test_the_same_file_is_recognised(world: BatchWorld):
    """An open one is refused; of an ended one the payouts are not paid again."""
    world.node.bank.says = [IS_SETTLED]
    first = await world.approved(*THREE)
    again = world.uploaded(*THREE)
    assert await refusal(again) == "file_known"
    await world.worker.turn()

    second = await world.uploaded(*THREE)
    waits = await world.batches.order(world.staff(MARIA), second.batch.id)
    await world.approve(waits)  # type: ignore[arg-type]
    await world.worker.turn()

    assert second.same_file == first
    assert [(each.odd, each.payouts) for each in second.odd] == [(Oddity.KNOWN_REFERENCE, 3)]
    assert len(world.paid) == 3
    assert await world.stands(second.batch.id) == {Progress.PAID: 3}


@both
async def test_of_the_same_file_twice_at_once_one_upload_is_taken(world: BatchWorld):
    uploads = (world.uploaded(*THREE) for _ in range(4))

    found = await asyncio.gather(*uploads, return_exceptions=True)

    refused = [each.reason for each in found if isinstance(each, ServiceError)]
    assert refused == ["file_known"] * 3
    listed = await world.batches.page(world.staff(MARIA), BatchSearch(paging=Paging(1, 10)))
    assert listed.total == 1


async def test_a_reference_of_another_payout_is_refused_with_its_row(world: BatchWorld):
    await world.approved(row("a"))
    await world.worker.turn()

    made = await world.uploaded(row("b"), row("a", "11,00"))

    found = await world.batches.problems(world.staff(MARIA), made.batch.id, Paging(1, 10))
    assert [(each.number, each.reason) for each in found.items] == [(3, "other_content")]


async def test_the_references_of_a_file_are_looked_up_once_when_it_is_read_or_ordered(
    world: BatchWorld,
):
    sent: list[str] = []
    listening.listen(
        world.store.database.reader.sync_engine,
        "before_cursor_execute",
        lambda _connection, _cursor, text, *_rest: sent.append(text),
    )

    await world.ordered(*THREE)

    assert sum("FROM archived_payouts" in each for each in sent) == 2


@both
async def test_each_row_shows_its_oddities_beside_earlier_payouts(world: BatchWorld):
    await world.approved(row("a", "100,00"))
    await world.worker.turn()
    world.clock.passes(2 * DAY_S)

    made = await world.uploaded(
        row("b", "100,00"),
        row("c", "200,01"),
        row("d", "150,00"),
        row("e", "1000,01", key="new@example.com"),
        row("f", "1,00", key="twice@example.com"),
        row("g", "1,00", key="twice@example.com"),
    )

    rows = await world.rows(made.batch.id, JOAO)
    found = await world.get(made.batch.id)
    assert [each.odd for each in rows] == [
        [Oddity.SAME_AMOUNT],
        [Oddity.ABOVE_USUAL],
        [],
        [Oddity.NEW_PAYEE, Oddity.WILL_BE_HELD],
        [Oddity.NEW_PAYEE, Oddity.TWICE_IN_FILE],
        [Oddity.NEW_PAYEE, Oddity.TWICE_IN_FILE],
    ]
    odd = await world.rows(made.batch.id, JOAO, is_odd=True)
    assert [each.reference for each in odd] == ["b", "c", "e", "f", "g"]
    assert {each.odd: (each.payouts, each.value) for each in found.odd} == {
        Oddity.NEW_PAYEE: (3, Sum(100_201)),
        Oddity.WILL_BE_HELD: (1, Sum(100_001)),
        Oddity.SAME_AMOUNT: (1, Sum(10_000)),
        Oddity.ABOVE_USUAL: (1, Sum(20_001)),
        Oddity.TWICE_IN_FILE: (2, Sum(200)),
    }


@pytest.mark.parametrize("reader", [MARIA, OLGA, VERA], ids=["uploader", "operator", "viewer"])
async def test_users_who_may_not_approve_see_no_earlier_payouts_to_a_number(
    world: BatchWorld, reader: SignedInUser
):
    """A file with each number that a hidden CPF may be would find it."""
    await world.approved(row("a"))
    await world.worker.turn()
    world.clock.passes(2 * DAY_S)

    made = await world.uploaded(row("b"), row("c", key="new@example.com"))
    who = world.staff(reader)
    detail = await world.batches.get(who, made.batch.id)
    rows = await world.rows(made.batch.id, reader)
    odd = await world.rows(made.batch.id, reader, is_odd=True)
    waits = await world.batches.order(world.staff(MARIA), made.batch.id)
    order = (await world.approvals.get(who, waits.id)).order["batch"]  # type: ignore[union-attr]
    result = await world.batches.result(who, made.batch.id)
    others = await world.uploaded(row("a"), row("d"), who=OLGA)
    problems = await world.batches.problems(world.staff(OLGA), others.batch.id, Paging(1, 10))

    assert (list(detail.odd), list(odd), [each.odd for each in rows]) == ([], [], [[], []])
    assert (order["odd"], [each["odd"] for each in order["largest"]]) == ([], [[], []])
    assert b"novo" not in result.first
    assert [each.reason for each in problems.items] == ["reference_of_another"]


async def test_the_approver_sees_the_count_what_stands_out_and_the_largest(world: BatchWorld):
    _, waits = await world.ordered(row("a", "1,00"), row("b", "3,00"), row("c", "2,00"))

    found = await world.approvals.get(world.staff(JOAO), waits.id)

    shown = found.order["batch"]
    assert (shown["name"], shown["payouts"]) == ("folha.csv", 3)
    assert [each["reference"] for each in shown["largest"]] == ["b", "c", "a"]
    assert shown["largest"][0]["tax_number"] == "***.982.247-**"
    assert [each["odd"] for each in shown["odd"]] == ["new_payee"]


async def test_deciders_see_whole_recipients_and_the_view_is_recorded(world: BatchWorld):
    batch_id, _ = await world.ordered(row("a"))

    [mine] = await world.rows(batch_id, MARIA)
    [theirs] = await world.rows(batch_id, JOAO)

    assert "529.982.247-25" not in mine.destination.values()
    assert theirs.destination["tax_number"] == "529.982.247-25"
    acts = [each.event.action for each in await acts_of(world.store)]
    assert acts.count("batch.read") == 1


@both
async def test_files_are_found_by_name_and_by_the_reference_of_a_row(world: BatchWorld):
    made = await world.uploaded(row("folha/0001"))

    async def found(text: str, scope: CompanyScope = EVERY_COMPANY) -> list[str]:
        wanted = BatchSearch(paging=Paging(1, 10), text=text)
        listed = await world.batches.records.page(wanted, scope)
        return [each.batch.id for each in listed.items]

    assert await found("FOLHA") == [made.batch.id]
    assert await found("folha/0001") == [made.batch.id]
    assert await found("folha/0002") == []
    assert await found("%") == []
    assert await found("folha", CompanyScope(frozenset({"other"}))) == []


@both
async def test_the_approver_of_a_file_had_a_hand_in_its_payouts(world: BatchWorld):
    await world.approved(row("a"))
    await world.worker.turn()

    people = await world.store.approvals.people_of(ACCOUNT, "a")

    assert people == {MARIA.user_id, JOAO.user_id}


@both
async def test_people_who_resumed_a_file_count_as_involved_in_its_payouts(world: BatchWorld):
    """Each of them, also where somebody else let it go on again."""
    batch_id = await world.approved(row("a"), row("b"))
    for who in (EVA, BOTH):
        world.clock.passes(10)
        world.halt()
        await world.worker.turn()
        world.clock.passes(7200)
        await world.batches.resume(world.staff(who), batch_id)
    await world.worker.turn()

    people = await world.store.approvals.people_of(ACCOUNT, "a")
    key = payouts.c.account_id, payouts.c.reference_sha256
    for_stops = [
        name
        for name in ("eva", "both", "joao", "bo", "%")
        if await world.store.database.rows(select(key[0]).where(resumed_by(name, *key)))
    ]

    assert people == {each.user_id for each in (MARIA, JOAO, EVA, BOTH)}
    assert for_stops == ["eva", "both"]


async def test_people_who_approved_or_resumed_a_file_may_not_release_its_holds(world: BatchWorld):
    """They may refuse one."""
    batch_id = await world.approved(row("a"), row("b"))
    world.clock.passes(10)
    world.halt()
    await world.worker.turn()
    world.clock.passes(7200)
    await world.batches.resume(world.staff(EVA), batch_id)
    await world.worker.turn()
    until = world.clock.now() + timedelta(minutes=30)
    await world.store.database.write(update(payouts).values(state="held", held_until=until))
    decisions = HoldDecisions(
        payouts=world.node.payouts,
        payers=world.worker.payers,
        people_of_file=world.store.approvals.people_of_file,
    )

    tried = [
        await refusal(decisions.release(world.staff(who), account(), "a"))
        for who in (JOAO, EVA, MARIA)
    ]

    assert tried == ["own_file", "own_file", "permission"]
    await decisions.refuse(world.staff(JOAO), account(), "b", RefusalBody(reason="errado"))
    await decisions.release(world.staff(BOTH), account(), "a")


@both
async def test_old_files_are_forgotten_and_those_under_way_are_kept(world: BatchWorld):
    await world.uploaded(row("a"))
    running = await world.approved(row("b"))

    gone = await world.batches.records.forget(NOW + timedelta(days=1), NOW)

    assert gone == 1
    assert (await world.get(running)).batch.status == "running"


@both
async def test_drafts_are_forgotten_sooner_unless_their_order_waits(world: BatchWorld):
    draft = await world.uploaded(row("a"))
    waiting, _ = await world.ordered(row("b"))
    cancelled = await world.approved(row("c"))
    await world.stop(cancelled)

    gone = await world.batches.records.forget(NOW, NOW + timedelta(days=1))

    listed = await world.batches.page(world.staff(MARIA), BatchSearch(paging=Paging(1, 10)))
    assert gone == 1
    assert {each.id for each in listed.items} == {waiting, cancelled}
    assert draft.batch.id not in {each.id for each in listed.items}


@server_alone
async def test_a_draft_that_begins_while_drafts_are_forgotten_stays(world: BatchWorld):
    batch_id = (await world.uploaded(row("a"))).batch.id
    begins = update(batches).where(batches.c.id == batch_id).values(state="running")

    async with world.store.database.writing() as connection:
        await connection.execute(begins)
        forgetting = asyncio.create_task(world.batches.records.forget(NOW, NOW + timedelta(days=1)))
        await until_blocked(world.store)

    assert await forgetting == 0
    assert await world.stands(batch_id) == {Progress.WAITING: 1}


@both
async def test_a_company_has_twenty_files_that_were_not_ordered_at_most(world: BatchWorld):
    """Also where the last two come at once; refused files are none."""
    await world.uploaded(row("bad", "1,234"))
    for number in range(MOST_DRAFTS - 1):
        await world.uploaded(row(f"a-{number}"))

    last = (world.uploaded(row("b")), world.uploaded(row("c")))
    found = await asyncio.gather(*last, return_exceptions=True)
    refused = [each.reason for each in found if isinstance(each, ServiceError)]
    [taken] = [each for each in found if not isinstance(each, BaseException)]
    await world.stop(taken.batch.id)
    again = await world.uploaded(row("d"))

    assert refused == ["drafts_many"]
    assert again.batch.status == "draft"


async def test_a_result_has_every_row_and_no_formula(world: BatchWorld):
    world.node.bank.says = [IS_SETTLED]
    batch_id = await world.approved(row("=1+1"))
    await world.worker.turn()

    found = await world.batches.result(world.staff(MARIA), batch_id)

    text = found.first.decode("utf-8-sig")
    assert text.startswith("Linha;Referência;Valor")
    assert ";=1+1" not in text
    assert "10,50" in text
    assert "pago" in text
    assert "529.982.247-25" not in text
