"""The data of the gateway whose pages are tested: some of every kind, named for use in paths."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import update

from gateway.banks.port.charges import ChargeOrder, ChargeType
from gateway.banks.port.payout_orders import PayoutMethod, PixDestination
from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from gateway.banks.port.statements import Direction
from gateway.batches.model import BatchFile
from gateway.closings.model import Day, Figures, Line, Rule
from gateway.closings.readings import DayReadings, Problem
from gateway.companies.model import Company
from gateway.companies.service import add_company
from gateway.core.access import Staff
from gateway.core.approvals import Approval
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.browsers import ClientInfo
from gateway.core.company_scope import StopScope
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.core.windows import local_start
from gateway.credentials.model import CredentialBody
from gateway.endpoints.model import EndpointSecret, NewEndpoint
from gateway.endpoints.service import Endpoints
from gateway.events.model import EventType
from gateway.identity.model import InvitationBody
from gateway.identity.sessions import SignedIn
from gateway.notifications.model import Kind, NewChat
from gateway.outflow.envelope import Measure
from gateway.payouts.model import NamedOwner, PayoutRequest, PayoutState, normal_destination
from gateway.statements.model import local_day
from gateway.stops.model import Stop
from gateway.store.tables.core import accounts
from tests.world.gateway.world import World, order
from tests.world.outflow.trips import add_trip
from tests.world.people import CLI
from tests.world.stops import plant as plant_stop
from tests.world.waiting import until

PAID = "pedido-1001"
REFUSED = "pedido-1002"
LOST = "pedido-1003"
IN_REVIEW = "pedido-1005"
RETURNED = "pedido-1006"
NOT_EXECUTED = "pedido-1007"
HOSTILE = "<script>alert(1)</script>\"'&\u202e/%2e%2e/=1+1😀"
"""A reference as a partner may choose it: markup, quotes, an override of direction, a formula."""

_LOST_VALUE = 777.08
_REFUSED_VALUE = 777.03
_LATE_VALUE = 777.01
_REVIEW_VALUE = 777.12
_RETURNED_VALUE = 777.09
_NOT_EXECUTED_VALUE = 777.11
"""Told too many calls, the bank is not called again for a second: it is paid last."""


async def plant(world: World) -> Mapping[str, str]:
    """Make payouts of every fate and a company with nothing; return ids by the names in paths."""
    day = world.today()
    made = (
        order(PAID, day, description="Fornecedor de pães"),
        order(REFUSED, day, value=_REFUSED_VALUE),
        order("pedido-1004", day, value=_LATE_VALUE),
        order(RETURNED, day, value=_RETURNED_VALUE),
        order(HOSTILE, day, value=12.34, description=HOSTILE[:100]),
        *(order(f"pedido-{number}", day, value=number / 7) for number in range(1010, 1040)),
    )
    for each in made:
        await world.pay(each)
    await world.pay(order(LOST, day, value=_LOST_VALUE))
    await world.pay(order(IN_REVIEW, day, value=_REVIEW_VALUE))
    await _settled(world)
    await world.pay(order(NOT_EXECUTED, day, value=_NOT_EXECUTED_VALUE))
    await _compared(world)
    return {
        **{name: world.demo["accounts"][name]["id"] for name in ("main", "other_company")},
        "paid": PAID,
        "refused": REFUSED,
        "lost": LOST,
        "in_review": IN_REVIEW,
        "returned": RETURNED,
        "not_executed": NOT_EXECUTED,
        "company": world.demo["companies"]["main"]["id"],
        "nothing": await _company(world),
        "charge": world.demo["charges"]["paid"],
        "credential": world.demo["credentials"]["full"]["client_id"],
        "endpoint": (endpoint := await _endpoint(world)),
        "delivery": await _delivery(world, endpoint),
        "chat": await _chat(world),
        "approval": await _ordered(world),
        "payout_order": await _ordered_payout(world),
        **await _files(world),
        "person": await _person(world),
        "trace": await _refused(world),
        "key": world.demo["pix_keys"]["main"][0],
        **await _charges(world),
        "stop": await _stopped(world),
        "trip": await _tripped(world),
        **_around(world.gateway.kernel.now()),
    }


def _around(now: datetime) -> Mapping[str, str]:
    """Return a period with everything in it, as addresses hold its instants."""
    day = timedelta(days=1)
    return {"since": f"{now - day:%Y-%m-%dT%H:%M:%SZ}", "until": f"{now + day:%Y-%m-%dT%H:%M:%SZ}"}


async def _charges(world: World) -> Mapping[str, str]:
    """Make charges of every fate; return the open one, and the payment of the paid one."""
    bank = world.gateway.services
    who = Staff(AuditContext("test", world.gateway.kernel.now))
    account = await world.gateway.kernel.store.accounts.find(world.demo["accounts"]["main"]["id"])
    assert account is not None
    keys = await bank.pix_keys.list(who, account)
    key = next(each.key.key for each in keys if each.key.status is PixKeyStatus.ACTIVE)
    for reference in ("cob-5501", "cob-5502", "cob-5503", HOSTILE):
        charge = ChargeOrder(
            reference=reference, type=ChargeType.DYNAMIC, key=key, value=Money(231540)
        )
        await bank.charges.create(who, account, charge)
    paid = await world.control.post("charges", "cob-5502", "pay", body={})
    await bank.charges.cancel(who, account, "cob-5503")
    await bank.charges.reads.read_payment(account, "cob-5502")
    await bank.charges.reads.kept.notes.run_once()
    return {"open_charge": "cob-5501", "payment": str(paid["e2e_id"])}


async def _settled(world: World) -> None:
    """Wait until the bank is done with what was paid."""
    account = world.demo["accounts"]["main"]["id"]

    async def is_done() -> bool:
        await world.look_at_unsettled()
        payouts = world.gateway.kernel.store.payouts
        paid, judged = await payouts.find(account, PAID), await payouts.find(account, IN_REVIEW)
        back = await world.gateway.kernel.store.payouts.returns(account, RETURNED)
        is_paid = paid is not None and paid.state is PayoutState.PAID
        return bool(is_paid and judged and judged.review and back)

    await until(is_done)


async def _company(world: World) -> str:
    """Create a company without accounts: a user limited to it sees empty lists."""
    company = Company(str(uuid4()), "Nada Ainda Ltda", world.gateway.kernel.now(), "")
    event = AuditEvent(at=company.created_at, actor="cli", action="company.created", subject="test")
    await add_company(world.gateway.kernel.store.database, company, event)
    return company.id


async def _endpoint(world: World) -> str:
    """Add an endpoint, which never answers; return its id."""
    wanted = NewEndpoint(
        company_id=world.demo["companies"]["main"]["id"],
        url="https://events.loja.example/pix",
        types=(EventType.PAYOUT_PAID, EventType.PIX_RECEIVED),
        account_ids=(world.demo["accounts"]["main"]["id"],),
    )
    made = await world.office.service(Endpoints).add(world.office.staff, wanted)
    assert isinstance(made, EndpointSecret)
    return made.endpoint.id


async def _delivery(world: World, endpoint_id: str) -> str:
    """Order a ping, which is never answered; return the delivery's id."""
    ordered = await world.gateway.services.deliveries.ping(world.office.staff, endpoint_id)
    return ordered.id


async def _chat(world: World) -> str:
    """Add the operators' chat, which is told of banks alone; return its id."""
    wanted = NewChat(
        name="Operações", webhook="https://hooks.chat.example/services/T0/x", kinds=(Kind.BANK,)
    )
    made = await world.gateway.services.chats.add(world.office.staff, wanted)
    return made.id


async def _person(world: World) -> str:
    """Create a user; return their id."""
    new = InvitationBody(email="bruno@example.com", name="Bruno Teles", roles=[Role.OPERATOR])
    users = world.gateway.services.identity.users
    return (await users.create(CLI, new, "uma frase bem comprida")).id


async def _signed_in(world: World, name: str, role: Role) -> SignedInUser:
    identity = world.gateway.services.identity
    new = InvitationBody(email=f"{name.lower()}@example.com", name=name, roles=[role])
    user = await identity.users.create(CLI, new, "uma frase bem comprida")
    here = ClientInfo(address="127.0.0.1", user_agent="tests")
    signed_in = await identity.sign_in.login(user.email, "uma frase bem comprida", here)
    assert isinstance(signed_in, SignedIn)
    return signed_in.person


async def _ordered_payout(world: World) -> str:
    """Order a payout to another person's key, by the bank's answer; return the order's id."""
    person = await _signed_in(world, "Lara", Role.OPERATOR)
    account = await world.gateway.kernel.store.accounts.find(world.demo["accounts"]["main"]["id"])
    assert account is not None
    to = PixDestination(
        name="",
        tax_number="11144477735",
        key_type=PixKeyType.EMAIL,
        key="maria@example.com",
    )
    owner = NamedOwner(
        name="Maria Silva",
        tax_number="***.982.247-**",
        bank="Outro Banco S.A.",
        reason="Chave da mãe dela",
    )
    wanted = PayoutRequest(
        reference="folha-2026-11-07",
        method=PayoutMethod.PIX,
        value=Money(1234),
        date=world.gateway.kernel.now().date(),
        description="Folha de novembro",
        destination=to,
        destination_sent=normal_destination(to),
        owner=owner,
    )
    waiting = await world.gateway.services.approvals.order(_staff(world, person), account, wanted)
    assert isinstance(waiting, Approval)
    return waiting.id


async def _files(world: World) -> Mapping[str, str]:
    """Upload a file that is wrong, and one that waits; return their ids and that of the order."""
    batches, who = (
        world.gateway.services.batches,
        _staff(world, await _signed_in(world, "Caio", Role.OPERATOR)),
    )
    account = await world.gateway.kernel.store.accounts.find(world.demo["accounts"]["main"]["id"])
    assert account is not None
    head = "referencia;valor;nome;cpf_cnpj;tipo_chave;chave;descricao"
    good = [
        f"folha-12-{number:03};{number + 980},{number:02};Pessoa {number};529.982.247-25;email;"
        f"pessoa{number}@example.com;Folha"
        for number in range(1, 61)
    ]
    bad = [good[0].replace("981,01", "1,234"), good[1].replace(";email;", ";fax;"), good[0]]
    ids = {}
    for name, rows in (("wrong_file", bad), ("file", good)):
        content = base64.b64encode("\n".join([head, *rows]).encode()).decode()
        made = await batches.upload(who, account, BatchFile(name="folha-12.csv", content=content))
        ids[name] = made.batch.id
    waiting = await batches.order(who, ids["file"])
    assert isinstance(waiting, Approval)
    return {**ids, "file_order": waiting.id}


async def _ordered(world: World) -> str:
    """Order a credential that can pay out; it waits for a second person. Return the order's id."""
    person = await _signed_in(world, "Renata", Role.SECURITY)
    wanted = CredentialBody(
        name="ERP produção 2027",
        account_id=world.demo["accounts"]["main"]["id"],
        permissions=["withdraw:write"],
    )
    waiting = await world.gateway.services.credentials.issue(_staff(world, person), wanted)
    assert isinstance(waiting, Approval)
    return waiting.id


def _staff(world: World, person: SignedInUser) -> Staff:
    """Let a person act with a fresh second factor."""
    now = world.gateway.kernel.now
    person = replace(person, factor_at=now(), has_factor=True)
    return Staff(AuditContext(person.actor, now), person=person)


async def _stopped(world: World) -> str:
    """Stop the payouts of a company without payouts here; return the stop's id."""
    now = world.gateway.kernel.now()
    stop = Stop(
        id=str(uuid4()),
        scope=StopScope.COMPANY,
        subject=world.demo["companies"]["other"]["id"],
        reason="conferência de saldo",
        created_by="user:renata@example.com",
        created_at=now,
        ends_at=now + timedelta(hours=4),
    )
    event = AuditEvent(at=now, actor="cli", action="stop.pulled", subject=f"stop:{stop.id}")
    await plant_stop(world.gateway.kernel.store, stop, event)
    return stop.id


async def _tripped(world: World) -> str:
    """Let a credential be outside its envelope; return the trip's id."""
    trip = await add_trip(
        world,
        scope=StopScope.CREDENTIAL,
        subject=world.demo["credentials"]["full"]["client_id"],
        measure=Measure.LARGE,
        value=5,
        bound=4,
        above=1_234_567,
    )
    return trip.id


async def _compared(world: World) -> None:
    """Compare days of two accounts: most without a difference, one with, one without an answer."""
    database, now = world.gateway.kernel.store.database, world.gateway.kernel.now()
    main, sister = (world.demo["accounts"][name]["id"] for name in ("main", "sister"))
    readings, day = DayReadings(database, timedelta()), timedelta(days=1)
    earlier = update(accounts).where(accounts.c.id.in_([main, sister]))
    await database.write(earlier.values(created_at=now - 40 * day))
    yesterday = local_day(now) - day
    foreign = Line(
        id="ted-1",
        rule=Rule.BANK_ONLY,
        direction=Direction.DEBIT,
        at=local_start(yesterday),
        bank=Money(80_000),
        book=None,
        name="Cartório & Filhos",
        e2e_id="",
    )
    for back in range(6, -1, -1):
        of_day = yesterday - back * day
        lines = [foreign] if back == 0 else []
        out, opening = 80_000 * len(lines), 1_000_000 + 150_000 * (6 - back)
        figures = Figures(
            opening=opening,
            credits=150_000,
            debits=out,
            fees=0,
            returns=0,
            closing=opening + 150_000 - out,
            paid=0,
        )
        await readings.note(main, Day(day=of_day, figures=figures, lines=lines), now)
        if back:
            figures = Figures(
                opening=5_000, credits=0, debits=0, fees=0, returns=0, closing=5_000, paid=0
            )
            await readings.note(sister, Day(day=of_day, figures=figures, lines=()), now)
    await readings.fail(sister, yesterday, Problem.BANK, now)


async def _refused(world: World) -> str:
    """Have a call refused, and return its trace id."""
    answer = await world.ask("GET", world.at("/balance"), by="none")
    assert answer.status == 403
    return str(answer.document["trace_id"])
