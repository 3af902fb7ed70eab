"""Pages of orders: a second person agrees, and the first collects the secret once."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from gateway.app.services import Services
from gateway.audit.model import AuditSearch
from gateway.audit.service import find_acts
from gateway.companies.model import CompanyRequest
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.core.windows import Paging
from gateway.identity.model import InvitationBody
from tests.surfaces.panel.pages.payouts import ordered as payout_form
from tests.surfaces.panel.pages.person import Person, signed_in
from tests.world.gateway.world import World, order
from tests.world.people import CLI

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = re.compile(r"gws_[\w-]{20,}")


async def ordered(keeper: Person, world: World, reach: str = "") -> str:
    """Order a credential that can pay out; return the path of the order."""
    await keeper.open("/panel/credentials/new")
    fields = {
        "name": "ERP que paga",
        "reach": reach or f"account:{world.demo['accounts']['main']['id']}",
        "may_withdraw": "write",
        "ends": "never",
    }
    seen = await keeper.send("/panel/credentials/new", fields)
    assert seen.status == 303, seen.text
    return seen.location


PEOPLE = ("operator", "approver")
"""How the names of these people begin: they are called like their addresses."""


async def ordered_payout(world: World, key_type: str, **typed: str) -> str:
    """Order a payout as an operator; return the path of the order."""
    operator = await signed_in(world, Role.OPERATOR)
    key = {"key_type": "cpf", "key": "529.982.247-25"} if key_type == "cpf" else {}
    owner = {"owner_name": "Maria", "owner_tax_number": "***"}
    await operator.open("/panel/payouts/new")
    fields = {**payout_form(world, **key, **typed), **owner, "step": "send"}
    sent = await operator.send("/panel/payouts/new", fields)
    assert sent.status == 303, sent.text
    return sent.location


async def test_an_orderer_cannot_decide_and_withdraws_with_a_reason(
    keeper: Person, approver: Person, world: World
):
    path = await ordered(keeper, world)

    seen = await keeper.open(path)
    without = await keeper.send(f"{path}/withdraw", {"reason": " "})
    done = await keeper.send(f"{path}/withdraw", {"reason": "valor errado"})
    told = await approver.open(path)

    assert "Esta solicitação é sua" in seen.text
    assert re.findall(rf'action="{path}/(\w+)"', seen.text) == ["withdraw"]
    assert (without.status, done.status) == (400, 303)
    assert "Cancelada por" in told.text
    assert "valor errado" in told.text
    assert f'action="{path}' not in told.text


async def test_an_approver_sees_the_accounts_of_a_credential(
    keeper: Person, approver: Person, world: World
):
    company = world.demo["companies"]["main"]["id"]

    of_one = await approver.open(await ordered(keeper, world))
    of_all = await approver.open(await ordered(keeper, world, f"company:{company}"))

    assert "conta Loja Exemplo Ltda · 999" in of_one.text
    assert "empresa inteira" in of_all.text


async def test_an_approver_sees_both_banks_of_a_moving_account(approver: Person, world: World):
    """The data for connecting to that bank is on no page."""
    admin = await signed_in(world, Role.ADMIN)
    there = f"/panel/accounts/{world.demo['accounts']['inactive']['id']}/bank"
    page = await admin.open(there)
    name = re.search(r'data-words="([^"]+)"', page.text)
    assert name
    fields = {"words": name[1], "provider": "sandbox", "provider_account": "conta-nova"}

    asked = await admin.send(there, {**fields, "credentials": "canary-of-a-secret"})
    shown = await approver.open(asked.location)
    listed = await approver.open("/panel/approvals")
    await approver.send(f"{asked.location}/reject", {"reason": "um teste"})

    assert "/panel/approvals/" in asked.location
    assert re.search(r"Banco a partir da aprovação</dt><dd><b>sandbox</b>.*conta-nova", shown.text)
    assert "Banco até agora" in shown.text
    assert "novas, criptografadas" in shown.text
    assert "Banco de uma conta" in listed.text
    assert "canary-of-a-secret" not in shown.text + listed.text


async def test_a_second_user_approves_and_the_orderer_collects_the_secret_once(
    keeper: Person, approver: Person, world: World
):
    path = await ordered(keeper, world)
    await approver.open(path)

    agreed = await approver.send(f"{path}/approve")
    theirs = await approver.open(path)
    mine = await keeper.open(path)
    once = await keeper.send(f"{path}/secret")
    await keeper.open(path)
    twice = await keeper.send(f"{path}/secret")

    assert (agreed.status, agreed.location) == (303, path)
    assert f"{path}/secret" not in theirs.text
    assert f"{path}/secret" in mine.text
    assert SECRET.search(once.text)
    assert once.headers["Cache-Control"] == "no-store"
    assert twice.status >= 400
    assert not SECRET.search(twice.text)


async def test_an_order_is_rejected_with_a_reason(keeper: Person, approver: Person, world: World):
    path = await ordered(keeper, world)
    await approver.open(path)

    without = await approver.send(f"{path}/reject", {"reason": " "})
    done = await approver.send(f"{path}/reject", {"reason": "sem contrato"})

    assert (without.status, done.status) == (400, 303)
    assert "sem contrato" in (await keeper.open(path)).text


@pytest.mark.parametrize("key_type", ["cpf", "email"])
async def test_an_order_of_money_is_approved_by_its_typed_amount(
    approver: Person, viewer: Person, world: World, key_type: str
):
    """The approver sees number and key in full, which is audited; a viewer sees neither."""
    path = await ordered_payout(world, key_type)
    seen = await viewer.open(path)
    shown = await approver.open(path)
    subject = f"approval:{path.rpartition('/')[2]}"
    wanted = AuditSearch(paging=Paging(1, 10), action="approval.read", subject=subject)
    database = world.gateway.kernel.store.database
    found = await find_acts(database, wanted, EVERY_COMPANY)

    wrong = [
        (await approver.send(f"{path}/approve", {"value": typed})).status
        for typed in ("10,51", "10,49")
    ]
    right = await approver.send(f"{path}/approve", {"value": "10,50"})

    assert "10,50" in shown.text
    assert "529.982.247-25" in shown.text
    assert "***.982.247-**" in seen.text
    for whole in ("52998224725", "529.982.247-25", "maria@example.com"):
        assert whole not in seen.text
    assert found.total == 1
    assert (wrong, right.status) == ([400, 400], 303)


async def test_a_payee_with_another_tax_number_is_marked_on_every_page(
    approver: Person, viewer: Person, world: World
):
    """The bank's owner beside the typed number, in red, with the orderer's reason."""
    operator = await signed_in(world, Role.OPERATOR)
    typed = payout_form(world, tax_number="111.444.777-35", value="5,00")
    tampered = {**typed, "owner_name": "Ana", "owner_tax_number": "***.444.777-**", "step": "send"}
    await operator.open("/panel/payouts/new")

    summary = await operator.send("/panel/payouts/new", typed)
    refused = await operator.send("/panel/payouts/new", tampered)
    why = {**tampered, "difference_reason": "chave da mãe dela"}
    path = (await operator.send("/panel/payouts/new", why)).location
    approval = await approver.open(path)
    await approver.send(f"{path}/approve", {"value": "5,00"})
    await world.settled(typed["reference"])
    page = f"/panel/accounts/{typed['account_id']}/payouts/{typed['reference']}"
    payout, receipt = await viewer.open(page), await viewer.open(f"{page}/receipt")
    dossier, listed = await viewer.open(f"{page}/dossier"), await viewer.open("/panel/payouts")

    assert 'name="difference_reason"' in summary.text
    assert (refused.status, 'name="difference_reason"' in refused.text) == (400, True)
    pair = ("Cliente de Outro Banco</b> · ", "***.982.247-**", 'class="b bad"')
    for each in (summary, approval, payout, receipt):
        assert [word for word in pair if word not in each.text] == []
        assert "Ana" not in each.text
    assert all("chave da mãe dela" in each.text for each in (approval, payout))
    assert "111.444.777-35" in approval.text
    for each in (payout, receipt, dossier):
        assert "***.444.777-**" in each.text
        for whole in ("11144477735", "111.444.777-35", "maria@example.com"):
            assert whole not in each.text
    assert re.search(r"Cliente de Outro Banco</a> .*\*\*\*\.982", listed.text)


async def test_the_bank_of_a_pix_key_is_named_on_every_page(
    approver: Person, viewer: Person, world: World
):
    operator = await signed_in(world, Role.OPERATOR)
    typed = payout_form(world, value="5,00")
    await operator.open("/panel/payouts/new")
    summary = await operator.send("/panel/payouts/new", typed)
    told = {"owner_name": "Ana", "owner_tax_number": "***", "owner_bank": "Banco da Ana"}

    path = (await operator.send("/panel/payouts/new", {**typed, **told, "step": "send"})).location
    approval = await approver.open(path)
    await approver.send(f"{path}/approve", {"value": "5,00"})
    await world.settled(typed["reference"])
    page = f"/panel/accounts/{typed['account_id']}/payouts/{typed['reference']}"
    payout, receipt, certainty = [
        await viewer.open(f"{page}{part}") for part in ("", "/receipt", "/certainty")
    ]

    for each in (summary, approval, payout):
        assert re.search(r"Banco da chave</dt><dd>.*Outro Banco S.A.", each.text)
    for each in (receipt, certainty):
        assert re.search(r"Banco do favorecido</dt><dd>.*Outro Banco S.A.", each.text)
    assert re.search(r"Solicitado em</dt><dd><time.*Aprovado em</dt><dd><time", certainty.text)
    assert all("Banco da Ana" not in each.text for each in (approval, payout, receipt, certainty))


async def test_an_own_order_says_nothing_of_earlier_payouts_to_its_recipient(
    approver: Person, world: World
):
    operator = await signed_in(world, Role.OPERATOR)
    await operator.open("/panel/payouts/new")
    sent = await operator.send("/panel/payouts/new", payout_form(world) | {"step": "send"})

    own, of_another = [await each.open(sent.location) for each in (operator, approver)]

    assert "Para este favorecido" in of_another.text
    assert "Para este favorecido" not in own.text
    assert "Mesmo valor desta conta, hoje" in own.text


async def test_a_payout_names_who_ordered_and_who_approved_it(
    approver: Person, viewer: Person, world: World
):
    """On its page, receipt and dossier; the list shows the orderer, and the approval is linked."""
    path = await ordered_payout(world, "email")
    await approver.open(path)
    await approver.send(f"{path}/approve", {"value": "10,50"})
    found = re.search(r'href="(/panel/accounts/[^"]+)"', (await approver.open(path)).text)
    assert found
    page = found[1]
    await world.settled(page.rpartition("/")[2])

    shown = [await viewer.open(f"{page}{part}") for part in ("", "/receipt", "/dossier")]
    listed = await viewer.open("/panel/payouts")

    named = [(each, f"{role}-") for each in shown for role in PEOPLE]
    assert [word for each, word in named if word not in each.text] == []
    assert f'href="{path}"' in shown[0].text
    assert "operator-" in listed.text


async def test_the_list_shows_waiting_orders(keeper: Person, approver: Person, world: World):
    path = await ordered(keeper, world)

    waiting = await approver.open("/panel/approvals")
    void = await approver.open("/panel/approvals?status=void")

    assert path in waiting.text
    assert path not in void.text
    assert "Nenhuma solicitação nesta situação" in void.text


async def test_nothing_to_approve_is_shown_only_to_approvers(world: World):
    made = await Services(world.gateway.kernel).companies.create(
        Staff(world.office.acting), CompanyRequest(name="Sem Conta Ltda")
    )
    nothing = frozenset({made.id})
    decides = await signed_in(world, Role.APPROVER, companies=nothing)
    orders = await signed_in(world, Role.OPERATOR, companies=nothing)

    seen = [(await each.open("/panel/approvals")).text for each in (decides, orders)]

    assert ["Nada para aprovar" in each for each in seen] == [True, False]
    assert "Nenhuma solicitação aguarda" in seen[1]


async def test_users_are_shown_by_name_and_namesakes_also_by_address(world: World):
    """An approver may lack the right to read the list of users."""
    author = await signed_in(world, Role.SECURITY, name="Rui Alves")
    namesake = await signed_in(world, Role.APPROVER, name="Rui Alves")
    path = await ordered(author, world)

    listed = await namesake.open("/panel/approvals")
    waiting = await namesake.open(path)
    await namesake.send(f"{path}/reject", {"reason": "valor errado"})
    decided = await namesake.open(path)

    assert "Rui Alves" in listed.text
    assert re.search(r"solicitado por <bdi>Rui Alves</bdi> ·", waiting.text)
    for role in ("security", "approver"):
        assert re.search(rf"Rui Alves \({role}-\w+@panel.example\)", decided.text)


async def test_an_order_of_money_is_shown_with_facts_for_the_decision(
    approver: Person, world: World
):
    """Similar payouts, the current balance after loading, and the waiting time."""
    reference = f"igual-{uuid4().hex[:8]}"
    await world.pay(order(reference, world.today(), value=10.50))
    await world.settled(reference)
    path = await ordered_payout(world, "email")
    account = world.demo["accounts"]["main"]["id"]

    shown = await approver.open(path)
    part = await approver.open(path, **{"HX-Request-Type": "partial"})

    recipient, same = shown.text.split("Mesmo valor desta conta, hoje")
    assert f"/panel/accounts/{account}/payouts/{reference}" in recipient
    assert f"/panel/accounts/{account}/payouts/{reference}" in same
    assert "Saldo da conta" in shown.text
    assert re.search(r'data-until="\d{13}">\d+ (?:h|min) \d\d', shown.text)
    assert part.text.lstrip().startswith('<div id="facts"')
    assert "52998224725" not in shown.text
    assert 'hx-trigger="load"' in shown.text.partition('id="facts"')[2].partition(">")[0]
    assert "lido em" in part.text
    assert "não lido" not in part.text
    assert "panel:tick" not in part.text.partition('id="facts"')[2].partition(">")[0]


async def test_the_payout_count_of_a_recipient_is_explained(
    approver: Person, world: World, monkeypatch: pytest.MonkeyPatch
):
    """Payouts paid or possibly paid; a truncated list does not prove that none was paid."""
    number = "123.456.789-09"
    to = {**order("-", "-")["destination"], "tax_number": number}  # type: ignore[dict-item]
    for value in (777.03, 777.09, 10.50):
        reference = f"{value}-{uuid4().hex[:8]}"
        await world.pay(order(reference, world.today(), value=value, destination=to), expects=None)
        await world.settled(reference)
    path = await ordered_payout(
        world, "email", tax_number=number, difference_reason="outra pessoa recebe"
    )

    whole = await approver.open(path)
    monkeypatch.setattr("gateway.approvals.pages.FOUND_AT_MOST", 4)
    cut = await approver.open(path)
    monkeypatch.setattr("gateway.approvals.pages._WENT", frozenset())
    none = await approver.open(path)

    counted = re.compile(r"Para este favorecido.*?push\">(.*?)</small>")
    assert "2 pagos ou sem confirmação · " in counted.findall(whole.text)[0]
    assert counted.findall(whole.text)[0].endswith(" · 1 não pago")
    assert counted.findall(cut.text) == ["2 pagos ou sem confirmação dos 3 mais recentes"]
    assert counted.findall(none.text) == ["0 pagos ou sem confirmação dos 3 mais recentes"]
    assert "Nada foi pago" not in none.text


async def test_orders_that_exceed_the_balance_together_show_a_warning(
    approver: Person, world: World
):
    """Each approval, and the form of the next order, subtracts the others."""
    account = world.demo["accounts"]["other_company"]["id"]
    operator = await signed_in(world, Role.OPERATOR)
    form = f"/panel/payouts/new/balance?account_id={account}&value=0,01"

    first = await ordered_payout(world, "email", account_id=account, value="60.000.000,00")
    alone = await approver.open(f"{first}?read=1")
    second = await ordered_payout(world, "email", account_id=account, value="60.000.000,01")
    both = [await approver.open(f"{each}?read=1") for each in (first, second)]
    next_order = await operator.open(form)

    assert "outra solicitação" not in alone.text
    for other, each in zip((second, first), both, strict=True):
        assert f'href="{other}"' in each.text
        assert "1 outra solicitação que aguarda" in each.text
        assert "Depois desta solicitação e das outras" in each.text
        assert "As solicitações que aguardam nesta conta somam mais que o saldo dela." in each.text
    assert "120.000.000,01" in next_order.text
    assert "Somado às solicitações que aguardam" in next_order.text


async def test_the_list_shows_each_order_s_waiting_time(
    keeper: Person, approver: Person, world: World
):
    await ordered(keeper, world)
    path = await ordered(keeper, world)
    await approver.open(path)
    await approver.send(f"{path}/reject", {"reason": "sem contrato"})

    seen = await approver.open("/panel/approvals")
    rejected = await approver.open("/panel/approvals?status=rejected")

    assert re.search(r'vence em <span class="nowrap">2 dias e 23 h</span>', seen.text)
    assert path in rejected.text
    assert "vence em" not in rejected.text


async def test_an_approver_sees_the_companies_of_an_order_by_name(approver: Person, world: World):
    """For an order about companies, those before and after; for a role, those it applies to."""
    admin, users = (
        await signed_in(world, Role.ADMIN),
        world.gateway.services.identity.users,
    )
    empty = await Services(world.gateway.kernel).companies.create(
        Staff(AuditContext("cli:test", world.gateway.kernel.now)),
        CompanyRequest(name="Sem Conta Ltda"),
    )
    wanted = InvitationBody(
        email=f"limitada-{uuid4().hex[:8]}@panel.example",
        name="Limitada",
        roles=[Role.OPERATOR],
        companies=[empty.id],
    )
    person = f"/panel/people/{(await users.create(CLI, wanted)).id}"
    await admin.open(person)
    more = await admin.send(f"{person}/companies", {"company": "every"})
    role = await admin.send(f"{person}/roles", {"role": "approver"})

    of_role, of_companies = [await approver.open(each.location) for each in (role, more)]

    assert re.search(r"<dt>Empresas</dt><dd>\s*<bdi>Sem Conta Ltda", of_role.text)
    assert re.search(r"<dt>Empresas até agora</dt><dd>\s*<bdi>Sem Conta Ltda", of_companies.text)
    assert re.search(r"<dt>Empresas</dt><dd>\s*todas as empresas", of_companies.text)
