"""The customers' interface over HTTP, as the sandbox README tells it."""

from __future__ import annotations

import itertools
import re
from urllib.parse import quote

import aiohttp
import pytest

from provider_adapters.testing.sandbox import rows


@pytest.fixture
async def with_key(caller):
    status, key = await caller.ask("POST", "/chaves", json={"tipo": "email", "chave": "l@e.com"})
    assert status == 201
    return key


async def test_every_row_wants_the_accounts_token(caller):
    body = {"name": "Outra", "tax_number": "52998224725"}
    _, other = await caller.control("POST", "/accounts", json=body)
    expected = {
        "": (401, "UNAUTHORIZED"),
        "Bearer nobody": (401, "UNAUTHORIZED"),
        f"Basic {caller.account['token']}": (401, "UNAUTHORIZED"),
        f"Bearer {other['token']}": (403, "WRONG_ACCOUNT"),
    }

    wrong = {
        (row.method, row.path, authorization): said
        for row, authorization in itertools.product(rows.ROWS, expected)
        if (said := await refusal(caller, row, authorization)) != expected[authorization]
    }

    assert wrong == {}


async def refusal(caller, row, authorization: str) -> tuple[int, str]:
    """Call a row with a header, or with none."""
    own = row.path.replace("{conta}", caller.account["id"])
    url = f"http://127.0.0.1:{caller.bank.port}" + re.sub(r"\{[^{}]*\}", "x", own)
    headers = {"Authorization": authorization} if authorization else {}
    async with caller.session.request(row.method, url, headers=headers) as answer:
        return answer.status, (await answer.json())["error"]["code"]


async def test_the_balance_of_an_account(caller):
    _, balance = await caller.ask("GET", "/saldo")

    assert balance == {
        "saldo_centavos": 100_000_00,
        "bloqueado_centavos": 0,
        "disponivel_centavos": 100_000_00,
        "atualizado_em": "2026-11-20T13:40:11.123Z",
    }


async def test_keys_are_made_listed_and_given_up(caller, with_key):
    path = f"/chaves/{with_key['id']}"

    taken, _ = await caller.ask("POST", "/chaves", json={"tipo": "email", "chave": "l@e.com"})
    _, canceled = await caller.ask("DELETE", path)
    _, listed = await caller.ask("GET", "/chaves")

    assert (taken, canceled["situacao"], listed["chaves"]) == (409, "CANCELADA", [canceled])
    assert (await caller.ask("DELETE", "/chaves/none"))[0] == 404


async def test_the_owner_of_a_key_is_told(caller, with_key):
    status, owner = await caller.ask("POST", "/consultas-chave", json={"chave": "l@e.com"})

    assert (status, owner["titular"]["nome"]) == (200, "Loja Exemplo")


@pytest.mark.parametrize("reference", ["r-1", "a/b c?d#e%f", "ção", "..x", "{}"])
async def test_a_charge_has_any_reference(caller, with_key, reference):
    """A reference travels percent-encoded as one segment."""
    body = {"referencia": reference, "tipo": "ESTATICA", "chave": "l@e.com", "valor_centavos": 5}
    made, charge = await caller.ask("POST", "/cobrancas", json=body)
    path = f"/cobrancas/{quote(reference, safe='')}"

    read = await caller.ask("GET", path)
    _, payment = await caller.ask("GET", f"{path}/pagamento")
    _, canceled = await caller.ask("DELETE", path)

    assert (made, read) == (201, (200, charge))
    assert (payment["pagamento"], canceled["situacao"]) == (None, "CANCELADA")


async def test_payments_are_listed(caller):
    _, said = await caller.ask("GET", "/recebimentos")

    assert [(one["valor_centavos"], one["referencia"]) for one in said["recebimentos"]] == [
        (100_000_00, None)
    ]
    assert (await caller.ask("GET", "/cobrancas/none/pagamento"))[0] == 404


async def test_a_payment_is_given_back_in_parts(caller, wall):
    """Its refunds are read by key and in the list; what is left is told."""
    _, said = await caller.ask("GET", "/recebimentos")
    payment = said["recebimentos"][0]
    path = f"/recebimentos/{payment['e2e']}"
    body = {"valor_centavos": 10_50, "referencia": "r-1", "descricao": "oops"}

    made = await caller.ask(
        "POST", f"{path}/devolucoes", json=body, headers={"Idempotency-Key": "rk-1"}
    )
    wall.move(1)

    status, refund = made
    read = await caller.ask("GET", "/devolucoes/por-chave/rk-1")
    assert (status, refund["situacao"], refund["liquidada_em"]) == (201, "EM_PROCESSAMENTO", None)
    assert refund["recebimento"] == {"e2e": payment["e2e"], "referencia": None}
    assert (read[1]["situacao"], read[1]["referencia"]) == ("DEVOLVIDO", "r-1")
    assert (await caller.ask("GET", "/devolucoes"))[1]["devolucoes"] == [read[1]]
    assert (await caller.ask("GET", path))[1]["devolvido_centavos"] == 10_50


async def test_a_repeated_refund_says_so(caller):
    _, said = await caller.ask("GET", "/recebimentos")
    path = f"/recebimentos/{said['recebimentos'][0]['e2e']}/devolucoes"
    send = {"json": {"valor_centavos": 1}, "headers": {"Idempotency-Key": "rk-1"}}

    first = await caller.ask("POST", path, **send)
    again = await caller.ask("POST", path, **{**send, "headers": {"Idempotency-Key": "rk-1"}})
    other = await caller.ask("POST", path, json={"valor_centavos": 2}, headers=send["headers"])

    assert (first[0], again[0], again[1]["id"]) == (201, 200, first[1]["id"])
    assert (other[0], other[1]["error"]["code"]) == (422, "KEY_REUSED")


async def test_a_refund_needs_a_key_and_a_payment(caller):
    without = await caller.ask("POST", "/recebimentos/E1/devolucoes", json={"valor_centavos": 1})
    nowhere = await caller.ask(
        "POST",
        "/recebimentos/E1/devolucoes",
        json={"valor_centavos": 1},
        headers={"Idempotency-Key": "rk-1"},
    )

    assert (without[0], without[1]["error"]["code"]) == (400, "INVALID_REQUEST")
    assert (nowhere[0], nowhere[1]["error"]["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("centavos", [777_05, 777_07])
async def test_a_magic_refund_executes_nothing(caller, centavos):
    _, said = await caller.ask("GET", "/recebimentos")
    path = f"/recebimentos/{said['recebimentos'][0]['e2e']}/devolucoes"
    send = {"json": {"valor_centavos": centavos}, "headers": {"Idempotency-Key": "rk-1"}}

    if centavos == 777_05:
        status, _ = await caller.ask("POST", path, **send)
        assert status == 500
    else:
        with pytest.raises(aiohttp.ClientError):
            await caller.ask("POST", path, **send)

    assert (await caller.ask("GET", "/devolucoes"))[1]["devolucoes"] == []


async def test_a_statement_goes_page_by_page(caller, wall):
    for number in range(4):
        wall.move(1)
        await caller.pay_out(10_00 + number, key=f"pk-{number}")
    wall.move(1)

    path, amounts = "/extrato?limite=2", []
    while path:
        _, said = await caller.ask("GET", path)
        amounts += [line["valor_centavos"] for line in said["lancamentos"]]
        cursor = said["proximo_cursor"]
        path = f"/extrato?limite=2&cursor={cursor}" if cursor else None

    assert amounts == [10_03, 10_02, 10_01, 10_00, 100_000_00]


async def test_a_payout_is_read_by_id_and_by_key(caller):
    _, made = await caller.pay_out(10_50)

    by_id = await caller.ask("GET", f"/transferencias/{made['id']}")
    by_key = await caller.ask("GET", "/transferencias/por-chave/pk-1")

    assert by_id == by_key == (200, made)


async def test_a_repeat_says_so(caller):
    await caller.pay_out(10_50)
    body = {"valor_centavos": 10_50, "destino": {"forma": "chave", "chave": "maria@example.com"}}
    body["destino"] |= {"tipo_chave": "email", "documento": "52998224725"}
    headers = {**caller.headers, "Idempotency-Key": "pk-1"}

    async with caller.session.post(
        caller.url + "/transferencias", json=body, headers=headers
    ) as answer:
        assert (answer.status, answer.headers["Idempotent-Replayed"]) == (200, "true")
    assert len(await caller.executions()) == 1


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/transferencias/none", 404, "NOT_FOUND"),
        ("/nada", 404, "NOT_FOUND"),
        ("/extrato?limite=x", 400, "INVALID_REQUEST"),
    ],
)
async def test_a_read_that_fails_says_why(caller, path, status, code):
    answered, said = await caller.ask("GET", path)

    assert (answered, said["error"]["code"]) == (status, code)


async def test_a_body_too_large_is_refused(caller):
    status, said = await caller.ask("POST", "/transferencias", data=b"x" * 65_537)

    assert (status, said["error"]["code"]) == (413, "TOO_LARGE")


async def test_what_is_no_order_moves_nothing(caller):
    status, said = await caller.ask("POST", "/transferencias", data=b"{")

    assert (status, said["error"]["code"]) == (400, "INVALID_REQUEST")
