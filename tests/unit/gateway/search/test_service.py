"""Finding things within the companies that a person sees, in the store and at the banks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import insert

from gateway.app.build_payouts import tax_number_digests
from gateway.app.services import Services
from gateway.banks.port.charges import Payer
from gateway.banks.port.providers import NotSupported, PixReturn, Unavailable
from gateway.banks.port.refunds import IncomingPayment, Refund
from gateway.charges.model import ChargeState, SeenCharge
from gateway.charges.store import StoredCharges
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.company_scope import CompanyScope
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.core.windows import Listed
from gateway.payouts.model import Payout, PayoutState
from gateway.refunds.searches import IncomingSearch, RefundSearch
from gateway.refunds.service import Refunds
from gateway.search import service
from gateway.search.model import Found, SearchBody
from gateway.search.service import BankSearches
from gateway.statements.model import local_day
from gateway.store.tables.backoffice import approvals
from tests.unit.offering import refund
from tests.unit.refusals import refused
from tests.unit.standing_payouts import company_and_accounts, stand
from tests.world.exports import allowance, signed_in
from tests.world.people import somebody
from tests.world.registers import NOON, Registers
from tests.world.stores.charges import charge
from tests.world.stores.people import event, user
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, attempt, payout

E2E = "E0000000020261120134011abcdefghi"
RETURN = "D0000000020261120134011abcdefghi"
PAID = "E9999999920261120134011abcdefghi"
CHARGE = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
ORDER = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c02"


def everywhere(office: Registers) -> Staff:
    return Staff(office.acting)


def nowhere(office: Registers) -> Staff:
    return Staff(office.acting, CompanyScope(frozenset()))


async def named(office: Registers, who: Staff, text: str) -> Found:
    return await Services(office.kernel).searches.find(who, SearchBody(text=text))


async def test_cpf_searches_are_rate_limited_per_user(office: Registers, known: Payout):
    """A masked CPF leaves a thousand candidates; a CNPJ is shown in full, and not limited."""
    searches = replace(Services(office.kernel).searches, looked_up=allowance(burst=2))
    viewer = signed_in()
    found = [
        await searches.find(viewer, SearchBody(text=text))
        for text in ("529.982.247-25", "11144477735 hoje")
    ]

    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        await searches.find(viewer, SearchBody(text="52998224725"))

    assert refusal.value.reason == "owner_lookups"
    assert [len(each.payouts) for each in found] == [1, 0]
    for who, text in (
        (viewer, "11.222.333/0001-81"),
        (viewer, known.reference),
        (everywhere(office), "52998224725"),
        (signed_in("joao"), "52998224725"),
    ):
        await searches.find(who, SearchBody(text=text))


@pytest.fixture
async def known(office: Registers) -> Payout:
    """A payout, a charge and a refund of which everything is known."""
    await company_and_accounts(office.store)
    row = replace(
        payout("pedido-1042"),
        e2e_id=E2E,
        provider_id="trf_1",
        payee_digest=tax_number_digests(office.kernel).digest("52998224725"),
    )
    await office.store.payouts.add(row, replace(attempt(), trace_id="trace-of-it"))
    await office.store.payouts.add(payout("another"), attempt())
    return row


@pytest.fixture
async def asked(office: Registers, known: Payout) -> Payout:
    """The same beside a charge that was paid, and a refund that was ordered."""
    records = StoredCharges(office.store.database)
    await records.begin(charge(id=CHARGE, reference="Fatura-77", centavos=20_381, created_at=NOW))
    seen = SeenCharge(
        account_id=ACCOUNT,
        reference="Fatura-77",
        state=ChargeState.PAID,
        at=NOW,
        paid_at=NOW,
        e2e_id=PAID,
        payer_name="Rafael Gonçalves",
    )
    await records.note([seen])
    row = {
        "id": ORDER,
        "kind": "refund",
        "account_id": ACCOUNT,
        "company_id": COMPANY,
        "subject": ACCOUNT,
        "reference_sha256": b"",
        "reference": "DEV-1",
        "centavos": 777,
        "sealed_order": b"",
        "ordered_by": "",
        "orderer": "",
        "ordered_at": NOW,
        "ends_at": NOW,
        "state": "approved",
        "decided_by": "",
        "decider": "",
        "reason": "",
        "outcome": "",
        "outcome_code": "",
    }
    async with office.store.database.writing() as connection:
        await connection.execute(insert(approvals), row)
        await connection.execute(
            insert(approvals), {**row, "id": CHARGE, "kind": "payout", "state": "rejected"}
        )
    return known


@pytest.mark.parametrize(
    "text",
    [
        *("pedido-1042", "pedido-", "PEDIDO-10", "trf_1", "trace-of-it", E2E),
        *("52998224725", "529.982.247-25", "the key"),
    ],
)
async def test_a_payout_is_found_by_every_identifier_within_the_scope(
    office: Registers, known: Payout, text: str
):
    given = known.provider_key if text == "the key" else text

    found = await named(office, everywhere(office), given)
    hidden = await named(office, nowhere(office), given)

    assert [each.payout.reference for each in found.payouts] == ["pedido-1042"]
    assert found.is_exact is (text.casefold() not in {"pedido-", "pedido-10"})
    assert not hidden


async def test_a_tax_number_search_has_pages_and_days(office: Registers, known: Payout):
    """The newest 25 alone would hide daily payouts after less than five weeks."""
    for number in range(1, 60):
        at = known.created_at - timedelta(days=number)
        key = f"{number:032}"
        about = replace(known, reference=f"dia-{number}", created_at=at, provider_key=key)
        await office.store.payouts.add(about, attempt(started_at=at))
    search, who = Services(office.kernel).searches, everywhere(office)
    day = local_day(known.created_at) - timedelta(days=40)

    pages = [
        await search.find(who, SearchBody(text="529.982.247-25", page=page))
        for page in (1, 2, 3, 4)
    ]
    of_day = await named(office, who, f"529.982.247-25 {day:%d/%m/%Y}")
    hidden = await search.find(nowhere(office), SearchBody(text="529.982.247-25", page=2))

    references = [each.payout.reference for found in pages for each in found.payouts]
    assert references == ["pedido-1042", *(f"dia-{number}" for number in range(1, 60))]
    assert [found.more for found in pages] == [True, True, False, False]
    assert [len(found.payouts) for found in pages] == [25, 25, 10, 0]
    assert [each.payout.reference for each in of_day.payouts] == ["dia-40"]
    assert of_day.is_exact
    assert not hidden


async def test_a_refund_search_by_amount_has_pages(
    office: Registers, asked: Payout, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(service, "FOUND_AT_MOST", 0)
    search, who = Services(office.kernel).searches, everywhere(office)

    assert (await search.find(who, SearchBody(text="7,77"))).more


@pytest.mark.parametrize("begun", ["", "-0"], ids=["whole", "begun"])
@pytest.mark.parametrize("form", ["11144477735", "varios-bbff0f73", PAID, "cli_1"])
async def test_a_reference_that_looks_like_a_cnpj_is_still_found(
    office: Registers, known: Payout, form: str, begun: str
):
    """One in some hundreds of texts with fourteen characters has valid CNPJ check digits."""
    await office.store.payouts.add(payout(form + begun), attempt())

    found = await named(office, everywhere(office), form)

    assert [each.payout.reference for each in found.payouts] == [form + begun]


async def test_an_account_is_found_by_its_id(office: Registers, known: Payout):
    found = await named(office, everywhere(office), known.account_id.upper())
    hidden = await named(office, nowhere(office), known.account_id)

    assert [each.id for each in found.accounts] == [known.account_id]
    assert not hidden


@pytest.mark.parametrize(
    "text", ["fatura-", "Fatura-77", "rafael goncalves", "R$ 203,81", "203.81 20/11", PAID, CHARGE]
)
async def test_a_charge_is_found_by_reference_payer_amount_and_payment(
    office: Registers, asked: Payout, text: str
):
    found = await named(office, everywhere(office), text)
    hidden = await named(office, nowhere(office), text)

    assert [each.reference for each in found.charges] == ["Fatura-77"]
    assert found.charges[0].payer_name == "Rafael Gonçalves"
    assert not hidden


@pytest.mark.parametrize("text", ["dev-", "7,77", "7,77 20/11/2026", ORDER])
async def test_a_refund_that_was_ordered_here_is_found(office: Registers, asked: Payout, text: str):
    found = await named(office, everywhere(office), text)
    hidden = await named(office, nowhere(office), text)

    assert [each.reference for each in found.refunds] == ["DEV-1"]
    assert not hidden


async def test_payouts_of_other_days_are_not_found(office: Registers, asked: Payout):
    assert not await named(office, everywhere(office), "7,77 ontem")
    assert not await named(office, everywhere(office), "203,81 01/11")


async def test_a_payout_is_found_by_the_id_of_its_return(office: Registers):
    await company_and_accounts(office.store)
    paid = await stand(office.store, payout("came-back"), PayoutState.PAID)
    await office.store.payouts.note_returns(paid, [PixReturn(id=RETURN, value=Money(1), at=NOW)])

    found = await named(office, everywhere(office), RETURN)

    assert [each.payout.reference for each in found.payouts] == ["came-back"]
    assert found.is_exact


@pytest.mark.parametrize(("role", "sees"), [(Role.VIEWER, False), (Role.SECURITY, True)])
async def test_a_credential_is_found_only_by_roles_that_may_read_credentials(
    office: Registers, role: Role, sees: bool
):
    company = await office.company("Padaria")
    issued = await office.issue(company.id, name="Caixa", permissions=["balance:read"])
    who = Staff(office.acting, person=somebody(role))

    by_id = await named(office, who, issued.credential.client_id)
    by_name = await named(office, who, "caix")

    assert [each.name for each in by_id.credentials] == ["Caixa"] * sees
    assert [each.name for each in by_name.credentials] == ["Caixa"] * sees


@pytest.mark.parametrize(("role", "sees"), [(Role.OPERATOR, False), (Role.SECURITY, True)])
async def test_a_user_is_found_only_by_roles_that_may_read_users(
    office: Registers, role: Role, sees: bool
):
    maria = user()
    await office.store.identity.users.add(maria, event())
    who = Staff(office.acting, person=somebody(role))
    elsewhere = replace(who, scope=CompanyScope(frozenset({str(uuid4())})))

    found = {
        text: await named(office, who, text) for text in (maria.email.upper(), maria.id, "mari")
    }

    assert [[each.email for each in every.people] for every in found.values()] == [
        [maria.email] * sees
    ] * 3
    assert [every.is_exact for every in found.values()] == [sees, sees, False]
    assert not await named(office, elsewhere, maria.email)


async def test_a_company_and_its_accounts_are_found_by_their_names(office: Registers):
    mine, other = await office.company("Padaria São João"), await office.company("Sao Paulo SA")
    await office.account(mine.id, name="Conta João")
    scoped = Staff(office.acting, CompanyScope(frozenset({mine.id})))

    found = await named(office, scoped, "joao")
    all_of_them = await named(office, everywhere(office), "são")
    other_company = await named(office, scoped, other.id)

    assert [each.name for each in found.companies] == ["Padaria São João"]
    assert [each.name for each in found.accounts] == ["Conta João"]
    assert [each.name for each in all_of_them.companies] == ["Padaria São João", "Sao Paulo SA"]
    assert not other_company


@pytest.mark.parametrize(
    "text", ["no-such", "cli_no_such", "00000000000", "%", "_", " ", "\U0010ffff"]
)
async def test_an_unknown_text_finds_nothing(office: Registers, asked: Payout, text: str):
    assert not await named(office, everywhere(office), text)


class Banks(Refunds):
    """Banks that tell the same of each account, fail, hang, or have no such list."""

    __slots__ = ("fails", "hangs")

    def __init__(self, fails: dict[str, Exception] | None = None, hangs: str = "") -> None:
        object.__setattr__(self, "fails", fails or {})
        object.__setattr__(self, "hangs", hangs)

    async def received(
        self, _who: Staff, account: Account, wanted: IncomingSearch
    ) -> Listed[IncomingPayment]:
        if account.name == self.hangs:
            await asyncio.Event().wait()
        if account.name in self.fails:
            raise self.fails[account.name]
        assert wanted.text == "203,81"
        payment = IncomingPayment(
            reference="",
            e2e_id=PAID,
            provider_id=account.name,
            value=Money(20_381),
            refunded=Money(0),
            paid_at=NOON + timedelta(minutes=len(account.name)),
            payer=Payer(name="Rafael"),
        )
        return Listed(items=[payment], paging=wanted.search.paging, total=1)

    async def search(self, _who: Staff, _account: Account, wanted: RefundSearch) -> Listed[Refund]:
        return Listed(items=[refund()], paging=wanted.search.paging, total=1)


async def accounts_of(office: Registers, names: Sequence[str]) -> Staff:
    company = await office.company("Padaria")
    other = await office.company("Outra")
    for name in names:
        made = await office.account(company.id, name=name)
        async with office.store.database.writing() as connection:
            await connection.exec_driver_sql(
                f"UPDATE accounts SET provider = 'sandbox' WHERE id = '{made.id}'"  # noqa: S608
            )
    await office.account(other.id, name="foreign")
    return Staff(office.acting, CompanyScope(frozenset({company.id})))


async def test_a_bank_search_asks_for_every_account_in_scope(office: Registers):
    who = await accounts_of(office, ["a", "bb", "fails", "hangs", "has none"])
    fails = {"fails": Unavailable("timeout"), "has none": NotSupported("none")}
    banks = Banks(fails, hangs="hangs")
    searches = BankSearches(database=office.store.database, refunds=banks, wait_s=0.05)

    told = await searches.find(who, SearchBody(text="203,81 ontem"))

    assert [account.name for account, _ in told.received] == ["bb", "a"]
    assert (told.read, told.failed, told.left) == (3, ["fails", "hangs"], False)
    assert told.days.init == told.days.ends == NOON.date() - timedelta(days=1)
    assert {account.name for account, _ in told.refunds} == {"a", "bb", "has none"}


async def test_a_bank_search_is_limited_to_a_number_of_accounts(
    office: Registers, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(service, "ACCOUNTS_AT_MOST", 1)
    who = await accounts_of(office, ["a", "b"])

    told = await BankSearches(database=office.store.database, refunds=Banks()).find(
        who, SearchBody(text="203,81")
    )

    assert (told.read, told.left) == (1, True)
