"""People and chats are told once what they can act on, when they want it, while it holds."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from msgspec.structs import replace as altered
from sqlalchemy import func, insert, select, update

from gateway.app.store import Store
from gateway.banks.model import ProviderMinute
from gateway.banks.store import ProviderMinutes
from gateway.closings.model import ForeignDebit
from gateway.closings.readings import DayReading
from gateway.companies.service import add_company
from gateway.core.access import Staff
from gateway.core.approvals import Approval, ApprovalKind, ApprovalState
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope, StopScope
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.core.windows import Paging
from gateway.deliveries.sender import Sender
from gateway.identity.mail import SealedMailbox
from gateway.identity.model import Mail
from gateway.notifications.model import (
    LOOKS_BACK,
    ChatSearch,
    Choice,
    Kind,
    NewChat,
    NewSubscription,
    State,
    Way,
)
from gateway.notifications.schedule import TOGETHER
from gateway.notifications.service import Chats, Notifications
from gateway.notifications.store import CLAIM, ChoiceRecords, NotificationRecords
from gateway.notifications.watch import SENT
from gateway.outflow.envelope import Measure
from gateway.outflow.model import Trip
from gateway.outflow.store import OutflowRecords
from gateway.store.kernel.structs import row_of
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import day_readings, foreign_debits, opinions
from gateway.store.tables.figures import PLACES
from gateway.store.tables.notifications import bank_outages, notifications
from tests.contract.stores.databases import both
from tests.contract.stores.reviews import MARIA as OPINION
from tests.contract.stores.reviews import in_review
from tests.world.acts import acts_of
from tests.world.deliveries import PATIENT, Came, receiving, with_status
from tests.world.notifications import (
    ORIGIN,
    SIGNER,
    a_browser,
    add_chat,
    add_user,
    chat_sender,
    chats_of,
    encoded,
    new_id,
    push_sender,
    subscribe,
    subscriptions_of,
    watch_on,
)
from tests.world.people import somebody
from tests.world.signing_keys import SEALER
from tests.world.standing import Clock
from tests.world.stores.office import APPROVAL
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, company, event

OTHER = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"
SECOND = timedelta(seconds=1)
NIGHT = datetime(2026, 11, 21, 1, 0, tzinfo=UTC)
"""22:00 in São Paulo."""
MORNING = datetime(2026, 11, 21, 11, 0, tzinfo=UTC)
"""08:00 in São Paulo."""
EVENING = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)
"""18:00 in São Paulo."""


@pytest.fixture
def clock() -> Clock:
    return Clock(at=NOW)


async def ordered(store: Store, by: User, **changed: object) -> Approval:
    """Store an order of a payout that waits until tomorrow."""
    approval_id = new_id()
    made = replace(
        APPROVAL,
        id=approval_id,
        reference=approval_id,
        ordered_by=by.id,
        orderer=f"user:{by.email}",
        ends_at=NOW + timedelta(days=2),
    )
    made = replace(made, **changed)  # type: ignore[arg-type]
    await store.approvals.add(made, event())
    return made


async def decide(store: Store, order: Approval, state: ApprovalState, at: datetime) -> None:
    decided = replace(order, state=state, decided_by="b", decider="user:b", decided_at=at)
    assert await store.approvals.decide(decided, event())


async def mails(store: Store) -> Sequence[Mail]:
    """Read all mail, the oldest first."""
    box = SealedMailbox(store.database, SEALER)
    return [*reversed(await box.latest(50, EVERY_COMPANY))]


async def told(store: Store) -> list[str]:
    return sorted(each.to.partition("@")[0] for each in await mails(store))


async def states(store: Store) -> list[str]:
    rows = await store.database.rows(select(notifications.c.state))
    return sorted(row.state for row in rows)


async def choose(store: Store, user: User, *at_once: Kind, digest: tuple[Kind, ...] = ()) -> None:
    choice = Choice(at_once=at_once, digest=digest, push=())
    await ChoiceRecords(store.database).put(user.id, choice, event())


@both
async def test_an_order_is_mailed_once_to_each_person_who_can_decide_it(
    store: Store, second: Store, clock: Clock
):
    """Not to who ordered it, lacks the right, sees another company alone, or is disabled."""
    await add_company(store.database, company(OTHER), event())
    orderer = await add_user(store, "orderer", Role.OPERATOR, Role.APPROVER)
    decider = await add_user(store, "decider", Role.APPROVER, companies=COMPANY)
    await add_user(store, "foreign", Role.APPROVER, companies=OTHER)
    await add_user(store, "viewer", Role.VIEWER)
    gone = await add_user(store, "gone", Role.APPROVER)
    await store.identity.users.replace(replace(gone, active=False), event())
    order = await ordered(store, orderer)

    watch = watch_on(store, clock)
    for each in (watch, watch, watch_on(second, clock)):
        await each.turn()

    [mail] = await mails(store)
    assert mail.to == decider.email
    assert mail.subject == "[pixgate] Uma solicitação espera uma decisão, até 22/11 09:30"
    assert mail.text.endswith(f"\n{ORIGIN}/panel/approvals/{order.id}\n")
    [act] = [each for each in await acts_of(store) if each.event.action == SENT]
    assert act.event.subject == f"user:{decider.id}"
    assert act.event.details == {
        "way": "mail",
        "kinds": "order",
        "count": "1",
        "orders": order.id,
    }


@both
async def test_two_processes_at_once_mail_once(store: Store, second: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await add_user(store, "decider", Role.APPROVER)
    await ordered(store, orderer)

    await asyncio.gather(watch_on(store, clock).turn(), watch_on(second, clock).turn())

    assert await told(store) == ["decider"]


@both
async def test_a_mail_whose_notifications_have_ended_is_not_stored(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    decider = await add_user(store, "decider", Role.APPROVER)
    clock.at = NIGHT
    await ordered(store, orderer, ordered_at=NIGHT)
    watch = watch_on(store, clock)
    await watch.turn()
    due = await watch.records.due(Way.MAIL, MORNING)

    stored = [
        await watch.records.mail(
            watch.mailbox, watch.mailer.letter(decider, "subject", "text"), due, event()
        )
        for _ in range(2)
    ]

    assert stored == [True, False]
    assert await told(store) == ["decider"]


async def test_a_person_who_gets_the_right_later_is_notified(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    later = await add_user(store, "later", Role.VIEWER)
    await ordered(store, orderer)
    watch = watch_on(store, clock)
    await watch.turn()
    before = await told(store)

    await store.identity.users.replace(replace(later, roles=frozenset({Role.APPROVER})), event())
    await watch.turn()

    assert (before, await told(store)) == ([], ["later"])


@both
async def test_notifications_of_the_night_are_one_mail_with_one_link(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await add_user(store, "decider", Role.APPROVER)
    clock.at = NIGHT
    watch = watch_on(store, clock)
    for _ in range(2):
        await ordered(store, orderer, ordered_at=NIGHT)
        await watch.turn()
    clock.at = MORNING - SECOND
    await watch.turn()
    before = await told(store)

    clock.at = MORNING
    await watch.turn()

    [mail] = await mails(store)
    assert before == []
    assert mail.subject == "[pixgate] 2 solicitações esperam uma decisão"
    assert mail.text.count("https://") == 1


@both
async def test_orders_of_one_minute_are_two_mails(store: Store, second: Store, clock: Clock):
    """The first at once; the others together, with their number and one link to the list."""
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await add_user(store, "decider", Role.APPROVER)
    watch, orders, counts = watch_on(store, clock), [], []
    for number in range(6):
        clock.at = NOW + 3 * number * SECOND
        orders.append(await ordered(store, orderer))
        await watch.turn()
        counts.append(len(await mails(store)))
    clock.at = NOW + TOGETHER - SECOND
    await watch.turn()
    counts.append(len(await mails(store)))

    clock.at = NOW + TOGETHER
    for each in (watch_on(second, clock), watch):
        await each.turn()
    clock.at = NOW + 2 * TOGETHER
    last = await ordered(store, orderer)
    await watch.turn()

    first, others, later = await mails(store)
    assert counts == [1] * 7
    assert first.text.endswith(f"{ORIGIN}/panel/approvals/{orders[0].id}\n")
    assert others.subject == "[pixgate] 5 solicitações esperam uma decisão"
    assert others.text.endswith(f"{ORIGIN}/panel/approvals\n")
    assert later.text.endswith(f"{ORIGIN}/panel/approvals/{last.id}\n")
    recorded = [
        each.event.details["orders"] for each in await acts_of(store) if each.event.action == SENT
    ]
    ids = [each.id for each in orders]
    assert sorted(recorded) == sorted([ids[0], " ".join(sorted(ids[1:])), last.id])


async def test_grouped_notifications_delay_no_other_kind_and_nothing_that_ends(
    store: Store, clock: Clock
):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    decider = await add_user(store, "decider", Role.APPROVER)
    await choose(store, decider, Kind.ORDER, Kind.OPINION)
    await ordered(store, orderer)
    watch = watch_on(store, clock)
    await watch.turn()
    clock.at = NOW + SECOND
    await in_review(store)
    await watch.turn()
    await ordered(store, orderer, ends_at=NOW + TOGETHER)
    await watch.turn()

    subjects = [each.subject for each in await mails(store)]
    assert len(subjects) == 3
    assert ["parecer" in each for each in subjects].count(True) == 1


async def test_an_order_after_a_dropped_notification_is_notified_at_once(
    store: Store, clock: Clock
):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    decider = await add_user(store, "decider", Role.APPROVER)
    await ordered(store, orderer)
    watch = watch_on(store, clock)
    records = watch.records
    await watch.turn()
    await store.database.write(update(notifications).values(state=State.DROPPED.value))
    await ordered(store, orderer)
    await watch.turn()

    assert await told(store) == [decider.name.lower()] * 2
    assert await records.due(Way.MAIL, NOW + TOGETHER) == []


async def test_an_order_decided_in_the_night_is_not_notified(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await add_user(store, "decider", Role.APPROVER)
    clock.at = NIGHT
    order = await ordered(store, orderer, ordered_at=NIGHT)
    watch = watch_on(store, clock)
    await watch.turn()

    await decide(store, order, ApprovalState.REJECTED, NIGHT)
    clock.at = MORNING
    await watch.turn()

    assert await told(store) == []
    assert await states(store) == [State.DROPPED]


async def test_a_person_who_lost_the_right_in_the_night_is_not_notified(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    decider = await add_user(store, "decider", Role.APPROVER)
    clock.at = NIGHT
    await ordered(store, orderer, ordered_at=NIGHT)
    watch = watch_on(store, clock)
    await watch.turn()

    await store.identity.users.replace(replace(decider, roles=frozenset({Role.VIEWER})), event())
    clock.at = MORNING
    await watch.turn()

    assert await told(store) == []
    assert await states(store) == [State.DROPPED]


async def test_an_order_that_ends_before_the_morning_is_notified_in_the_night(
    store: Store, clock: Clock
):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await add_user(store, "decider", Role.APPROVER)
    clock.at = NIGHT
    await ordered(store, orderer, ordered_at=NIGHT, ends_at=MORNING)

    await watch_on(store, clock).turn()

    assert await told(store) == ["decider"]


async def test_a_digest_is_one_mail_in_the_evening(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    decider = await add_user(store, "decider", Role.APPROVER)
    await choose(store, decider, digest=(Kind.ORDER,))
    watch = watch_on(store, clock)
    for _ in range(2):
        await ordered(store, orderer)
    await watch.turn()
    before = await told(store)

    clock.at = EVENING
    await watch.turn()

    [mail] = await mails(store)
    assert before == []
    assert mail.subject == "[pixgate] 2 solicitações esperam uma decisão"


async def test_nothing_is_mailed_to_a_person_who_chose_nothing(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    decider = await add_user(store, "decider", Role.APPROVER)
    await choose(store, decider)
    await ordered(store, orderer)

    await watch_on(store, clock).turn()

    assert await states(store) == []


async def test_a_secret_to_collect_notifies_its_orderer_alone(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.SECURITY)
    other = await add_user(store, "other", Role.SECURITY)
    for each in (orderer, other):
        await choose(store, each, Kind.SECRET)
    kind = ApprovalKind.CREDENTIAL_ISSUE
    order = await ordered(store, orderer, kind=kind, account_id=None, centavos=None)
    await decide(store, order, ApprovalState.APPROVED, NOW)

    clock.at = NOW + timedelta(minutes=14)
    watch = watch_on(store, clock)
    await watch.turn()

    [mail] = await mails(store)
    assert mail.to == orderer.email
    assert mail.subject == "[pixgate] Um segredo espera para ser retirado, até 20/11 09:45"


@both
async def test_an_opinion_is_wanted_of_people_who_have_given_none(store: Store, clock: Clock):
    maria = await add_user(store, "maria", Role.APPROVER)
    joao = await add_user(store, "joao", Role.APPROVER)
    for each in (maria, joao):
        await choose(store, each, Kind.OPINION)
    await in_review(store)
    given = row_of(replace(OPINION, by=f"user:{maria.email}"))
    row = {each.name: given.get(each.name) for each in opinions.c}
    row["reference_sha256"] = reference_digest(OPINION.reference)
    await store.database.write(insert(opinions), row)

    await watch_on(store, clock).turn()

    [mail] = await mails(store)
    assert mail.to == joao.email
    assert mail.text.endswith(f"{ORIGIN}/panel/unresolved\n")


async def test_occasions_older_than_thirty_days_are_not_notified(store: Store, clock: Clock):
    """The worker was away: a review and an outage are open as they were."""
    approver = await add_user(store, "approver", Role.APPROVER)
    for each in (approver, await add_user(store, "viewer", Role.VIEWER)):
        await choose(store, each, Kind.OPINION, Kind.BANK)
    await in_review(store)
    outage = {"provider": "sandbox", "since": NOW, "until": None}
    await store.database.write(insert(bank_outages), outage)
    clock.at = NOW + LOOKS_BACK + timedelta(hours=1)
    late = watch_on(store, clock)
    await late.turn()
    after = await mails(store)

    clock.at = NOW + LOOKS_BACK - timedelta(hours=1)
    await late.turn()

    assert after == []
    assert await told(store) == ["approver", "viewer"]


def trip(**changed: object) -> Trip:
    made = Trip(
        id=new_id(),
        company_id=COMPANY,
        scope=StopScope.COMPANY,
        subject=COMPANY,
        measure=Measure.NEW_MONEY,
        window_s=300,
        value=9_876_543,
        bound=1_234_567,
        above=0,
        at=NIGHT,
        seen_at=NIGHT,
        stop_id=None,
    )
    return altered(made, **changed)


async def test_payouts_outside_the_envelope_are_notified_in_the_night(store: Store, clock: Clock):
    await add_user(store, "operator", Role.OPERATOR, companies=COMPANY)
    await add_user(store, "viewer", Role.VIEWER)
    clock.at = NIGHT
    async with store.database.writing() as connection:
        await OutflowRecords(store.database).trip(connection, trip())
        await OutflowRecords(store.database).trip(connection, trip(stop_id="lifted"))

    await watch_on(store, clock).turn()

    [mail] = await mails(store)
    assert mail.to == "operator@example.com"
    assert mail.text.endswith(f"{ORIGIN}/panel/outflow/company/{COMPANY}\n")
    assert "fora do padrão" in mail.subject


async def test_unmatched_debits_and_open_days_notify_people_who_can_sign(
    store: Store, clock: Clock
):
    approver = await add_user(store, "approver", Role.APPROVER)
    operator = await add_user(store, "operator", Role.OPERATOR)
    for each in (approver, operator):
        await choose(store, each, Kind.FOREIGN_DEBIT, Kind.DAY)
    day = datetime(2026, 11, 19, tzinfo=UTC).date()
    debit = ForeignDebit(
        account_id=ACCOUNT,
        line_id="line-1",
        day=day,
        at=NOW,
        centavos=5,
        name="",
        description="",
        e2e_id="",
        provider_key="",
        found_at=NOW,
    )
    await store.database.write(insert(foreign_debits), row_of(debit))
    ready = DayReading(account_id=ACCOUNT, day=day, read_at=NOW, tried_at=NOW)
    await store.database.write(insert(day_readings), {**row_of(ready), "lines": "[]"})

    watch = watch_on(store, clock)
    await watch.turn()

    [mail] = await mails(store)
    assert mail.to == approver.email
    assert "Um débito no banco não tem pagamento nosso" in mail.text
    assert "O dia 2026-11-19 pode ser assinado" in mail.text


async def test_a_day_that_differs_is_no_day_to_sign(store: Store, clock: Clock):
    approver = await add_user(store, "approver", Role.APPROVER)
    await choose(store, approver, Kind.DAY)
    day = datetime(2026, 11, 19, tzinfo=UTC).date()
    differs = DayReading(account_id=ACCOUNT, day=day, differences=1, read_at=NOW, tried_at=NOW)
    await store.database.write(insert(day_readings), {**row_of(differs), "lines": "[]"})

    await watch_on(store, clock).turn()

    assert await mails(store) == []


async def calls(store: Store, at: datetime, ok: int) -> None:
    minute = ProviderMinute(
        provider="sandbox",
        operation="get_balance",
        minute=at,
        calls=4,
        ok=ok,
        last_failure="timeout",
        took=[0] * PLACES,
    )
    await ProviderMinutes(store.database).add(f"w{at}{ok}", [minute])


@both
async def test_the_end_of_an_outage_notifies_the_people_notified_of_its_beginning(
    store: Store, clock: Clock
):
    first = await add_user(store, "first", Role.VIEWER, companies=COMPANY)
    await choose(store, first, Kind.BANK)
    minute = NOW.replace(second=0, microsecond=0)
    watch = watch_on(store, clock)
    await calls(store, minute - timedelta(minutes=1), 1)
    await watch.turn()
    await watch.turn()
    second = await add_user(store, "second", Role.VIEWER)
    clock.at = NOW + timedelta(minutes=4)
    await calls(store, minute + timedelta(minutes=3), 4)
    await watch.turn()
    await choose(store, second, Kind.BANK)
    await watch.turn()

    down, back = await mails(store)
    assert [down.to, back.to] == [first.email] * 2
    assert down.subject == "[pixgate] As chamadas ao banco sandbox falham"
    assert back.subject == "[pixgate] O banco sandbox voltou a responder"


@both
async def test_a_chat_is_notified_of_its_company_without_amount_and_name(
    store: Store, clock: Clock
):
    await add_company(store.database, company(OTHER), event())
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    order = await ordered(store, orderer)
    async with receiving() as receiver:
        of_company = await add_chat(store, receiver.url + "/company", company_id=COMPANY)
        await add_chat(store, receiver.url + "/other", company_id=OTHER)
        await add_chat(store, receiver.url + "/operators")
        await add_chat(store, receiver.url + "/banks", Kind.BANK)
        woken: list[Collection[Way]] = []
        watch = watch_on(store, clock, wake_calls=woken.append)
        sender = chat_sender(store, clock)

        for _ in range(2):
            await watch.turn()
            await sender.turn()
        await sender.channel.sender.close()

    assert woken == [{Way.CHAT}, set()]
    assert sorted(each.path for each in receiver.came) == ["/events/company", "/events/operators"]
    said = orjson.loads(receiver.came[0].body)["text"]
    assert said == (
        "An order waits for a decision, until 2026-11-22 09:30 (São Paulo)\n"
        f"{ORIGIN}/panel/approvals/{order.id}"
    )
    acts = [each for each in await acts_of(store) if each.event.action == SENT]
    own = await acts_of(store, CompanyScope(frozenset({COMPANY})))
    assert len(acts) == 2
    assert [each.event.subject for each in own if each.event.action == SENT] == [
        of_company.recipient
    ]
    assert (await chats_of(store).visible(EVERY_COMPANY))[0].last_ok_at == NOW


async def test_a_chat_that_fails_is_written_to_again_as_long_as_it_holds(
    store: Store, clock: Clock
):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    kept, decided = await ordered(store, orderer), await ordered(store, orderer)
    async with receiving(with_status(500), with_status(204)) as receiver:
        await add_chat(store, receiver.url)
        sender = chat_sender(store, clock)
        await watch_on(store, clock).turn()
        await sender.turn()
        [failing] = await chats_of(store).visible(EVERY_COMPANY)
        await sender.turn()
        tried = len(receiver.came)

        await decide(store, decided, ApprovalState.REJECTED, NOW)
        clock.passes(5)
        await sender.turn()
        await sender.channel.sender.close()

    [chat] = await chats_of(store).visible(EVERY_COMPANY)
    assert (tried, failing.failing_since, chat.failing_since) == (1, NOW, None)
    assert kept.id in orjson.loads(receiver.came[1].body)["text"]
    assert await states(store) == [State.DROPPED, State.SENT]


async def test_a_chat_that_wants_no_more_is_given_up(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await ordered(store, orderer)
    async with receiving(with_status(410)) as receiver:
        await add_chat(store, receiver.url)
        sender = chat_sender(store, clock)
        await watch_on(store, clock).turn()

        await sender.turn()
        await sender.channel.sender.close()

    assert await states(store) == [State.FAILED]


async def test_a_chat_is_never_called_inward(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await ordered(store, orderer)
    async with receiving() as receiver:
        await add_chat(store, "https://chat.example/services/x")
        inward = replace(PATIENT, allow_local=False, look_up=lambda _host: ("127.0.0.1",))
        sender = chat_sender(store, clock, inward)
        await watch_on(store, clock).turn()

        await sender.turn()
        await sender.channel.sender.close()

    [chat] = await chats_of(store).visible(EVERY_COMPANY)
    assert receiver.came == []
    assert chat.failing_since == NOW


@both
async def test_a_claim_is_held_by_one_process_until_it_ends(
    store: Store, second: Store, clock: Clock
):
    """A process that died with it leaves the message to another."""
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await ordered(store, orderer)
    async with receiving() as receiver:
        await add_chat(store, receiver.url)
        await watch_on(store, clock).turn()
        records, others = (NotificationRecords(each.database) for each in (store, second))
        due = await records.due(Way.CHAT, NOW)
        claims = await asyncio.gather(records.claim(due, NOW), others.claim(due, NOW))
        sender = chat_sender(second, clock)
        await sender.turn()
        before = len(receiver.came)

        clock.at = NOW + CLAIM
        await sender.turn()
        await sender.channel.sender.close()

    assert sorted(map(len, claims)) == [0, 1]
    assert (before, len(receiver.came)) == (0, 1)


@both
async def test_each_browser_of_a_person_is_pushed_what_it_alone_can_read(
    store: Store, clock: Clock
):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    decider = await add_user(store, "decider", Role.APPROVER)
    order = await ordered(store, orderer)
    telephone, desk = a_browser(), a_browser()
    async with receiving(with_status(201)) as service_of_browser:
        kept = await subscribe(store, decider, service_of_browser.url + "/1", telephone)
        await subscribe(store, decider, service_of_browser.url + "/2", desk)
        await subscribe(store, orderer, service_of_browser.url + "/3", a_browser())
        watch, sender = watch_on(store, clock), push_sender(store, clock)

        for _ in range(2):
            await watch.turn()
            await sender.turn()
        await sender.channel.sender.close()

    came = sorted(service_of_browser.came, key=lambda each: each.path)
    assert [each.path for each in came] == ["/events/1", "/events/2"]
    said, other = (
        orjson.loads(browser.read(each.body))
        for browser, each in zip((telephone, desk), came, strict=True)
    )
    assert said == other
    assert said["body"] == "Uma solicitação espera uma decisão, até 22/11 09:30"
    assert said["link"] == f"{ORIGIN}/panel/approvals/{order.id}"
    assert headers_of(came[0]) == {
        "Content-Encoding": "aes128gcm",
        "TTL": "43200",
        "Urgency": "normal",
    }
    browsers = await subscriptions_of(store).of(decider.id)
    assert {each.id: each.last_ok_at for each in browsers}[kept.id] == NOW
    ways = [each.event.details["way"] for each in await acts_of(store) if each.event.action == SENT]
    assert sorted(ways) == ["mail", "push"]


def headers_of(came: Came) -> dict[str, str]:
    assert came.headers["Authorization"].startswith("vapid t=")
    return {name: came.headers[name] for name in ("Content-Encoding", "TTL", "Urgency")}


@pytest.mark.parametrize("status", [404, 410])
async def test_a_subscription_that_ended_is_forgotten(store: Store, clock: Clock, status: int):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    decider = await add_user(store, "decider", Role.APPROVER)
    await ordered(store, orderer)
    async with receiving(with_status(status)) as service_of_browser:
        await subscribe(store, decider, service_of_browser.url, a_browser())
        await watch_on(store, clock).turn()
        sender = push_sender(store, clock)

        await sender.turn()
        await sender.channel.sender.close()

    assert await subscriptions_of(store).of(decider.id) == []


@both
async def test_a_browser_is_subscribed_once_and_the_oldest_goes(store: Store):
    maria = await add_user(store, "maria", Role.APPROVER)
    joao = await add_user(store, "joao", Role.APPROVER)
    browser = a_browser()
    url = "https://push.example.com/"
    await subscribe(store, maria, f"{url}shared", browser)
    shared = await subscribe(store, joao, f"{url}shared", browser)
    made = [await subscribe(store, maria, f"{url}{number}", browser) for number in range(11)]

    kept = await subscriptions_of(store).of(maria.id)
    assert await subscriptions_of(store).of(joao.id) == [shared]
    assert len(kept) == 10
    assert made[-1] in kept


async def test_the_end_of_all_sessions_of_a_person_ends_their_browsers(store: Store):
    """One may have been subscribed by somebody with a copy of a session."""
    maria = await add_user(store, "maria", Role.APPROVER)
    joao = await add_user(store, "joao", Role.APPROVER)
    await subscribe(store, maria, "https://push.example.com/1", a_browser())
    his = await subscribe(store, joao, "https://push.example.com/2", a_browser())

    sessions = store.identity.sessions
    await sessions.end_all(maria.id, NOW, "by_owner", "this one", event())
    kept = await subscriptions_of(store).of(maria.id)
    await sessions.end_all(maria.id, NOW, "password", "", event())

    assert len(kept) == 1
    assert await subscriptions_of(store).of(maria.id) == []
    assert await subscriptions_of(store).of(joao.id) == [his]


@pytest.mark.parametrize(
    "changed",
    [
        {"endpoint": "http://push.example.com/x"},
        {"endpoint": "https://127.0.0.1/x"},
        {"public": encoded(b"\x04" + b"1" * 64)},
        {"public": "ção"},
        {"auth": encoded(b"short")},
    ],
)
async def test_an_unusable_subscription_is_refused(store: Store, changed: dict[str, str]):
    maria = await add_user(store, "maria", Role.APPROVER)
    browser = a_browser()
    wanted = NewSubscription(
        endpoint="https://push.example.com/x",
        public=encoded(browser.public),
        auth=encoded(browser.auth),
    )
    who = Staff(AuditContext("user:maria", lambda: NOW), person=somebody(user_id=maria.id))

    with pytest.raises(RuleViolation):
        await service(store).subscribe(who, altered(wanted, **changed), "Firefox")
    off = replace(service(store), push_key="")
    with pytest.raises(RuleViolation):
        await off.subscribe(who, wanted, "Firefox")
    await service(store).subscribe(who, wanted, "Firefox")

    [kept] = await service(store).browsers(who)
    assert kept.browser == "Firefox"
    with pytest.raises(ServiceError):
        await service(store).unsubscribe(
            Staff(AuditContext("user:joao", lambda: NOW), person=somebody(user_id="other")), kept.id
        )
    await service(store).unsubscribe(who, kept.id)
    assert await service(store).browsers(who) == []


def service(store: Store) -> Notifications:
    return Notifications(
        choices=ChoiceRecords(store.database),
        subscriptions=subscriptions_of(store),
        push_key=SIGNER.public,
        allow_local=False,
        new_id=new_id,
    )


def chats(store: Store, *, allow_local: bool = False) -> Chats:
    clock = Clock(at=NOW)
    return Chats(
        database=store.database,
        records=chats_of(store),
        new_sender=lambda: Sender(PATIENT, clock.now, clock.monotonic),
        origin=ORIGIN,
        allow_local=allow_local,
        new_id=new_id,
    )


WANTED = NewChat(
    name="Financeiro", webhook="https://hooks.example.com/services/T0/B0/x", kinds=(Kind.ORDER,)
)
ADMIN = Staff(AuditContext("cli", lambda: NOW))
LIMITED = Staff(AuditContext("cli", lambda: NOW), CompanyScope(frozenset({COMPANY})))


async def test_an_address_of_a_chat_is_sealed_and_only_its_host_is_kept_in_clear(store: Store):
    chat = await chats(store).add(ADMIN, WANTED)

    rows = await store.database.rows(select(func.count()).select_from(notifications))
    listed = await chats(store).list(ADMIN)
    assert rows[0][0] == 0
    assert listed == [chat]
    assert (chat.host, chat.company_id) == ("hooks.example.com", None)
    assert await chats_of(store).url(chat) == WANTED.webhook
    assert "T0" not in str([each.event.details for each in await acts_of(store)])


@pytest.mark.parametrize(("status", "failure"), [(200, ""), (404, "status"), (410, "gone")])
async def test_a_test_message_says_whether_a_chat_takes_messages(
    store: Store, status: int, failure: str
):
    """It has one link and no content, and is on record; another company's chat is none."""
    async with receiving(with_status(status)) as receiver:
        service = chats(store, allow_local=True)
        chat = await service.add(ADMIN, altered(WANTED, webhook=receiver.url))
        tried = await service.send_test(ADMIN, chat.id)
        with pytest.raises(ServiceError):
            await service.send_test(LIMITED, chat.id)

    [came] = receiver.came
    [shown] = (await service.page(ADMIN, ChatSearch(Paging(page=1, limit=10)))).items
    act = (await acts_of(store))[-1].event
    assert orjson.loads(came.body) == {
        "text": f"Teste do pixgate: os avisos chegam a este chat\n{ORIGIN}/panel/chats"
    }
    assert (tried.status, tried.failure) == (status, failure)
    assert (shown.last_ok_at, shown.failing_since) == ((NOW, None) if not failure else (None, NOW))
    assert (act.action, act.details["outcome"]) == ("chat.tried", failure or "ok")


async def test_chats_are_within_the_companies_of_who_adds_them(store: Store):
    await add_company(store.database, company(OTHER), event())
    own = altered(WANTED, company_id=COMPANY)
    operators = await chats(store).add(ADMIN, WANTED)

    chat = await chats(store).add(LIMITED, own)
    for wanted in (WANTED, altered(WANTED, company_id=OTHER)):
        with pytest.raises(RuleViolation) as refused:
            await chats(store).add(LIMITED, wanted)
        assert refused.value.reason == "company_unknown"
    with pytest.raises(ServiceError):
        await chats(store).remove(LIMITED, operators.id)

    assert await chats(store).list(LIMITED) == [chat]
    await chats(store).remove(LIMITED, chat.id)
    assert await chats(store).list(ADMIN) == [operators]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"webhook": "http://hooks.example.com/x"}, "webhook"),
        ({"webhook": "https://10.0.0.1/x"}, "webhook"),
        ({"kinds": []}, "kinds"),
        ({"kinds": [Kind.SECRET]}, "kinds"),
        ({"language": "fr"}, "language"),
        ({"name": " "}, "name"),
    ],
)
async def test_an_unusable_chat_is_refused(store: Store, changed: dict[str, object], field: str):
    with pytest.raises(RuleViolation) as refused:
        await chats(store).add(ADMIN, altered(WANTED, **changed))

    assert refused.value.field == field


async def test_notifications_are_forgotten_after_their_time(store: Store, clock: Clock):
    orderer = await add_user(store, "orderer", Role.OPERATOR)
    await add_user(store, "decider", Role.APPROVER)
    await ordered(store, orderer)
    await watch_on(store, clock).turn()
    records = NotificationRecords(store.database)

    assert await records.forget(NOW) == 0
    assert await records.forget(NOW + SECOND) == 1
