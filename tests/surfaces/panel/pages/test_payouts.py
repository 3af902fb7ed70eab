"""Pages of payouts: found, read, probed; what is unresolved is decided by two people."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import msgspec
import pytest
from sqlalchemy import insert, select, update

from gateway.accounts.model import AccountRequest
from gateway.app.services import Services
from gateway.banks.port.payout_orders import AccountType, BankDestination, FailureCode
from gateway.banks.port.providers import Evidence, Phase
from gateway.core.access import Staff
from gateway.core.rights import Role
from gateway.payouts.model import Change, EventKind, Failure, PayoutState
from gateway.search import service as searches
from gateway.store.tables import core
from gateway.store.tables.columns import reference_digest
from tests.surfaces.panel.pages.payouts import ordered
from tests.surfaces.panel.pages.person import Person, Seen, signed_in
from tests.world.archive import write
from tests.world.backoffice.watching import held, in_review
from tests.world.gateway.world import World, order
from tests.world.stores.samples import attempt, change, payout
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def paid(world: World, reference: str = "") -> str:
    """Pay one out and wait until it is settled."""
    reference = reference or f"pedido-{uuid4()}"
    await world.pay(order(reference, world.today(), value=12.34))
    await world.settled(reference)
    return reference


def at(world: World, reference: str, account: str = "main") -> str:
    return f"/panel/accounts/{world.demo['accounts'][account]['id']}/payouts/{reference}"


async def test_the_list_shows_payouts_and_hides_the_tax_number(world: World, viewer: Person):
    reference = await paid(world)

    seen = await viewer.open("/panel/payouts")

    assert seen.status == 200
    assert reference in seen.text
    assert "12,34" in seen.text
    assert "52998224725" not in seen.text
    assert "***.982.247-**" in seen.text


async def test_an_empty_list_offers_to_clear_the_filters(world: World, viewer: Person):
    reference = await paid(world)

    for query in ("tab=not_sent", "least=99.999,00&most=99.999,01", "client_id=cli_nobody"):
        seen = await viewer.open(f"/panel/payouts?{query}")

        assert seen.status == 200
        assert "Limpar os filtros" in seen.text, query
        assert reference not in seen.text


ALERTS = {
    **dict.fromkeys(("least=1.5", "init=2026-11-20", "after=1.2.3"), True),
    "init=2026-11-20&ends=2026-11-19": True,
    **dict.fromkeys(("tab=made-up", "days=made-up", "days=9999"), False),
}
"""Queries, and whether a field shows an alert: words that no page of ours makes are ignored."""


async def test_an_invalid_filter_shows_an_alert(viewer: Person):
    seen = {query: await viewer.open(f"/panel/payouts?{query}") for query in ALERTS}

    assert {each.status for each in seen.values()} == {200}
    assert {query: 'role="alert"' in each.text for query, each in seen.items()} == ALERTS


async def test_a_payout_is_shown_from_its_order_to_its_proof(world: World, viewer: Person):
    reference = await paid(world)

    seen = await viewer.open(at(world, reference))

    assert seen.status == 200
    for words in ("Pagamento registrado", "Tentativa 1", "Liquidado", "Comprovante"):
        assert words in seen.text
    assert "52998224725" not in seen.text
    assert "529.982.247-25" not in seen.text
    assert "/probe" not in seen.text


async def test_the_dossier_can_be_downloaded(world: World, viewer: Person):
    reference = await paid(world)

    seen = await viewer.open(f"{at(world, reference)}/dossier")

    assert seen.headers["Content-Disposition"].startswith("attachment")
    assert json.loads(seen.text)["payout"]["value"] == 12.34


async def test_only_settled_payouts_have_a_receipt(world: World, viewer: Person):
    reference = await paid(world)
    await world.pay(order(f"{reference}-2", world.today(), value=777.03))

    seen = await viewer.open(f"{at(world, reference)}/receipt")
    refused = await viewer.open(f"{at(world, reference)}-2/receipt")

    assert (seen.status, refused.status) == (200, 404)
    assert "data-print" in seen.text


async def test_a_customer_statement_has_only_proven_facts(world: World, viewer: Person):
    reference, waiting = await paid(world), await in_review(world)
    for value, lot in ((777.03, "refused"), (777.02, "failed"), (777.11, "told")):
        await world.pay(order(f"{reference}-{lot}", world.today(), value=value))
    async with world.failing("payout", "refuse"):
        await world.pay(order(f"{reference}-unsent", world.today()))

    async def failed() -> Seen | None:
        seen = await viewer.open(f"{at(world, f'{reference}-failed')}/certainty")
        return seen if "desistiu" in seen.text else None

    seen = {
        lot: await viewer.open(f"{at(world, each)}/certainty")
        for lot, each in (
            ("paid", reference),
            ("waiting", waiting),
            ("refused", f"{reference}-refused"),
            ("unsent", f"{reference}-unsent"),
            ("told", f"{reference}-told"),
        )
    } | {"failed": await until(failed)}

    lead = re.compile(r'class="lead"><b>([^<]*)</b> ([^<]*)')
    said = {lot: lead.findall(each.text)[0] for lot, each in seen.items()}
    unsent = (
        "Nenhum valor saiu. A mesma ordem ainda pode ser enviada antes do fim do dia (UTC); "
        "se não for, nunca será paga."
    )
    told = (
        "O banco não executou a ordem: nenhum dinheiro saiu. A mesma ordem pode ser enviada de "
        "novo até o fim do dia (UTC); do contrário, nunca será paga."
    )
    never = "Não pago, e esta ordem nunca será paga."
    assert said == {
        "paid": ("Pago.", "O banco pagador confirmou o pagamento."),
        "waiting": (
            "Ainda sem confirmação.",
            "O que o banco mostra não decide, ou difere da ordem.",
        ),
        "refused": (never, "O banco recusou a ordem."),
        "failed": (never, "O banco tinha aceitado a ordem e depois desistiu dela, sem pagar."),
        "unsent": ("Não pago até agora.", unsent),
        "told": ("Não pago até agora.", told),
    }
    for each in seen.values():
        assert each.status == 200
        assert "52998224725" not in each.text
        assert "cli_" not in each.text.partition("<main")[2]


async def lost(world: World) -> Change:
    """Lose an answer; return a step from there, for a test to say where it leads."""
    reference = f"pedido-{uuid4()}"
    await world.pay(order(reference, world.today(), value=777.07))
    return Change(
        account_id=world.demo["accounts"]["main"]["id"],
        reference=reference,
        attempt=1,
        before=frozenset({PayoutState.UNKNOWN}),
        after=PayoutState.NOT_SENT,
        at=world.gateway.kernel.now(),
    )


async def not_executed(world: World, *, over: bool = False) -> str:
    """Let a look at the bank prove of a lost answer that it has nothing; and let the day end."""
    store, step = world.gateway.kernel.store.payouts, await lost(world)
    absent = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="absent")
    assert await store.record(replace(step, evidence=absent, cause=EventKind.PROBED))
    ended = replace(
        step,
        before=frozenset({PayoutState.NOT_SENT}),
        after=PayoutState.FAILED,
        failure=Failure(FailureCode.NOT_SENT),
        cause=EventKind.EXPIRED,
    )
    assert not over or await store.record(ended)
    return step.reference


@pytest.mark.parametrize("over", [False, True], ids=["open", "after its day"])
async def test_a_payout_not_executed_by_the_bank_is_never_shown_as_unsent(
    world: World, viewer: Person, *, over: bool
):
    """Its page, customer statement, lists and export agree."""
    reference = await not_executed(world, over=over)

    page = await viewer.open(at(world, reference))
    paper = await viewer.open(f"{at(world, reference)}/certainty")
    table = await viewer.open("/panel/payouts/export?days=1")
    line = next(each for each in table.text.splitlines() if reference in each)

    assert page.text.count("Não executado") + page.text.count("não executado") >= 3
    assert "t-not_executed" in page.text
    assert "não: o banco não executou" in page.text
    assert "O banco foi consultado e não tem o pagamento" in page.text
    assert "não executado pelo banco" in line
    for each in (page.text, paper.text.partition("<main")[2], line):
        said = re.findall(r"(?i)não enviad\w+|nada foi enviado[.,]|certamente não", each)
        assert said == []
    for found in ("/panel", "/panel/payouts", "/panel/providers/sandbox/incident"):
        seen = await viewer.open(found)
        assert re.search("(?i)não executados? pelo banco", seen.text)


async def test_a_payout_closed_by_two_people_is_not_shown_as_accepted(world: World, viewer: Person):
    """Whether the bank ever had it is unknown, and no page, list or table says so."""
    step = await lost(world)
    decided = replace(
        step,
        after=PayoutState.FAILED,
        failure=Failure(FailureCode.OTHER),
        cause=EventKind.DECIDED,
    )
    assert await world.gateway.kernel.store.payouts.record(decided)

    page = await viewer.open(at(world, step.reference))
    paper = await viewer.open(f"{at(world, step.reference)}/certainty")
    listed = await viewer.open(f"/panel/payouts?days=1&tab=failed&text={step.reference}")
    table = await viewer.open(f"/panel/payouts/export?days=1&text={step.reference}")

    for each in (page, listed, table):
        assert "não pago, decidido por duas pessoas" in each.text
        assert "depois de aceito" not in each.text
        assert "o banco recebeu a ordem" not in each.text
    assert "Duas pessoas da parte pagadora procuraram o pagamento" in paper.text
    assert "duas pessoas concordaram: nenhum pagamento foi feito" in paper.text


async def test_a_payout_refused_here_is_not_shown_as_refused_by_the_bank(
    world: World, viewer: Person
):
    """An adapter knows that some orders can never be sent to its bank."""
    reference, store = f"pedido-{uuid4()}", world.gateway.kernel.store.payouts
    account = world.demo["accounts"]["main"]["id"]
    planted = replace(payout(reference, account_id=account), provider_key=uuid4().hex)
    await store.add(planted, attempt())
    here = Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason="unsendable")
    refused = change(PayoutState.SENDING, PayoutState.REJECTED, reference=reference)
    failure = Failure(FailureCode.ACCOUNT_INVALID)
    assert await store.record(replace(refused, account_id=account, evidence=here, failure=failure))

    page = await viewer.open(at(world, reference))

    assert "Recusado aqui" in page.text
    assert "Enviado</b>certamente não" in page.text
    assert "o banco recusou" not in page.text


async def test_a_payout_in_review_is_unconfirmed_and_not_under_way(world: World, viewer: Person):
    reference = await in_review(world)

    unknown = await viewer.open("/panel/payouts?tab=unknown")
    under_way = await viewer.open("/panel/payouts?tab=open")

    assert f"/payouts/{reference}" in unknown.text
    assert f"/payouts/{reference}" not in under_way.text


async def test_a_payout_failed_after_acceptance_is_not_shown_as_refused(
    world: World, viewer: Person
):
    reference = f"pedido-{uuid4()}"
    await world.pay(order(reference, world.today(), value=777.02))

    async def failed() -> Seen | None:
        seen = await viewer.open(at(world, reference))
        return seen if "falhou depois de aceito" in seen.text else None

    assert "recusado pelo banco" not in (await until(failed)).text


async def forget_probes(world: World) -> None:
    """Move the last probe of every payout, the reconciler's too, to a minute ago."""
    a_minute_ago = world.gateway.kernel.now() - timedelta(minutes=1)
    async with world.gateway.kernel.store.database.writing() as connection:
        await connection.execute(update(core.attempts).values(last_probe_at=a_minute_ago))


async def test_a_held_payout_shows_its_reason_and_a_second_person_decides(
    world: World, operator: Person, approver: Person
):
    """A user without the right to approve reads it too, without a button."""
    released, refused = at(world, await held(world)), at(world, await held(world))

    seen = [await each.open(released) for each in (operator, approver)]
    listed = await operator.open("/panel/payouts?tab=held")
    let_go = await approver.send(f"{released}/release")
    without_reason = await approver.send(f"{refused}/refuse")
    ended = await approver.send(f"{refused}/refuse", {"reason": "nobody knows this payee"})
    shown = await approver.open(refused)

    assert all("Será enviado em" in each.text for each in seen)
    assert [f"{released}/release" in each.text for each in seen] == [False, True]
    assert released in listed.text
    assert [let_go.status, without_reason.status, ended.status] == [303, 400, 303]
    assert "nada será" in shown.text


async def test_the_orderer_of_a_secret_sees_no_button_to_release_its_held_payouts(
    world: World, approver: Person
):
    """The button to refuse stays, and another person is named as who may release."""
    store = world.gateway.kernel.store
    database, users = store.database, store.identity.users
    [found] = [each.id for each in await users.list() if each.email.startswith("approver-")]
    await database.write(update(core.secrets).values(ordered_by=found))
    page = at(world, await held(world))

    seen = await approver.open(page)
    tried = await approver.send(f"{page}/release")
    await database.write(update(core.secrets).values(ordered_by=""))

    assert f"{page}/refuse" in seen.text
    assert f"{page}/release" not in seen.text
    assert "Você pediu um segredo da credencial dele" in seen.text
    assert (tried.status, "Quem pediu um segredo" in tried.text) == (403, True)


async def test_a_probe_is_limited_to_once_in_five_seconds(world: World, operator: Person):
    reference = await in_review(world)
    page = at(world, reference)
    shown = await operator.open(page)

    async def probed() -> Seen | None:
        await forget_probes(world)
        seen = await operator.send(f"{page}/probe")
        return None if seen.status == 429 else seen

    first = await until(probed)
    second = await operator.send(f"{page}/probe")

    assert f"{page}/probe" in shown.text
    assert first.status == 303, first.text
    assert first.location == f"{page}?probed=1"
    assert second.status == 429
    assert reference in second.text


async def test_payouts_in_review_are_listed_with_their_evidence(world: World, approver: Person):
    reference = await in_review(world)
    account = world.demo["accounts"]["main"]["id"]

    seen = await approver.open(f"/panel/unresolved?account={account}&reference={reference}")

    assert seen.status == 200
    assert reference in seen.text
    assert 'name="verdict"' in seen.text


async def test_an_opinion_is_given_once_per_user(world: World, approver: Person):
    reference = await in_review(world)
    account = world.demo["accounts"]["main"]["id"]
    here = f"/panel/unresolved?account={account}&reference={reference}"
    await approver.open(here)
    fields = {
        "account_id": account,
        "reference": reference,
        "verdict": "paid",
        "reason": "extrato do banco, linha 7",
        "value": "777,12",
    }

    wrong = await approver.send("/panel/unresolved", {**fields, "value": "777,13"})
    short = await approver.send("/panel/unresolved", {**fields, "reason": "sim"})
    given = await approver.send("/panel/unresolved", fields)
    again = await approver.open(here)

    assert wrong.status == short.status == 400
    assert "extrato do banco, linha 7" in wrong.text
    assert (given.status, given.location) == (303, f"{here}&said=waiting")
    assert 'name="verdict"' not in again.text


async def test_differing_opinions_stay_hidden_from_others(world: World, approver: Person):
    """No page shows another user's opinion before the decision; its author may withdraw it."""
    reference = await in_review(world)
    account, page = world.demo["accounts"]["main"]["id"], at(world, reference)
    here = f"/panel/unresolved?account={account}&reference={reference}"
    other, third = [await signed_in(world, Role.APPROVER) for _ in range(2)]
    fields = {"account_id": account, "reference": reference, "value": "777,12"}
    said = (
        (approver, {"verdict": "paid", "value": "777,11", "reason": "achei no extrato"}),
        (other, {"verdict": "paid", "value": "777,12", "reason": "nada no extrato"}),
    )

    for person, opinion in said:
        await person.open(here)
        await person.send("/panel/unresolved", {**fields, **opinion})
    seen = {
        name: [await each.open(path) for path in (here, page, f"{page}/dossier")]
        for name, each in {"first": approver, "other": other, "third": third}.items()
    }
    withdrawn = await approver.send("/panel/unresolved/withdraw", fields)
    again = await approver.open(withdrawn.location)

    read = {
        name: [[why in page.text for page in pages] for why in ("achei no", "nada no")]
        for name, pages in seen.items()
    }
    own, nothing = [True] * 3, [False] * 3
    assert read == {
        "first": [own, nothing],
        "other": [nothing, own],
        "third": [nothing, nothing],
    }
    for review, *_ in seen.values():
        assert "Uma terceira pessoa decide, ou uma das duas retira o seu" in review.text
        assert "falta 1 pessoa" not in review.text
    assert "achei no" not in again.text
    assert "1 de 2 pareceres" in again.text
    assert 'name="verdict"' in again.text


async def test_another_amount_is_shown_from_the_review_to_the_receipt(
    world: World, approver: Person, viewer: Person
):
    """Ordered and moved amount; two people confirm what the bank moved, and when."""
    reference = await in_review(world)
    account, page = world.demo["accounts"]["main"]["id"], at(world, reference)
    here = f"/panel/unresolved?account={account}&reference={reference}"
    fields = {
        "account_id": account,
        "reference": reference,
        "verdict": "paid",
        "reason": "extrato do banco, linha 7",
        "value": "777,11",
    }
    said = []
    for person in (approver, await signed_in(world, Role.APPROVER)):
        review = await person.open(here)
        said.append((await person.send("/panel/unresolved", fields)).location)
    payout, receipt = await viewer.open(page), await viewer.open(f"{page}/receipt")
    statement = await viewer.open(f"/panel/accounts/{account}/statement?read=1")
    table = await viewer.open("/panel/payouts/export")
    partner = await world.settled(reference)
    today = f"{world.today()}T12:00:00Z"
    latest = f"overview/latest?since={today}&until={today}"
    lists = [
        await viewer.open(f"/panel/{where}")
        for where in (
            *(latest, "payouts?text=777,11", "payouts?least=777,11&most=777,11"),
            *("payouts?text=777,12", "search?q=777,11"),
        )
    ]

    for each in lists:
        row = each.text.partition(f"/payouts/{reference}")[2].partition("</tr>")[0]
        amounts = re.findall(r"777,1\d", row.rpartition('<td class="num">')[2])
        assert amounts == ["777,11", "777,12"]
    assert said == [f"{here}&said=waiting", "/panel/unresolved?said=decided"]
    for each in (review, payout, receipt):
        values = ("777,12", "777,11", "0,01", "diferente do solicitado")
        assert [word for word in values if word not in each.text] == []
    assert re.search(
        rf"{reference}</a><span class=.sub.><span class=.t-bad.>.*777,12.*0,01", statement.text
    )
    assert re.search(rf"{reference};.*;777,12;.*;777,11;-0,01", table.text)
    assert "decidido por duas pessoas" not in payout.text
    assert (partner["value"], partner["status"]) == (777.12, "paid")


async def test_returned_money_is_shown_on_every_page_of_a_payout(world: World, viewer: Person):
    """Partners still read ``paid``: the contract has no other status."""
    reference = f"volta-{uuid4().hex[:8]}"
    await world.pay(order(reference, world.today(), value=777.09))
    partner = await world.settled(reference)
    account, page = world.demo["accounts"]["main"]["id"], at(world, reference)
    payouts = world.gateway.kernel.store.payouts

    async def is_back() -> bool:
        await world.look_at_unsettled()
        return bool(await payouts.returns(account, reference))

    await until(is_back)
    listed = await viewer.open("/panel/payouts?tab=returned")
    settled = await viewer.open("/panel/payouts?tab=paid")
    payout, receipt = await viewer.open(page), await viewer.open(f"{page}/receipt")
    table = await viewer.open("/panel/payouts/export?tab=returned")
    overview = await viewer.open("/panel")

    assert partner["status"] == "paid"
    assert reference in listed.text
    assert reference not in settled.text
    assert 'class="b ok"' not in payout.text
    for each in (listed, payout, receipt, table, overview):
        assert "devolvido" in each.text
    assert "Este pagamento foi devolvido." in receipt.text
    # "liquidado" is what moved, on every page; less what came back it has another name
    assert re.search(r"777,09</span> liquidados · .*777,09</span> devolvidos", listed.text)
    assert "Liquidado, menos devoluções" in overview.text
    assert "Valor liquidado" not in overview.text
    assert re.search(rf"{reference};.*;devolvido;.*;777,09;0,00;777,09", table.text)


def asked(sent: Seen) -> int:
    """Say about how many payouts a bank was asked."""
    return int(parse_qs(urlsplit(sent.location).query)["asked"][0])


async def test_probing_all_queries_every_payout_and_shows_the_results(
    world: World, operator: Person
):
    reference = await in_review(world)
    shown = await operator.open("/panel/unresolved")

    async def probed() -> Seen | None:
        await forget_probes(world)
        sent = await operator.send("/panel/unresolved/probe")
        return sent if asked(sent) else None

    first = await until(probed)
    told = await operator.open(first.location)
    while asked(second := await operator.send("/panel/unresolved/probe")):
        pass  # a payout of another test came into review
    again = await operator.open(second.location)

    assert 'action="/panel/unresolved/probe"' in shown.text
    assert reference in told.text
    assert re.search(r"consultad[oa]s? sobre \d+ pagamento", told.text)
    assert "nos últimos cinco segundos" in again.text
    assert "Nenhum banco foi consultado" in again.text


async def searched(person: Person, text: str) -> Seen:
    """Send the search form, and follow its redirect: text without personal data has an address."""
    await person.open("/panel/search")
    seen = await person.send("/panel/search", {"q": text})
    return await person.open(seen.location) if seen.location.startswith("/panel/search?") else seen


@pytest.mark.parametrize("what", ["reference", "e2e_id", "tax_number"])
async def test_the_search_field_finds_a_payment_by_each_of_its_ids(
    world: World, viewer: Person, what: str
):
    """A single result is opened; several are listed, and no address contains a tax number."""
    reference = await paid(world)
    account = world.demo["accounts"]["main"]["id"]
    row = await world.gateway.kernel.store.payouts.find(account, reference)
    asked = {"reference": reference, "e2e_id": row.e2e_id, "tax_number": "529.982.247-25"}

    seen = await searched(viewer, asked[what])

    if what == "tax_number" and seen.status == 200:
        assert reference in seen.text
    else:
        assert (seen.status, seen.location) == (303, at(world, reference))
    assert "52998224725" not in seen.text + seen.location


PASTED = (
    "  {reference}\t",
    "'{reference}',",
    "\u200b{reference}\ufeff",
    '"e2e_id":"{e2e_id}","settled_at":',
    "https://gate.example{page}?said=1#top",
)


async def test_a_pasted_id_with_surrounding_text_is_found(world: World, viewer: Person):
    reference = await paid(world)
    row = await world.gateway.kernel.store.payouts.find(
        world.demo["accounts"]["main"]["id"], reference
    )

    for pasted in PASTED:
        text = pasted.format(reference=reference, e2e_id=row.e2e_id, page=at(world, reference))
        seen = await searched(viewer, text)

        assert (seen.status, seen.location) == (303, at(world, reference)), pasted


async def test_a_trace_id_in_any_notation_leads_to_its_refusal(world: World, operator: Person):
    trace = str(uuid4())
    await world.ask("GET", world.at("/balance", "sister"), headers={"X-Trace-ID": trace})

    async def is_logged() -> bool:
        await world.write_request_log()
        return (await operator.open(f"/panel/trace/{trace}")).status == 200

    await until(is_logged)

    for text in (trace, f'"trace_id": "{trace}"', trace.upper()):
        seen = await searched(operator, text)

        assert (seen.status, seen.location) == (303, f"/panel/trace/{trace}"), text


async def test_a_payout_form_is_reviewed_and_ordered_once(world: World, operator: Person):
    fields = ordered(world)
    await operator.open("/panel/payouts/new")
    account = world.demo["accounts"]["main"]["id"]

    summary = await operator.send("/panel/payouts/new", fields)
    before = await world.gateway.kernel.store.payouts.find(account, fields["reference"])
    send = {**fields, "step": "send", "owner_name": "Maria", "owner_tax_number": "***"}
    first = await operator.send("/panel/payouts/new", send)
    second = await operator.send("/panel/payouts/new", send)

    assert summary.status == 200, summary.text
    assert "Titular da chave" in summary.text
    assert "Enviar para aprovação" in summary.text
    assert before is None
    # above the limit of this sandbox another person decides; until then nothing is sent
    assert first.status == 303, first.text
    assert "Esta solicitação é sua" in (await operator.open(first.location)).text
    assert second.status == 409
    assert "Conferir o pagamento" in second.text
    assert await world.executions(fields["reference"]) == []


async def test_a_cpf_key_identifies_its_owner_without_typing_it_twice(
    world: World, operator: Person
):
    """For other kinds of keys the number is required."""
    cpf = ordered(world, key_type="cpf", key="529.982.247-25", tax_number="")
    mail = ordered(world, tax_number="")
    await operator.open("/panel/payouts/new")

    summary = await operator.send("/panel/payouts/new", cpf)
    refused = await operator.send("/panel/payouts/new", mail)
    sent = await operator.send(
        "/panel/payouts/new",
        {**cpf, "step": "send", "owner_name": "Maria", "owner_tax_number": "***"},
    )

    assert "Titular da chave" in summary.text
    assert "outro que o digitado" not in summary.text
    assert refused.status == 400
    assert (await operator.open(sent.location)).text.count("***.982.247-**") == 3


async def test_a_phone_key_in_local_notation_is_normalised(world: World, operator: Person):
    """The summary shows the ordered key."""
    typed = ordered(world, key_type="phone", key="(11) 98888-7777")
    await operator.open("/panel/payouts/new")

    summary = await operator.send("/panel/payouts/new", typed)
    send = {**typed, "step": "send", "owner_name": "Maria", "owner_tax_number": "***"}
    sent = await operator.send("/panel/payouts/new", send)

    assert summary.status == 200, summary.text
    assert "+5511988887777" in summary.text
    assert sent.status == 303, sent.text


async def test_correcting_an_order_keeps_every_field(world: World, operator: Person):
    fields = ordered(world, value="R$ 1.234,56", key="outra@example.com", description="aluguel")
    await operator.open("/panel/payouts/new")

    back = await operator.send("/panel/payouts/new", {**fields, "step": "correct"})

    assert back.status == 200
    for name in ("key", "value", "description", "reference", "tax_number"):
        assert f'value="{fields[name]}"' in back.text
    assert 'value="email" selected' in back.text


async def test_an_amount_above_the_balance_causes_a_warning(world: World, operator: Person):
    at_main = f"/panel/payouts/new/balance?account_id={world.demo['accounts']['main']['id']}"

    little = await operator.open(f"{at_main}&value=0,01")
    much = await operator.open(f"{at_main}&value=90.000.000,00")
    other = frozenset({world.demo["companies"]["other"]["id"]})
    theirs = await signed_in(world, Role.OPERATOR, companies=other)

    assert (little.status, much.status) == (200, 200)
    assert "Saldo agora" in little.text
    warned = "O valor é maior que o saldo da conta agora."
    assert [warned in each.text for each in (little, much)] == [False, True]
    assert (await theirs.open(at_main)).status == 404


async def test_accounts_that_cannot_pay_are_not_offered(world: World, operator: Person):
    kernel = world.gateway.kernel
    accounts = Services(kernel).accounts
    company = world.demo["companies"]["main"]["id"]
    wanted = AccountRequest(company_id=company, name="Sem banco", tax_number="52998224725")
    who = Staff(world.office.acting)
    idle = await accounts.create(who, msgspec.structs.replace(wanted, active=True, verified=True))

    seen = await operator.open("/panel/payouts/new")

    assert idle.id not in seen.text
    assert f'value="{world.demo["accounts"]["main"]["id"]}"' in seen.text


def to_bank_account(world: World, **more: str) -> dict[str, str]:
    return {
        "step": "look",
        "method": "bank_account",
        "account_id": world.demo["accounts"]["main"]["id"],
        "name": "Maria da Silva",
        "tax_number": "529.982.247-25",
        "bank_number": "341",
        "branch": "0001",
        "account": "123456-7",
        "account_type": "savings",
        "value": "1.234,56",
        "description": "painel",
        "reference": f"painel-{uuid4().hex[:8]}",
        **more,
    }


@pytest.mark.parametrize(
    ("query", "field", "other"),
    [
        ("", 'name="key"', 'name="bank_number"'),
        ("?to=pix", 'name="key"', 'name="bank_number"'),
        ("?to=bank_account", 'name="bank_number"', 'name="key"'),
        ("?to=made-up", 'name="key"', 'name="bank_number"'),
    ],
)
async def test_the_address_selects_a_payout_by_key_or_bank_account(
    operator: Person, query: str, field: str, other: str
):
    """Without a script too: both are links."""
    seen = await operator.open(f"/panel/payouts/new{query}")

    assert seen.status == 200
    assert field in seen.text
    assert other not in seen.text
    assert "/panel/payouts/new?to=bank_account" in seen.text


@pytest.mark.parametrize("number", ["341", "60701190"])
async def test_a_payout_to_a_bank_account_is_reviewed_and_ordered_once(
    world: World, operator: Person, number: str
):
    fields = to_bank_account(world, bank_number=number)
    account = world.demo["accounts"]["main"]["id"]
    await operator.open("/panel/payouts/new?to=bank_account")

    summary = await operator.send("/panel/payouts/new", fields)
    before = await world.gateway.kernel.store.payouts.find(account, fields["reference"])
    sent = await operator.send("/panel/payouts/new", {**fields, "step": "send"})
    again = await operator.send("/panel/payouts/new", {**fields, "step": "send"})

    assert summary.status == 200, summary.text
    shown = ("ITA", "60701190", "0001", "123456-7", "conta poupança", "1.234,56", "Maria da Silva")
    assert [words for words in shown if words not in summary.text] == []
    assert fields["tax_number"] in summary.text, "who ordered checks what they typed"
    assert before is None
    assert sent.status == 303, sent.text
    assert sent.location.startswith("/panel/approvals/")
    assert again.status == 409
    assert "Conferir o pagamento" in again.text


async def test_the_approved_bank_account_is_the_one_typed(world: World, operator: Person):
    fields = to_bank_account(world, step="send")
    await operator.open("/panel/payouts/new?to=bank_account")
    await operator.send("/panel/payouts/new", fields)
    approver = await signed_in(world, Role.APPROVER)
    waiting = await approver.open("/panel/approvals")
    order_page = re.search(
        rf'href="(/panel/approvals/[^"]+)"[^§]*?{fields["reference"]}', waiting.text
    )
    assert order_page

    shown = await approver.open(order_page[1])
    done = await approver.send(f"{order_page[1]}/approve", {"value": "1.234,56"})

    assert [
        word for word in ("341", "0001", "123456-7", "1.234,56") if word not in shown.text
    ] == []
    assert done.status == 303, done.text
    account = world.demo["accounts"]["main"]["id"]
    made = await world.gateway.kernel.store.payouts.find(account, fields["reference"])
    assert made is not None
    assert made.destination == BankDestination(
        name="Maria da Silva",
        tax_number="52998224725",
        bank_number="341",
        branch="0001",
        account="123456-7",
        account_type=AccountType.SAVINGS,
    )


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"bank_number": "34"}, "Banco deve ser um código COMPE"),
        ({"tax_number": "529.982.247-26"}, "CPF ou CNPJ deve ser um CPF"),
        ({"value": "0,00"}, "Valor deve ser maior que zero"),
    ],
    ids=str,
)
async def test_a_refusal_names_the_field_and_its_format(
    world: World, operator: Person, wrong: dict[str, str], sentence: str
):
    """In the user's language; the code's own message would list half a dozen reasons."""
    await operator.open("/panel/payouts/new?to=bank_account")

    seen = await operator.send("/panel/payouts/new", to_bank_account(world, **wrong))

    assert sentence in seen.text


async def test_a_bank_that_is_not_listed_is_marked_and_can_be_ordered(
    world: World, operator: Person
):
    fields = to_bank_account(world, bank_number="999")
    await operator.open("/panel/payouts/new?to=bank_account")

    summary = await operator.send("/panel/payouts/new", fields)
    sent = await operator.send("/panel/payouts/new", {**fields, "step": "send"})

    assert "Nenhum banco da nossa lista tem este número" in summary.text
    assert sent.status == 303, sent.text


async def test_several_search_results_are_listed(world: World, viewer: Person):
    start = f"varios-{uuid4().hex[:8]}"
    for number in range(2):
        await world.pay(order(f"{start}-{number}", world.today(), value=10 + number))

    seen = await viewer.open(f"/panel/search?q={start}")

    assert seen.status == 200, seen.text
    assert f"{start}-0" in seen.text
    assert f"{start}-1" in seen.text


async def test_result_pages_of_a_tax_number_are_requested_by_post(
    world: World, viewer: Person, monkeypatch: pytest.MonkeyPatch
):
    """The number is in no address, and every payout to it can be reached."""
    monkeypatch.setattr(searches, "FOUND_AT_MOST", 1)
    older, newer = await paid(world), await paid(world)
    number, asked = "529.982.247-25", {"q": "529.982.247-25", "page": "2"}

    await viewer.open("/panel/search")
    first = await viewer.send("/panel/search", {"q": number})
    second = await viewer.send("/panel/search", asked)
    of_today = await viewer.send("/panel/search", {"q": f"{number} hoje"})

    assert (newer in first.text, older in first.text) == (True, False)
    assert (newer in second.text, older in second.text) == (False, True)
    assert newer in of_today.text
    assert 'name="page" value="2"' in first.text
    for each in (first, second, of_today):
        assert not re.search(r'(?:href|action)="[^"]*(?:52998224725|529\.982\.247)', each.text)


async def test_result_pages_of_another_text_have_an_address(viewer: Person):
    beyond = await viewer.open("/panel/search?q=Loja&page=2")

    assert beyond.status == 200
    assert 'href="/panel/search?q=Loja&amp;page=1"' in beyond.text


async def test_a_list_shows_its_range_and_total(world: World, viewer: Person):
    """Sums cover the whole filter; the last page is one click away."""
    one = await paid(world)
    async with world.gateway.kernel.store.database.writing() as connection:
        row = (
            (await connection.execute(select(core.payouts).where(core.payouts.c.reference == one)))
            .mappings()
            .one()
        )
        for number in range(59):
            reference = f"muitos-{number}"
            more = {
                "reference": reference,
                "reference_sha256": reference_digest(reference),
                "provider_key": f"muitos-{number:025}",
                "client_id": "cli_muitos",
                "centavos": 10_000,
            }
            added = {**row, **more}
            del added[core.payouts.c.exception.name]  # the database writes it
            await connection.execute(insert(core.payouts), added)

    first = await viewer.open("/panel/payouts?client_id=cli_muitos")
    last = await viewer.open("/panel/payouts?client_id=cli_muitos&page=3")
    past = await viewer.open("/panel/payouts?client_id=cli_muitos&page=4")

    assert "1–25 de 59 · " in first.text
    assert "51–59 de 59 · " in last.text
    for each in (first, last):
        assert "5.900,00" in each.text
    assert 'href="/panel/payouts?client_id=cli_muitos&amp;page=3"' in first.text
    assert last.text.count('<tr class="go">') == 9
    assert past.status == 200


async def archived(world: World, reference: str, folder: Path) -> None:
    """Make a payout three hundred days older, and archive it."""
    database, of = world.gateway.kernel.store.database, core.payouts.c.reference == reference
    row = await database.first(select(core.payouts).where(of))
    assert row is not None
    times = ("created_at", "updated_at", "settled_at")
    older = {each: getattr(row, each) - timedelta(days=300) for each in times}
    await database.write(update(core.payouts).where(of).values(older))
    assert [stay for _, stay in await write(database, folder, world.gateway.kernel.now)] == [0]


async def test_partners_read_an_archived_payout_and_never_pay_it_again(
    world: World, tmp_path: Path
):
    body = order(f"pedido-{uuid4()}", world.today(), value=12.34)
    reference = str(body["reference"])
    await world.pay(body)
    before = await world.settled(reference)
    await archived(world, reference, tmp_path)

    again = await world.pay(body)
    after = (await world.ask("GET", world.at(f"/withdraw/{reference}"))).document

    assert (again.status, again.document["status"]) == (200, "processing")
    assert await world.executions(reference) == [1234]
    masked = {**before["destination"], "tax_number": "***.982.247-**", "key": "m•••••@e•••••.com"}
    assert after["destination"] == masked
    same = ("status", "value", "date", "e2e_id", "description", "method", "origin")
    assert {each: after[each] for each in same} == {each: before[each] for each in same}


async def test_people_read_an_archived_payout_without_its_tries(
    world: World, viewer: Person, tmp_path: Path
):
    reference = await paid(world)
    await archived(world, reference, tmp_path)
    page = at(world, reference)

    seen = {
        each: await viewer.open(f"{page}/{each}".removesuffix("/"))
        for each in ("", "certainty", "receipt", "dossier")
    }

    assert {each.status for each in seen.values()} == {200}
    assert "Arquivado: as tentativas" in seen[""].text
    assert "52998224725" not in "".join(each.text for each in seen.values())
    shown = json.loads(seen["dossier"].text)
    assert (shown["archived"], shown["attempts"], shown["certainty"]) == (True, [], "settled")


async def test_a_list_of_archived_months_says_that_it_lacks_some(world: World, viewer: Person):
    settings = world.gateway.kernel.settings.payouts
    note = "podem estar arquivados"

    without = await viewer.open("/panel/payouts?init=2026-01-01&ends=2026-01-31")
    msgspec.structs.force_setattr(settings, "keep_months", 6)
    try:
        archived = await viewer.open("/panel/payouts?init=2026-01-01&ends=2026-01-31")
        kept = await viewer.open("/panel/payouts?init=2026-05-01&ends=2026-05-31")
    finally:
        msgspec.structs.force_setattr(settings, "keep_months", None)

    assert [note in each.text for each in (without, archived, kept)] == [False, True, False]
