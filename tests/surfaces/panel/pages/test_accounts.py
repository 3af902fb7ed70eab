"""Pages of accounts: the statement, keys, charges, what came in, refunds, switching, companies."""

from __future__ import annotations

import csv
import io
import re
from datetime import date, timedelta
from uuid import uuid4

import pytest

from gateway.banks.port.statements import Balance
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.core.windows import LOCAL
from tests.surfaces.panel.pages.accounts import at, made
from tests.surfaces.panel.pages.person import Person, signed_in
from tests.world.gateway.world import World, order
from tests.world.stops import in_force, lift

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def paid(operator: Person, world: World) -> str:
    """Have a charge paid; return the payment's end-to-end id."""
    reference = await made(operator, world)
    payment = await world.control.post("charges", reference, "pay", body={})
    return str(payment["e2e_id"])


KEY_ID = "00000000-0000-4000-8000-000000000000"
E2E_ID = "E00000000000000000000000000000000"
READS_BANK = (
    *("", "/statement", "/keys", f"/keys/{KEY_ID}/cancel"),
    *("/new-charge", "/charges/x", f"/received/{E2E_ID}/refund?day=2026-01-02"),
)
"""Pages with something on them that only a bank tells."""


@pytest.mark.parametrize("rest", READS_BANK)
async def test_no_page_waits_for_a_slow_bank(operator: Person, world: World, rest: str):
    """The page is shown while the bank hangs, and offers to read it."""
    await world.control.post("faults", body={"operation": "*", "fault": "hang", "count": 9})
    try:
        seen = await operator.open(at(world, rest))
    finally:
        await world.control.delete("faults")

    assert seen.status == 200
    assert 'hx-trigger="load"' in seen.text
    assert "read=1" in seen.text


@pytest.mark.parametrize("rest", [f"/keys/{KEY_ID}/cancel", f"/received/{E2E_ID}/refund"])
async def test_a_bank_s_missing_data_is_shown_in_its_part_of_the_page(
    operator: Person, world: World, rest: str
):
    part = await operator.open(at(world, rest), **{"HX-Request-Type": "partial"})

    assert part.status == 200
    assert 'role="alert"' in part.text
    assert "<html" not in part.text


async def test_the_statement_is_shown_when_the_balance_fails(viewer: Person, world: World):
    await world.control.post(
        "faults", body={"operation": "balance", "fault": "status", "status": 400, "count": 5}
    )
    try:
        seen = await viewer.open(at(world, "/statement?read=1"))
    finally:
        await world.control.delete("faults")

    assert seen.status == 200
    assert "não informado" in seen.text or "<tbody>" in seen.text
    assert "t-bad" in seen.text


async def test_the_last_known_balance_is_shown_with_its_age(viewer: Person, world: World):
    """While the bank returns none, on the account and on its statement."""
    account_id = world.demo["accounts"]["main"]["id"]
    readings = world.gateway.services.readings
    held = Balance(balance=Money(4_711_09), blocked=Money(12_34), updated_at=None)
    await readings.claim(account_id)
    await readings.keep(account_id, held, world.gateway.kernel.now())
    await world.control.post(
        "faults", body={"operation": "balance", "fault": "status", "status": 400, "count": 9}
    )
    try:
        seen = [await viewer.open(at(world, f"{rest}?read=1")) for rest in ("", "/statement")]
    finally:
        await world.control.delete("faults")

    for each in seen:
        assert "4.711,09" in each.text
        assert "12,34" in each.text
        assert "posição de" in each.text


async def test_page_and_file_show_the_same_lines_pix_or_not(viewer: Person, world: World):
    account = world.demo["accounts"]["main"]["id"]
    await world.control.post("accounts", account, "movements", body={"kind": "fee", "value": 3.21})

    page = await viewer.open(at(world, "/statement?read=1&limit=100"))
    file = await viewer.open(at(world, "/statement/export?format=csv"))

    (line,) = [row for row in page.text.split("<tr>") if "3,21" in row]
    assert "tarifa" in line
    assert "não é pagamento nosso" not in line
    assert "-3,21" in file.text
    assert page.text.count('<tr><td class="muted wide-only">') == file.text.count("\r\n") - 1


async def test_a_received_payment_is_searched_at_the_bank_on_request(viewer: Person, world: World):
    """After the page has loaded; without a script by a link."""
    at_once = await viewer.open("/panel/search?q=149,90")
    asked = await viewer.open("/panel/search?q=149,90&read=1")

    assert "Consultar os bancos" in at_once.text
    assert "demo-paid-" not in at_once.text
    assert "demo-paid-" in asked.text
    assert "os bancos de" in asked.text


async def test_a_statement_links_its_payouts_and_exports_a_brazilian_csv(
    viewer: Person, world: World
):
    reference = uuid4().hex
    await world.pay(order(reference, world.today(), description="=1+1"))
    await world.settled(reference)

    whole = await viewer.open(at(world, "/statement?read=1&limit=100"))
    page = await viewer.open(at(world, f"/statement?read=1&text={reference}"))
    file = await viewer.open(at(world, "/statement/export?format=csv"))
    other = await viewer.open(at(world, "/statement/export?format=exe"))

    assert page.text.count(at(world, "/payouts/")) == 1
    assert at(world, f"/payouts/{reference}") in page.text
    assert at(world, f"/payouts/{reference}") in whole.text
    assert file.text.startswith("\ufeffData e hora (Brasília);")
    rows = list(csv.reader(io.StringIO(file.text.removeprefix("\ufeff")), delimiter=";"))
    assert any(row[3] == "-10,50" and row[4] == "'=1+1" for row in rows)
    assert "attachment" in file.headers["Content-Disposition"]
    assert other.status == 400


async def test_a_charge_is_created_shown_and_cancelled(operator: Person, world: World):
    reference = await made(operator, world, description="Mensalidade de março")
    path = at(world, f"/charges/{reference}")

    shown = await operator.open(f"{path}?read=1")
    refused = await operator.send(path, {"words": "outra"})
    cancelled = await operator.send(path, {"words": reference})
    after = await operator.open(f"{path}?read=1")

    assert "data:image/png;base64," in shown.text
    assert "Mensalidade de março" in shown.text
    assert 'hx-trigger="panel:tick from:body"' in shown.text
    assert refused.status == 400
    assert 'value="outra"' in refused.text
    assert (cancelled.status, cancelled.location) == (303, path)
    assert "cancelada" in after.text
    assert "panel:tick" not in after.text


async def test_a_paid_charge_is_no_longer_polled(operator: Person, world: World):
    reference = await made(operator, world)
    await world.control.post("charges", reference, "pay", body={})

    seen = await operator.open(at(world, f"/charges/{reference}?read=1"))

    assert "Está paga" in seen.text
    assert "panel:tick" not in seen.text


async def test_a_refund_above_the_rest_of_its_payment_is_refused(operator: Person, world: World):
    path = at(world, f"/received/{await paid(operator, world)}/refund")
    opened = await operator.open(f"{path}?read=1")

    refused = await operator.send(path, {"value": "10,51", "reference": "guardada"})
    ordered = await operator.send(path, {"value": "4,00", "reference": uuid4().hex})

    assert re.search(r'name="reference"[^>]* value="panel-\w+"', opened.text)
    assert refused.status == 400
    assert 'value="guardada"' in refused.text
    assert "não pode ser mais do que resta do pagamento" in refused.text
    assert "<title>Erro: " in refused.text
    assert ordered.status == 303
    assert ordered.location.startswith("/panel/")


async def test_incoming_money_is_listed_by_local_days(operator: Person, world: World):
    """The bank is asked for UTC days, which differ from those of Brasilia."""
    e2e_id = await paid(operator, world)
    today = world.gateway.kernel.now().astimezone(LOCAL).date()
    account = world.demo["accounts"]["main"]["id"]

    async def listed(day: date) -> str:
        asked = f"account_id={account}&init={day}&ends={day}&read=1"
        return (await operator.open(f"/panel/received?{asked}")).text

    assert e2e_id in await listed(today)
    asked = f"account_id={account}&init={today}&ends={today}"
    page = await operator.open(f"/panel/received?{asked}&read=1&text={e2e_id}")
    file = await operator.open(f"/panel/received/export?{asked}&text={e2e_id}")
    assert "1–1 de 1 · " in page.text
    assert "/panel/received/export?" in page.text
    assert file.headers["Content-Type"].startswith("text/csv")
    assert [line.split(";")[4] for line in file.text.splitlines()[1:]] == [e2e_id]
    for beside in (today - timedelta(days=1), today + timedelta(days=1)):
        assert e2e_id not in await listed(beside)


async def test_a_pix_key_is_registered_and_cancelled_by_its_typed_text(
    operator: Person, world: World
):
    await operator.open(at(world, "/keys"))
    done = await operator.send(at(world, "/keys"), {"type": "evp"})
    listed = await operator.open(done.location)
    path = re.findall(r'href="(/panel/accounts/[^"]+/cancel)"', listed.text)[-1]
    page = await operator.open(f"{path}?read=1")
    known = re.search(r'data-words="([^"]+)"', page.text)[1]

    refused = await operator.send(path, {"words": "another"})
    given_up = await operator.send(path, {"words": known})

    assert refused.status == 400
    assert 'value="another"' in refused.text
    assert "exatamente o texto mostrado na página" in refused.text
    assert (given_up.status, given_up.location) == (303, at(world, "/keys?read=1"))


async def test_an_account_is_deactivated_by_typing_its_name(admin: Person, world: World):
    path = at(world, account="inactive")
    page = await admin.open(path)
    name = re.search(r'data-words="([^"]+)"', page.text)[1]
    fields = {"field": "active", "to": "yes"}

    refused = await admin.send(path, {**fields, "words": "x"})
    done = await admin.send(path, {**fields, "words": name})

    assert refused.status == 400
    assert done.status == 303
    assert "ativa e verificada" in (await admin.open(path)).text
    await admin.send(path, {"field": "active", "to": "no", "words": name})


async def test_a_bank_is_changed_by_typing_the_name_and_no_secret_is_returned(
    admin: Person, world: World
):
    path = at(world, "/bank", account="inactive")
    await admin.open(path)

    refused = await admin.send(
        path,
        {
            "words": "x",
            "provider": "sandbox",
            "provider_account": "outra",
            "credentials": "canary-of-a-secret",
        },
    )

    assert refused.status == 400
    assert 'value="outra"' in refused.text
    assert "canary-of-a-secret" not in refused.text


async def test_a_test_of_a_bank_s_connection_shows_its_result(admin: Person, world: World):
    await admin.open(at(world, "/bank"))

    works = await admin.send(at(world, "/bank/test"))
    await world.control.post(
        "faults", body={"operation": "*", "fault": "status", "status": 500, "count": 9}
    )
    try:
        fails = await admin.send(at(world, "/bank/test"))
    finally:
        await world.control.delete("faults")

    assert (works.status, fails.status) == (200, 200)
    assert "O banco conhece a conta e aceita as credenciais." in works.text
    assert '<code lang="en">no_answer</code>' in fails.text


async def test_testing_a_bank_connection_requires_a_code_in_its_form(world: World):
    late = await signed_in(world, Role.ADMIN, fresh=False)
    await late.open(at(world, "/bank"))

    asked = await late.send(at(world, "/bank/test"))
    tested = await late.send(at(world, "/bank/test"), {"code": late.code()})

    assert asked.status == 403
    assert asked.text.count('name="code"') == 1
    assert asked.text.index('name="code"') > asked.text.index("/bank/test")
    assert tested.status == 200


async def test_a_company_is_added(admin: Person):
    await admin.open("/panel/companies")
    name = f"Nova {uuid4().hex[:6]}"

    done = await admin.send("/panel/companies", {"name": name})

    assert done.status == 303
    assert name in (await admin.open("/panel/companies")).text
    assert name in (await admin.open(done.location)).text


async def test_an_account_is_added_to_a_company_with_its_bank(admin: Person, world: World):
    company = f"/panel/companies/{world.demo['companies']['main']['id']}"
    await admin.open(f"{company}/new-account")
    typed = {"name": "Filial Sul", "tax_number": "11.222.333/0001-81", "bank_number": "341"}
    bank = {"provider": "sandbox", "provider_account": "sul-1", "credentials": '{"token": 1}'}

    refused = await admin.send(f"{company}/new-account", {**typed, "tax_number": "1"})
    again = await admin.send(f"{company}/new-account", {**typed, **bank, "provider_account": ""})
    done = await admin.send(f"{company}/new-account", {**typed, "verified": "true"})

    assert (refused.status, again.status, done.status) == (400, 400, 303)
    assert 'value="Filial Sul"' in refused.text
    assert 'name="had_credentials"' in again.text
    seen = await admin.open(done.location)
    assert "60701190" in seen.text
    assert "11.222.333/0001-81" in seen.text
    assert "Filial Sul" in (await admin.open(company)).text


async def test_only_stops_of_the_selected_account_are_shown(world: World):
    """The page contains the others too, which a script shows; each names its subject."""
    operator, main = await signed_in(world, Role.OPERATOR), world.demo["accounts"]["main"]["id"]
    other = world.demo["accounts"]["other_company"]["id"]
    stop = {"subject": f"account:{other}", "reason": "suspeita de fraude", "minutes": "60"}
    await operator.open("/panel/stops/new")
    await operator.send("/panel/stops/new", {**stop, "words": "bloquear"})

    first, mine, theirs = [
        (await operator.open(f"/panel/payouts/new{query}")).text
        for query in ("", f"?account_id={main}", f"?account_id={other}")
    ]
    for each in await in_force(world.office):
        await lift(world.office, each.id)

    boxes = [re.findall(r'data-of="([^"]*)"( hidden)?>', each) for each in (first, mine, theirs)]
    assert boxes == [[(other, " hidden")], [(other, " hidden")], [(other, "")]]
    assert re.search(r"Os pagamentos da conta <bdi>[^<]+</bdi> estão bloqueados", theirs)


async def test_a_stop_is_shown_on_every_page_that_orders_payments(world: World):
    operator = await signed_in(world, Role.OPERATOR)
    company = world.demo["companies"]["main"]["id"]
    said = "Os pagamentos da empresa <bdi>Loja Exemplo Ltda</bdi> estão bloqueados."
    before = await operator.open("/panel")
    stop = {"subject": f"company:{company}", "reason": "suspeita de fraude", "minutes": "60"}
    await operator.open("/panel/stops/new")

    await operator.send("/panel/stops/new", {**stop, "words": "bloquear"})

    places = (at(world, ""), f"/panel/companies/{company}", "/panel/payouts/new")
    shown = {path: (await operator.open(path)).text for path in places}
    lists = [(await operator.open(f"/panel/{each}")).text for each in ("accounts", "companies")]
    after = await operator.open("/panel")
    held = await in_force(world.office)
    for each in held:
        await lift(world.office, each.id)
    assert {path for path, text in shown.items() if said not in text} == set()
    assert all(f'/panel/stops/{held[0].id}/lift"' in each for each in shown.values())
    assert all("suspeita de fraude" in each for each in shown.values())
    assert all("pagamentos bloqueados" in each for each in lists)
    assert 'data-count="stops"' not in before.text
    assert 'data-count="stops">1<' in after.text
