"""Reports: a whole window or none, written beside the loop, one at a time (contract 4.3)."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from types import MappingProxyType

import pytest
from msgspec import structs

from gateway.banks.port.charges import Party
from gateway.banks.port.providers import Page, ProviderAccount, Unavailable
from gateway.banks.port.statements import Balance, Direction, Entry
from gateway.core.account import Account, BankCoordinates, Environment
from gateway.core.audit_context import RuleViolation
from gateway.core.money import MAX_CENTAVOS, Money, Sum
from gateway.core.windows import LocalWindow, Window
from gateway.reports.formats import FORMATS, Format
from gateway.reports.pdf import WriterMissing
from gateway.reports.texts import Locale
from gateway.statements import reports as reports_module
from gateway.statements.model import Report, ReportRequest
from gateway.statements.reports import MOST, Reports, movement_pages
from tests.unit.reporting import FEE, entry
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import ACCOUNT, account
from tests.world.standing import NOON, TODAY, Clock
from tests.world.waiting import until

YESTERDAY = TODAY - timedelta(days=1)
OPEN, OVER = Window(YESTERDAY, TODAY), Window(YESTERDAY, YESTERDAY)
TO_COME = Window(TODAY + timedelta(days=1), TODAY + timedelta(days=1))
NOW = Balance(balance=Money(500), blocked=Money(7), updated_at=NOON)
IN = entry(value=Money(300))
OUT = entry(value=Money(100), direction=Direction.DEBIT, created_at=NOON - timedelta(hours=1))


@dataclass
class Moved:
    """Movements as they are; ``meanwhile`` happens while they are read."""

    entries: Sequence[Entry] = (IN, OUT)
    meanwhile: Callable[[], None] = lambda: None
    windows: list[Window] = field(default_factory=list)

    async def pages(
        self, _account: Account, window: Window, _most: int
    ) -> AsyncGenerator[Sequence[Entry], None]:
        self.windows.append(window)
        self.meanwhile()
        for first in range(0, len(self.entries), 1000):
            yield self.entries[first : first + 1000]


@dataclass
class LastingBank(ScriptedBank):
    """A bank that takes a second for one of the readings of the balance."""

    lasts_at: int = 1
    clock: Clock = field(default_factory=Clock)
    asked: int = 0

    async def get_balance(self, account: ProviderAccount) -> Balance:
        self.asked += 1
        if self.asked == self.lasts_at:
            self.clock.passes(1)
        return await ScriptedBank.get_balance(self, account)


class BankWorld:
    def __init__(self, *entries: Entry, clock: Clock | None = None) -> None:
        self.bank = ScriptedBank(reads={"balance": NOW})
        self.moved = Moved(entries or (IN, OUT))
        self.clock = clock or Clock()
        self.reports = Reports(
            banks=OneBank(self.bank),
            pages=self.moved.pages,
            environment=Environment.SANDBOX,
            now=self.clock.now,
        )

    def holds(self, centavos: int) -> None:
        self.bank.reads["balance"] = structs.replace(NOW, balance=Money(centavos))


def asking(form: str = "json", window: Window = OPEN, locale: Locale = Locale.PLAIN):
    return ReportRequest(window=window, format=form, locale=locale)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., bytes]], None]:
    """Make one more format, ``odd``, of any function."""

    def know(write: Callable[..., bytes]) -> None:
        odd = Format(name="odd", media_type="x/odd", write=write)
        known = MappingProxyType({**FORMATS, "odd": odd})
        monkeypatch.setattr(reports_module, "FORMATS", known)

    return know


async def test_a_report_has_the_account_and_its_movements_oldest_first():
    who = replace(account(), coordinates=BankCoordinates(branch="0001"))
    office = BankWorld(FEE, IN, OUT)

    told = await office.reports.gather(who, OPEN)

    assert (told.account_id, told.holder) == (
        ACCOUNT,
        Party(name=who.name, tax_number=who.tax_number),
    )
    assert (told.coordinates, told.environment) == (who.coordinates, Environment.SANDBOX)
    assert (told.window, told.generated_at, told.balance) == (OPEN, NOON, NOW)
    assert told.entries == (OUT, IN, FEE)
    assert office.moved.windows == [OPEN]


async def test_movements_at_the_same_instant_are_reversed_in_a_report():
    """The bank returns newest first, and a report is the other way round."""
    twins = [entry(provider_id="second"), entry(provider_id="first")]

    told = await BankWorld(*twins).reports.gather(account(), OPEN)

    assert [each.provider_id for each in told.entries] == ["first", "second"]


async def test_a_window_up_to_today_has_opening_and_closing_balances():
    told = await BankWorld().reports.gather(account(), OPEN)

    assert (told.closing, told.opening) == (Money(500), Sum(300))


@pytest.mark.parametrize("window", [OVER, TO_COME], ids=["over", "to come"])
async def test_a_past_or_future_window_has_no_opening_or_closing_balance(window: Window):
    """The bank returns the current balance, and not what moved since."""
    told = await BankWorld().reports.gather(account(), window)

    assert (told.closing, told.opening, told.balance) == (None, None, NOW)


async def test_a_balance_that_changed_meanwhile_leaves_the_opening_unknown():
    """Whether the last movement is among those read is unknown."""
    office = BankWorld()
    office.moved.meanwhile = lambda: office.holds(499)

    told = await office.reports.gather(account(), OPEN)

    assert (told.closing, told.opening) == (Money(499), None)
    assert told.balance.balance == Money(499)


@pytest.mark.parametrize("read", [1, 2], ids=["before the last balance", "during the last balance"])
async def test_a_day_that_ended_meanwhile_leaves_the_closing_unknown(read: int):
    """After midnight the balance may be that of the next day."""
    office = BankWorld(clock=Clock(OPEN.end - timedelta(seconds=1)))
    office.bank = LastingBank(reads={"balance": NOW}, lasts_at=read, clock=office.clock)
    office.reports = replace(office.reports, banks=OneBank(office.bank))

    told = await office.reports.gather(account(), OPEN)

    assert (told.closing, told.opening, told.generated_at) == (None, None, OPEN.end)


async def test_sums_may_be_larger_than_an_amount():
    office = BankWorld(entry(value=Money(MAX_CENTAVOS)), IN)
    office.holds(-1)

    told = await office.reports.gather(account(), OPEN)

    assert (told.closing, told.opening) == (Money(-1), Sum(-1 - told.credits.centavos))
    assert told.credits == Sum(MAX_CENTAVOS + IN.value.centavos)
    for form in FORMATS:
        assert (await office.reports.make(account(), asking(form))).content, form


async def test_a_report_may_have_the_maximum_number_of_movements():
    told = await BankWorld(*[IN] * MOST).reports.gather(account(), OPEN)

    assert len(told.entries) == MOST


async def test_a_report_with_too_many_movements_is_refused_and_never_truncated():
    """A truncated statement would look complete."""
    with pytest.raises(RuleViolation, match="ask for fewer days"):
        await BankWorld(*[IN] * (MOST + 1)).reports.make(account(), asking())


@pytest.mark.parametrize("form", FORMATS)
async def test_a_finished_file_has_its_content_type(form: str):
    made = await BankWorld().reports.make(account(), asking(form))

    assert made.file_name == f"statement_{ACCOUNT}_2026-11-19_2026-11-20.{form}"
    assert made.media_type == FORMATS[form].media_type
    told = await BankWorld().reports.gather(account(), OPEN)
    write = FORMATS[form].write
    assert write is None or made.content == write(told)


async def test_the_brazilian_format_is_used_on_request():
    made = await BankWorld().reports.make(account(), asking("csv", locale=Locale.PT_BR))

    assert made.content.startswith("\ufeffData e hora (Brasília);".encode())


@pytest.mark.parametrize("form", ["", "xlsx", "CSV", "__class__"])
async def test_an_unknown_format_is_refused_before_the_bank_is_asked(form: str):
    office = BankWorld()

    with pytest.raises(RuleViolation, match="csv, ofx, json, pdf"):
        await office.reports.make(account(), asking(form))

    assert office.moved.windows == []


async def test_a_format_that_is_not_installed_is_refused(writes):
    def missing(_document: object) -> bytes:
        problem = "a library is not installed"
        raise WriterMissing(problem)

    writes(missing)

    with pytest.raises(RuleViolation, match="odd: a library is not installed"):
        await BankWorld().reports.make(account(), asking("odd"))


async def test_a_report_fails_when_the_bank_does_not_return_the_balance():
    office = BankWorld()
    office.bank.reads["balance"] = Unavailable("timeout")

    with pytest.raises(Unavailable):
        await office.reports.make(account(), asking())


async def test_a_report_contains_every_bank_page():
    """Together with the operation that reads the bank's pages, Pix or not."""
    bank = ScriptedBank(
        reads={
            "balance": NOW,
            "statement": {
                None: Page(items=[FEE, IN], next_cursor="2"),
                "2": Page(items=[OUT], next_cursor=None),
            },
        }
    )
    banks = OneBank(bank)
    reports = Reports(
        banks=banks,
        pages=partial(movement_pages, banks),
        environment=Environment.SANDBOX,
        now=Clock().now,
    )

    made = await reports.make(account(), asking())

    told = json.loads(made.content)
    assert [each["operation"] for each in told["data"]] == ["Pix Out", "Pix In", "fee"]


async def test_writing_a_report_does_not_block_the_loop_and_runs_one_at_a_time(writes):
    """A large file takes seconds, during which others are served and the next file waits."""
    let_go, most = threading.Semaphore(0), []
    running: list[int] = []

    def slow(_document: object) -> bytes:
        running.append(1)
        most.append(len(running))
        let_go.acquire()
        running.pop()
        return b"done"

    writes(slow)
    office = BankWorld()

    async with asyncio.TaskGroup() as tasks:
        making = [
            tasks.create_task(office.reports.make(account(), asking("odd"))) for _ in range(3)
        ]
        for turn in (1, 2, 3):
            await until(lambda turn=turn: len(most) == turn)
            let_go.release()

    assert [made.result().content for made in making] == [b"done"] * 3
    assert most == [1, 1, 1]


async def test_a_cancelled_report_keeps_its_slot_until_it_is_written(writes):
    """A thread cannot be stopped: otherwise impatient callers would pile them up."""
    let_go, begun = threading.Event(), []

    def slow(_document: object) -> bytes:
        begun.append(1)
        assert let_go.wait()
        raise ValueError

    writes(slow)
    office = BankWorld()
    impatient = asyncio.ensure_future(office.reports.make(account(), asking("odd")))
    await until(lambda: begun)
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient

    waits = office.reports.one_at_a_time.locked()
    let_go.set()

    assert waits
    assert (await office.reports.make(account(), asking("json"))).content.startswith(b"{")


async def whole(made: Report) -> bytes:
    rest = [] if made.rest is None else [piece async for piece in made.rest]
    return b"".join([made.content, *rest])


PIECED = [(form.name, locale) for form in FORMATS.values() for locale in Locale if form.pieces]


@pytest.mark.parametrize(("form", "locale"), PIECED)
@pytest.mark.parametrize("count", [0, 1, 100, 101, 350])
async def test_a_report_in_pieces_is_the_same_file(form: str, locale: Locale, count: int):
    entries = [
        entry(provider_id=f"p{n // 2}", created_at=NOON - timedelta(seconds=n // 3))
        for n in range(count)
    ]
    office = BankWorld()
    office.moved.entries = entries

    made = await office.reports.make(account(), asking(form, locale=locale))
    told = await office.reports.gather(account(), OPEN)

    assert (made.rest is None) == (count <= 100)
    assert await whole(made) == b"".join(FORMATS[form].pieces[locale](told, [told.entries]))


@pytest.mark.parametrize("form", ["csv", "ofx"])
async def test_many_movements_are_one_file(form: str):
    count = MOST + 1
    office = BankWorld(*[IN] * count)

    made = await office.reports.make(account(), asking(form))

    assert len(made.content) < 2**17
    mark = b"<STMTTRN>" if form == "ofx" else b"\r\n"
    assert (await whole(made)).count(mark) == count + (form == "csv")


@pytest.mark.parametrize("form", ["csv", "json", "ofx"])
async def test_days_may_be_in_brasilia_time(form: str):
    """The bank is asked for the UTC days they touch; other movements are left out."""
    day = LocalWindow(TODAY, TODAY)
    inside = [day.end - timedelta(seconds=1), day.start]
    beside = [day.end, day.start - timedelta(seconds=1)]
    office = BankWorld(
        *(entry(description="in it", created_at=at) for at in inside),
        *(entry(description="beside", created_at=at) for at in beside),
    )

    made = await whole(await office.reports.make(account(), asking(form, day)))

    assert office.moved.windows == [Window(TODAY, TODAY + timedelta(days=1))]
    assert (made.count(b"in it"), made.count(b"beside")) == (2, 0)


@pytest.mark.parametrize("form", FORMATS)
async def test_tax_numbers_of_people_can_be_hidden(form: str):
    person = Party(name="Maria", tax_number="52998224725")
    office = BankWorld(entry(counterparty=person, description="pão"))

    shown = await whole(await office.reports.make(account(), asking(form)))
    asked = replace(asking(form), hides_people=True)
    hidden = await whole(await office.reports.make(account(), asked))

    if form != "pdf":
        assert b"***.982.247-**" in hidden
        assert b"529.982.247-25" in shown or b"52998224725" in shown
    assert b"529.982.247-25" not in hidden
    assert b"52998224725" not in hidden


@pytest.mark.parametrize("form", ["csv", "ofx"])
async def test_a_streamed_report_with_too_many_movements_is_refused_before_it_starts(
    form: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reports_module, "MOST_PACKED", 3)
    first, last = Page(items=[IN, OUT], next_cursor="2"), Page(items=[IN, OUT], next_cursor=None)
    reads = {"balance": NOW, "statement": {None: first, "2": last}}
    banks = OneBank(ScriptedBank(reads=reads))
    reports = replace(BankWorld().reports, banks=banks, pages=partial(movement_pages, banks))

    with pytest.raises(RuleViolation, match="ask for fewer days"):
        await reports.make(account(), asking(form))
