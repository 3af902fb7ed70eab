"""Recipients whom an account paid before, on both databases: whom, how much, what changed since."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, text, update

from gateway.app.store import Store
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    Destination,
    FailureCode,
    PayoutMethod,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.errors import ServiceError
from gateway.core.money import Sum
from gateway.core.rights import Role
from gateway.core.windows import Paging
from gateway.payouts import recipients as reading
from gateway.payouts.model import (
    Failure,
    NamedOwner,
    PayoutState,
    hidden_destination,
    normal_destination,
)
from gateway.payouts.recipients import (
    ChosenRecipient,
    PaidRecipients,
    RecipientChange,
    RecipientDocument,
    RecipientSearch,
)
from gateway.security.tax_numbers import LABEL, TaxNumberDigests
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import payouts, returns
from tests.contract.stores.databases import both
from tests.contract.stores.plans import Explained
from tests.world.exports import exports
from tests.world.kernel import KEYS
from tests.world.people import somebody
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account, attempt, payout

DIGESTS = TaxNumberDigests(KEYS.derivation.keys(LABEL))
MARIA, JOAO, LOJA = "52998224725", "11144477735", "11222333000181"
PAID = PayoutState.PAID


def by_key(number: str = MARIA, key: str = "maria@example.com", name: str = "") -> PixDestination:
    return PixDestination(name=name, tax_number=number, key_type=PixKeyType.EMAIL, key=key)


def by_account(number: str = JOAO, name: str = "João") -> BankDestination:
    return BankDestination(
        name=name,
        tax_number=number,
        bank_number="341",
        branch="0001",
        account="123456-7",
        account_type=AccountType.CHECKING,
    )


def named(name: str, number: str, bank: str) -> NamedOwner:
    return NamedOwner(name=name, tax_number=number, bank=bank)


@dataclass
class Office:
    """PaidRecipients over a store, and a person who pays."""

    store: Store
    recipients: PaidRecipients
    now: datetime = NOW + timedelta(days=1)

    @property
    def who(self) -> Staff:
        person = somebody(Role.OPERATOR)
        return Staff(AuditContext(person.actor, lambda: self.now), person=person)

    async def put(self, reference: str, to: Destination, days_ago: int = 0, **changed: Any) -> None:
        """Store a payout of R$ 10.50 that was paid, unless it is said otherwise."""
        at = NOW - timedelta(days=days_ago)
        is_key = isinstance(to, PixDestination)
        sent = {name: text for name, text in normal_destination(to).items() if text}
        made = replace(
            payout(reference, created_at=at),
            method=PayoutMethod.PIX if is_key else PayoutMethod.BANK_ACCOUNT,
            destination=to,
            destination_sent=sent,
            payee_digest=DIGESTS.digest(to.tax_number),
            **{"client_id": "user:ana", "state": PAID, "settled_at": at, **changed},
        )
        await self.store.payouts.add(made, attempt())

    async def listed(self, text: str | None = None) -> Sequence[RecipientDocument]:
        wanted = RecipientSearch(paging=Paging(1, 50), text=text)
        return (await self.recipients.page(self.who, account(), wanted)).items

    async def choose(self, reference: str) -> ChosenRecipient:
        return await self.recipients.choose(self.who, account(), reference)


@pytest.fixture
def office(store: Store) -> Office:
    return Office(
        store,
        PaidRecipients(
            database=store.database,
            payouts=store.payouts,
            digests=DIGESTS.every,
            exports=exports(),
        ),
    )


@both
async def test_each_recipient_is_listed_once_with_its_payouts_the_last_paid_first(office: Office):
    await office.put("a", by_key(), 9, owner=named("Maria Silva", "***.982.247-**", "Banco"))
    await office.put("b", by_key(), 3, owner=named("Maria Silva", "***.982.247-**", "Banco"))
    await office.put("c", by_key(key="other@example.com"), 5)
    await office.put("d", by_account(), 1)
    of_d = update(payouts).where(payouts.c.reference == "d")
    await office.store.database.write(of_d.values(moved_centavos=1000))

    found = await office.listed()

    assert [(each.reference, each.payouts, each.value, each.name) for each in found] == [
        ("d", 1, Sum(1000), "João"),
        ("b", 2, Sum(2100), "Maria Silva"),
        ("c", 1, Sum(1050), ""),
    ]
    assert found[1].destination == {
        "tax_number": "***.982.247-**",
        "key_type": "email",
        "key": "m•••••@e•••••.com",
    }
    assert found[0].destination["account"] == "123456-7"
    assert found[1].paid_at == NOW - timedelta(days=3)
    assert [each.changed for each in found] == [[], [], []]


@both
async def test_only_recipients_whom_the_account_paid_are_listed(office: Office):
    await office.put("a", by_key(), state=PayoutState.REJECTED)
    await office.put("b", by_account(), account_id=SISTER)
    await office.put("c", by_key(key="old@example.com"), 500)

    assert await office.listed() == []


@both
async def test_changes_of_a_recipient_paid_before_are_shown(office: Office):
    await office.put("a", by_key(key="refused@example.com"), 5)
    await office.put(
        "b",
        by_key(key="refused@example.com"),
        4,
        state=PayoutState.FAILED,
        failure=Failure(FailureCode.OTHER),
    )
    await office.put("c", by_key(key="before@example.com"), 7, state=PayoutState.REJECTED)
    await office.put("d", by_key(key="before@example.com"), 6)
    await office.put("e", by_key(key="open@example.com"), 5)
    await office.put(
        "f", by_key(key="open@example.com"), 8, state=PayoutState.ACCEPTED, review=True
    )
    await office.put("g", by_key(key="held@example.com"), 5)
    await office.put("h", by_key(key="held@example.com"), 4, state=PayoutState.HELD)
    await office.put("i", by_key(key="back@example.com"), 5)
    await office.put("j", by_account(name="João"), 5)
    await office.put("k", by_account(name="Pedro"), 6)
    back = {"id": "D1", "account_id": ACCOUNT, "reference_sha256": reference_digest("i")}
    await office.store.database.write(insert(returns).values(**back, centavos=50, at=NOW))

    found = {each.reference: each for each in await office.listed()}

    assert {reference: each.changed for reference, each in found.items()} == {
        "a": [RecipientChange.REFUSED],
        "d": [],
        "e": [RecipientChange.OPEN],
        "g": [RecipientChange.HELD],
        "i": [RecipientChange.RETURNED],
        "j": [RecipientChange.OTHER_NAME],
    }
    assert found["i"].value == Sum(1000)
    assert found["j"].payouts == 2


@both
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("joao", ["a"]),
        ("silva JOÃO", ["a"]),
        ("loja", ["b"]),
        ("11.222.333/0001-81", ["b"]),
        ("%", []),
        ("111.444.777-35", []),
        ("joao@example.com", []),
    ],
)
async def test_recipients_are_found_by_name_or_cnpj_and_never_by_a_cpf_or_a_key(
    office: Office, text: str, wanted: list[str]
):
    await office.put("a", by_account(JOAO, "João da Silva"), 1)
    await office.put("b", by_account(LOJA, "Loja Exemplo"), 2)
    await office.put("c", by_key(JOAO, "joao@example.com"), 3)

    assert [each.reference for each in await office.listed(text)] == wanted


@both
async def test_whom_people_paid_is_found_behind_very_many_payouts_of_partners(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(reading, "LOOKED_AT", 3)
    await office.put("person", by_account(), 9)
    await office.put("program", by_account(LOJA, "Loja"), 8, client_id="cli_first")
    for number in range(3):
        await office.put(f"p-{number}", by_key(key="x@example.com"), 1, client_id="cli_first")

    assert [each.reference for each in await office.listed()][1:] == ["person"]


@both
async def test_the_newest_that_people_ordered_are_found_by_an_index(office: Office):
    """Behind a million payouts of a program, and however many people ordered."""
    asked = Explained(select(reading._newest_by_people(ACCOUNT, NOW)))
    async with office.store.database.writing() as connection:
        if connection.dialect.name == "postgresql":
            await connection.execute(text("SET LOCAL enable_seqscan = off"))
        plan = " ".join(str(each) for each in await connection.execute(asked))

    assert re.search(r"Backward using pk_payouts_by_people|SEARCH payouts_by_people USING", plan)


@both
async def test_a_chosen_recipient_is_that_of_a_payout_that_was_paid(office: Office):
    await office.put("a", by_key(), 2)
    await office.put("b", by_key(), 1)
    await office.put("c", by_key(), 0, state=PayoutState.FAILED, failure=Failure(FailureCode.OTHER))

    found = await office.choose("a")

    assert (found.recipient.reference, found.recipient.payouts) == ("b", 2)
    assert found.recipient.changed == [RecipientChange.REFUSED]
    assert found.payout.destination == by_key()
    for missing in ("c", "none"):
        with pytest.raises(ServiceError) as refused:
            await office.choose(missing)
        assert refused.value.reason == "no_recipient"


@pytest.mark.parametrize(
    ("owner", "changed"),
    [
        (named("MARIA silva", "***.982.247-**", "Banco Um"), []),
        (named("José Souza", "***.982.247-**", "Banco Um"), [RecipientChange.OTHER_OWNER]),
        (named("Maria Silva", "***.444.777-**", "Banco Um"), [RecipientChange.OTHER_OWNER]),
        (named("Maria Silva", "***.982.247-**", "Banco Dois"), [RecipientChange.OTHER_BANK]),
        (named("Maria Silva", "***.982.247-**", ""), []),
    ],
)
async def test_the_owner_of_a_key_is_compared_with_the_owner_then(
    office: Office, owner: NamedOwner, changed: list[RecipientChange]
):
    await office.put("a", by_key(), owner=named("Maria Silva", "***.982.247-**", "Banco Um"))
    await office.put("b", by_account())

    assert (await office.choose("a")).since(owner) == changed
    assert (await office.choose("b")).since(owner) == []


async def test_an_archived_payout_has_no_recipient_to_pay_again(office: Office):
    """The whole numbers are in its file alone."""
    await office.put("a", by_key())
    hidden = hidden_destination({**normal_destination(by_key())})
    await office.store.database.write(
        update(payouts).values(destination_sent=str(hidden).replace("'", '"'), destination="{}")
    )

    with pytest.raises(ServiceError):
        await office.choose("a")


async def test_no_whole_cpf_is_in_what_is_listed(office: Office):
    await office.put("a", by_account())
    key = PixDestination(name="", tax_number=MARIA, key_type=PixKeyType.CPF, key=MARIA)
    await office.put("b", key)

    shown = str(await office.listed())

    assert JOAO not in shown
    assert MARIA not in shown
