"""Callbacks: taken once, looked into, never believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.backoffice.callbacks import (
    Callback,
    CallbackSearch,
    CallbackState,
)
from gateway.domain.bank.capabilities import Capabilities, PortCall
from gateway.domain.bank.provider_callbacks import CallbackKind, Delivery, NamedBy, Notice
from gateway.domain.bank.providers import NotFound, Unavailable
from gateway.domain.kernel import errors
from gateway.domain.kernel.company_scope import EVERY_COMPANY
from gateway.domain.kernel.headers import NO_HEADERS
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.events import PayoutEvent, probed
from gateway.domain.payouts.payouts import Payout, PayoutState
from gateway.operations.backoffice.callback_accounts import CallbackAccounts
from gateway.operations.backoffice.callbacks import (
    AddressedDelivery,
    CallbackAddress,
    CallbackLooks,
    Reception,
)
from gateway.operations.payouts.looks import Hear
from tests.unit.people import account
from tests.unit.refusals import refused
from tests.unit.standing import NOON, Clock
from tests.world import registers
from tests.world.registers import Registers

PAYOUT = Notice(event="e", kind=CallbackKind.PAYOUT, subject="key", account="")


class Proof:
    """Believes whom it is told to, and says what it is told to."""

    rests = frozenset({"", "pix"})

    def __init__(self) -> None:
        self.says: object = [PAYOUT]

    @property
    def notice(self) -> Notice:
        return PAYOUT

    @notice.setter
    def notice(self, notice: Notice) -> None:
        self.says = [notice]

    async def check(self, _came: Delivery) -> Sequence[Notice] | None:
        if isinstance(self.says, Exception):
            raise self.says
        return self.says  # type: ignore[return-value] # nonsense too


@dataclass
class Standing:
    """What a payout is, as far as callbacks care."""

    provider: str = "p"
    state: PayoutState = PayoutState.ACCEPTED
    account_id: str = "acc"
    held: bool = False
    reference: str = "order-1"
    attempt: int = 1

    def is_held(self, _now: object) -> bool:
        return self.held


@dataclass
class Hall:
    """A reception, and whoever looks into what it took."""

    office: Registers
    clock: Clock
    proof: Proof = field(default_factory=Proof)
    counted: Counter[str] = field(default_factory=Counter)
    rung: int = 0
    known: Standing | None = None
    looked: int = 0
    named: list[str] = field(default_factory=list)
    becomes: PayoutState = PayoutState.PAID
    becomes_held: bool = False
    says: list[str] = field(default_factory=list)
    shows: list[bool] = field(default_factory=list)
    looked_back: int = 0
    paid: list[object] = field(default_factory=list)

    async def take(
        self, token: str = "right", provider: str = "p", rest: str = "", body: bytes = b"body"
    ) -> None:
        """Bring something."""
        reception = Reception(
            store=self.office.store.office.callbacks,
            addresses={"p": CallbackAddress(proof=self.proof, tokens=("right", "former"))},
            now=self.clock.now,
            new_id=self.office.new_id,
            count=lambda _event, label: self.counted.update([label]),
            wake=self.ring,
        )
        delivery = Delivery(headers=NO_HEADERS, body=body, rest=rest)
        await reception.take(AddressedDelivery(provider=provider, token=token, delivery=delivery))

    def ring(self) -> None:
        self.rung += 1

    async def turn(self, accounts: Any = None, banks: Any = None) -> Callback:
        """Look into what is due; return the one callback there is."""
        looks = CallbackLooks(
            store=self.office.store.office.callbacks,
            accounts=accounts or self.office.store.accounts,
            owners=CallbackAccounts(accounts or self.office.store.accounts, banks or self),
            follow_ups=self,  # type: ignore[arg-type] # only find_by_key is called
            banks=banks or self,
            look=self.look,
            look_back=self.look_back,
            paid=lambda account, payment: self.paid.append((account, payment)),
            now=self.clock.now,
        )
        await looks.turn()
        (one,) = await self.all()
        return one

    async def all(self) -> list[Callback]:
        search = CallbackSearch(paging=Paging(1, 100))
        return list((await self.office.store.office.callbacks.search(search, EVERY_COMPANY))[0])

    async def find_by_key(self, _key: str) -> Payout | None:
        return self.known  # type: ignore[return-value] # as much of one as is asked for

    async def look_back(self, _payout: Payout, _account: object) -> bool:
        self.looked_back += 1
        return self.shows.pop(0)

    async def look(self, payout: Payout, named: str, hear: Hear) -> Payout:
        self.named.append(named)
        for found in self.says:
            hear(probed(payout, found, NOON, NOON, {}))
        self.looked += 1
        return Standing(payout.provider, self.becomes, held=self.becomes_held)  # type: ignore[return-value]


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    async with registers.opened(tmp_path) as office:
        yield Hall(office, Clock())


async def test_what_is_proven_is_stored_once(hall: Hall):
    for _ in range(3):
        await hall.take()

    (one,) = await hall.all()
    assert (one.event, one.subject, one.body) == ("e", "key", b"body")
    assert one.state is CallbackState.RECEIVED
    assert hall.counted == {"taken": 1, "repeated": 2}
    assert hall.rung == 1


async def test_what_has_no_name_is_known_by_its_body(hall: Hall):
    hall.proof.notice = replace(PAYOUT, event="")

    await hall.take()
    await hall.take()

    (one,) = await hall.all()
    assert len(one.event) == 64


@pytest.mark.parametrize(("token", "provider"), [("wrong", "p"), ("right", "other")])
async def test_what_is_not_proven_is_counted_and_gone(hall: Hall, token: str, provider: str):
    with refused(errors.CREDENTIALS_INVALID):
        await hall.take(token, provider)

    assert await hall.all() == []
    assert hall.counted == {"forged": 1}


async def test_a_former_address_goes_on_answering(hall: Hall):
    await hall.take("former")

    assert hall.counted == {"taken": 1}


async def test_a_step_that_the_bank_adds_is_taken_and_no_other(hall: Hall):
    await hall.take(rest="pix")

    with refused(errors.ROUTE_UNKNOWN):
        await hall.take(rest="other")
    with refused(errors.CREDENTIALS_INVALID):
        await hall.take("wrong", rest="other")
    assert len(await hall.all()) == 1


async def test_several_things_in_one_body_are_kept_apart(hall: Hall):
    """Each with its own part: the rest may be of another company."""
    one = Notice(event="", kind=CallbackKind.CHARGE, subject="r1", account="a", part=b"[1]")
    hall.proof.says = [
        one,
        replace(one, subject="r2", account="b", part=b"[2]"),
        replace(one, subject="r3", part=b""),
    ]

    await hall.take()
    await hall.take()

    kept = await hall.all()
    found = sorted((each.subject, each.account, each.body) for each in kept)
    assert found == [("r1", "a", b"[1]"), ("r2", "b", b"[2]"), ("r3", "a", b"")]
    assert len({each.event for each in kept}) == 3
    assert hall.counted == {"taken": 3, "repeated": 3}


async def test_one_that_says_nothing_is_taken_and_not_kept(hall: Hall):
    """The test that some banks send when an address is registered."""
    hall.proof.says = []

    await hall.take()

    assert await hall.all() == []
    assert hall.counted == {}


@pytest.mark.parametrize(
    "says",
    [
        Unavailable("timeout"),
        KeyError("canary"),
        ["canary"],
        [replace(PAYOUT, subject=7)],  # type: ignore[arg-type]
        [replace(PAYOUT, kind="payout")],  # type: ignore[arg-type]
        [PAYOUT, None],
    ],
    ids=["no-keys", "raises", "text", "number", "word", "one-of-two"],
)
async def test_a_proof_that_fails_is_no_proof_and_no_mistake_of_the_bank(
    hall: Hall, says: object, caplog: pytest.LogCaptureFixture
):
    """The bank repeats it; nobody is told of a forgery."""
    hall.proof.says = says

    with refused(errors.CREDENTIALS_INVALID):
        await hall.take()

    assert (await hall.all(), hall.counted) == ([], {"unproven": 1})
    assert "canary" not in caplog.text


@pytest.mark.parametrize("text", ["a\x00", "x" * 1025, "\ud800"])
async def test_a_text_that_cannot_be_stored_is_left_out(hall: Hall, text: str):
    hall.proof.notice = replace(PAYOUT, event=text, subject=text, account=text)

    await hall.take()

    (one,) = await hall.all()
    assert (one.subject, one.account, len(one.event)) == ("", "", 64)


async def test_a_payout_is_read_at_its_bank(hall: Hall):
    hall.known = Standing()
    await hall.take()

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.DONE, 1)


async def events(hall: Hall) -> Sequence[PayoutEvent]:
    return await hall.office.store.payout_events.of("acc", "order-1")


async def test_a_callback_and_each_look_that_moves_nothing_are_events_of_the_payout(hall: Hall):
    """Noticed once, when it is known whose it is; what moves the payout is told by its own step."""
    hall.known = Standing()
    hall.becomes, hall.says = PayoutState.ACCEPTED, ["accepted"]
    await hall.take()

    await hall.turn(Accounts())
    hall.clock.passes(2)
    hall.becomes, hall.says = PayoutState.PAID, []
    await hall.turn(Accounts())

    assert [each.kind.value for each in await events(hall)] == ["noticed", "probed"]


@pytest.mark.parametrize(("told", "named"), [("tra_1", "tra_1"), ("", ""), ("x" * 129, "")])
async def test_the_bank_s_id_of_a_payout_goes_to_who_looks(hall: Hall, told: str, named: str):
    """Some banks find a payout by nothing else, and the answer that had it may be lost."""
    hall.known = Standing()
    hall.proof.notice = replace(PAYOUT, provider_id=told)
    await hall.take()

    await hall.turn()

    assert hall.named == [named]


@pytest.mark.parametrize(("provider", "company"), [("p", "company-1"), ("another", "")])
async def test_a_callback_is_of_the_company_whose_payout_it_speaks_of(
    hall: Hall, provider: str, company: str
):
    """A bank that names another bank's payout shows nothing to anybody."""
    hall.known = Standing(provider=provider)
    await hall.take()

    await hall.turn(Accounts())

    assert (await hall.all())[0].company_id == company


async def test_a_final_payout_is_left_alone(hall: Hall):
    hall.known = Standing(state=PayoutState.PAID)
    await hall.take()

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.DONE, 0)


async def test_a_bank_speaks_of_its_own_payouts_alone(hall: Hall):
    hall.known = Standing(provider="another")
    await hall.take()

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.RECEIVED, 0)


async def test_what_nobody_knows_is_waited_for_and_then_ignored(hall: Hall):
    """Later each time; the callback may be quicker than the bank's answer."""
    await hall.take()

    tries = 0
    while (one := await hall.turn()).state is CallbackState.RECEIVED:
        assert one.due_at is not None
        waits_s = (one.due_at - hall.clock.now()).total_seconds()
        assert waits_s == 2 * 2**tries
        hall.clock.passes(waits_s)
        tries += 1

    assert (one.state, one.tries, one.due_at) == (CallbackState.IGNORED, 6, None)


async def test_a_payout_that_is_not_settled_yet_is_looked_at_again(hall: Hall):
    hall.known, hall.becomes = Standing(), PayoutState.ACCEPTED
    await hall.take()
    await hall.turn()
    hall.becomes = PayoutState.PAID
    hall.clock.passes(2)

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.DONE, 2)


async def test_a_payout_that_the_bank_holds_is_left_to_its_own_schedule(hall: Hall):
    hall.known, hall.becomes, hall.becomes_held = Standing(), PayoutState.ACCEPTED, True
    await hall.take()

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.DONE, 1)


RETURN = replace(PAYOUT, kind=CallbackKind.RETURN)


class People:
    """Every account there is."""

    async def find(self, _account_id: str) -> object:
        return account()


@pytest.mark.parametrize(("before", "looked"), [(PayoutState.PAID, 0), (PayoutState.ACCEPTED, 1)])
async def test_a_return_is_looked_for_once_the_payout_is_paid(
    hall: Hall, before: PayoutState, looked: int
):
    """The one look at a payout that has settled."""
    hall.proof.notice, hall.known, hall.shows = RETURN, Standing(state=before), [True]
    await hall.take()

    one = await hall.turn(accounts=People())

    assert (one.state, one.kind) == (CallbackState.DONE, CallbackKind.RETURN)
    assert (hall.looked, hall.looked_back) == (looked, 1)


async def test_a_return_that_the_bank_does_not_show_yet_is_looked_for_again_for_a_while(
    hall: Hall,
):
    hall.proof.notice, hall.known = RETURN, Standing(state=PayoutState.PAID)
    hall.shows = [False] * 6
    await hall.take()

    states = []
    for _ in range(7):
        states.append((await hall.turn(accounts=People())).state)
        hall.clock.passes(3600)

    assert states == [CallbackState.RECEIVED] * 5 + [CallbackState.DONE] * 2
    assert hall.looked_back == 6


async def test_a_settled_payout_is_not_looked_at_for_any_other_callback(hall: Hall):
    """Its own settlement is told too, and must not cost a look at the bank."""
    hall.known = Standing(state=PayoutState.PAID)
    await hall.take()

    one = await hall.turn(accounts=People())

    assert (one.state, hall.looked, hall.looked_back) == (CallbackState.DONE, 0, 0)


class Bank:
    """A bank with one charge."""

    capabilities = Capabilities(calls=frozenset({PortCall.GET_CHARGE_PAYMENT}))

    def __init__(self, problem: Exception | None) -> None:
        self.problem = problem
        self.adapter = self.account = self
        self.asked: list[str] = []

    def of(self, _account: object) -> Bank:
        return self

    async def get_charge_payment(self, _account: object, reference: str) -> None:
        self.asked.append(reference)
        if self.problem:
            raise self.problem


class Accounts:
    """One account at the bank."""

    provider, provider_account, company_id = "p", "acc", "company-1"

    async def find(self, account_id: str) -> Accounts | None:
        return self if account_id == "acc" else None

    async def find_at(self, provider: str, named: str) -> Accounts | None:
        known = (self.provider, self.provider_account)
        return self if (provider, named) == known else None


@pytest.mark.parametrize(
    ("problem", "state"),
    [
        (None, CallbackState.DONE),
        (NotFound("x"), CallbackState.RECEIVED),
        (Unavailable("x"), CallbackState.RECEIVED),
    ],
)
async def test_a_charge_is_read_at_its_bank(
    hall: Hall, problem: Exception | None, state: CallbackState
):
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="acc")
    bank = Bank(problem)
    await hall.take()

    one = await hall.turn(Accounts(), bank)

    assert (one.state, bank.asked) == (state, ["r"])
    assert (await hall.all())[0].company_id == "company-1"


async def test_a_mistake_with_one_does_not_keep_the_others_from_their_look(
    hall: Hall, caplog: pytest.LogCaptureFixture
):
    """They are claimed together: it would come first again, and again."""
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="acc")
    bank = Bank(RuntimeError("ours"))
    await hall.take()
    states = []

    for tries in range(6):
        states.append((await hall.turn(Accounts(), bank)).state)
        hall.clock.passes(2 * 2**tries)

    assert states == [CallbackState.RECEIVED] * 5 + [CallbackState.FAILED]
    assert "callback_look_failed id=" in caplog.text


async def test_a_store_that_is_away_leaves_a_callback_as_it_is(hall: Hall):
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="acc")
    await hall.take()

    with pytest.raises(StoreUnavailable):
        await hall.turn(Accounts(), Bank(StoreUnavailable("away")))

    (one,) = await hall.all()
    assert (one.state, one.tries) == (CallbackState.RECEIVED, 0)


async def test_a_charge_of_no_account_of_ours_is_ignored_in_the_end(hall: Hall):
    """The account may be made a moment later."""
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="other")
    await hall.take()
    states = []

    for tries in range(6):
        states.append((await hall.turn(Accounts(), Bank(None))).state)
        hall.clock.passes(2 * 2**tries)

    assert states == [CallbackState.RECEIVED] * 5 + [CallbackState.IGNORED]


async def test_a_word_that_we_do_not_know_is_kept_and_ignored(hall: Hall):
    hall.proof.notice = replace(PAYOUT, kind=CallbackKind.OTHER, account="acc")
    await hall.take()

    assert (await hall.turn(Accounts())).state is CallbackState.IGNORED
    assert (await hall.all())[0].company_id == "company-1"


async def test_an_account_that_cannot_be_found_out_does_not_stop_the_others(hall: Hall):
    """Its bank does not answer; the callback is looked into again."""
    notice = Notice(
        event="e", kind=CallbackKind.OTHER, subject="", account="k", named_by=NamedBy.KEY
    )
    hall.proof.notice = notice
    await hall.take()

    one = await hall.turn(Listed(), Silent())

    assert (one.state, one.tries) == (CallbackState.RECEIVED, 1)


class Listed(Accounts):
    """The one account, in a list."""

    async def some_at(self, _provider: str, _skip: int, _most: int) -> list[Accounts]:
        return [self]


class Silent(Bank):
    """A bank that does not answer."""

    capabilities = Capabilities(calls=frozenset({PortCall.LIST_KEYS}))

    def __init__(self) -> None:
        super().__init__(Unavailable("timeout"))

    async def list_keys(self, account: object) -> None:
        await self.get_charge_payment(account, "")
