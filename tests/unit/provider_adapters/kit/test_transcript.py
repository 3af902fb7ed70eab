"""The last calls as an operator may see them."""

from __future__ import annotations

import importlib
import json
import logging

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.banks.client.messages import Identity, ProviderAnswer, ProviderRequest
from provider_adapters.kit.transcript import HIDDEN, Transcript, scrubbed_body, scrubbed_headers
from tests.world.banks.witness import NOON
from tests.world.tables import cases

REQUEST = ProviderRequest(
    operation="get_charge",
    method="GET",
    template="/contas/{conta}/cobrancas/{referencia}",
    path="/contas/1/cobrancas/canary-reference",
    headers={"Authorization": "Bearer canary-token"},
    body=b'{"nome": "canary-name", "situacao": "ATIVA"}',
)
ANSWER = ProviderAnswer(
    status=200,
    headers={"Content-Type": "application/json", "Set-Cookie": "canary-cookie"},
    body=b'{"documento": "canary-52998224725", "situacao": "PAGA"}',
)


def kept(times: int = 1) -> Transcript:
    transcript = Transcript("sandbox", {"situacao"})
    for _ in range(times):
        transcript.keep(NOON, REQUEST, ANSWER, "")
    return transcript


def test_an_exchange_is_shown_without_secrets_or_personal_data():
    shown = kept().shown()

    assert "canary" not in json.dumps(shown)
    assert shown[0]["request"] == {
        "method": "GET",
        "path": "/contas/{conta}/cobrancas/{referencia}",
        "headers": {"Authorization": "***"},
        "body": {"nome": "***", "situacao": "ATIVA"},
    }
    assert shown[0]["answer"] == {
        "status": 200,
        "headers": {"Content-Type": "application/json", "Set-Cookie": "***"},
        "body": {"documento": "***", "situacao": "PAGA"},
    }


def test_a_call_without_an_answer_has_its_failure():
    transcript = Transcript("sandbox", ())

    transcript.keep(NOON, REQUEST, None, "timeout")

    shown = transcript.shown()[0]
    assert shown["failure"] == "timeout"
    assert shown["answer"] == {"status": 0, "headers": {}, "body": None}


def test_the_last_hundred_calls_are_kept():
    assert len(kept(250).shown()) == 100


def test_a_large_body_is_not_kept():
    transcript = Transcript("sandbox", ())
    large = ProviderAnswer(status=200, headers={}, body=b'"' + b"x" * 1024 * 1024 + b'"')

    transcript.keep(NOON, REQUEST, large, "")

    assert len(transcript._ring[0].received) < 100


@pytest.mark.parametrize(("level", "lines"), [(logging.INFO, 0), (logging.DEBUG, 1)])
def test_an_exchange_is_logged_only_at_debug_and_redacted(
    caplog: pytest.LogCaptureFixture, level: int, lines: int
):
    with caplog.at_level(level, "pixgate.provider.transcript"):
        kept()

    assert len(caplog.records) == lines
    assert "canary" not in caplog.text


CANARIES = ("tok_canary", "52998224725", "maria@example.com", "Maria Silva", "order-1042")


def test_only_named_fields_are_shown():
    document = {
        "situacao": "ATIVA",
        "valor_centavos": 1050,
        "token": CANARIES[0],
        "documento": int(CANARIES[1]),
        "chave": CANARIES[2],
        "novo": {"nome": CANARIES[3], "lista": [CANARIES[4], None, True, 1]},
    }

    shown = scrubbed_body(json.dumps(document).encode(), {"situacao", "valor_centavos"})

    assert shown == {
        "situacao": "ATIVA",
        "valor_centavos": 1050,
        "token": HIDDEN,
        "documento": HIDDEN,
        "chave": HIDDEN,
        "novo": {"nome": HIDDEN, "lista": [HIDDEN, None, True, HIDDEN]},
    }


def test_fields_below_a_shown_field_are_hidden_unless_named():
    shown = scrubbed_body(b'{"tipo": {"nome": "Maria Silva"}}', {"tipo"})

    assert shown == {"tipo": {"nome": HIDDEN}}


@cases("body", [b"<p>Maria Silva</p>", b'{"nome": "Maria', b"\xff\xfe", b"["])
def test_an_invalid_json_text_is_reported_by_its_length(body: bytes):
    assert scrubbed_body(body, {"nome"}) == f"{len(body)} bytes, not JSON"


def test_an_empty_body_is_shown_as_none():
    assert scrubbed_body(b"", set()) is None


def test_the_shown_depth_of_a_body_is_bounded():
    shown = json.dumps(scrubbed_body(b'{"a":' * 40 + b"1" + b"}" * 40, set()))

    assert shown.count("a") == 12


@given(
    st.recursive(
        st.sampled_from(CANARIES),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["a", "b"]), inner),
    )
)
def test_no_canary_is_shown_when_no_field_is_named(document: object):
    shown = json.dumps(scrubbed_body(json.dumps(document).encode(), set()))

    assert not any(canary in shown for canary in CANARIES)


def test_unknown_header_values_are_hidden():
    shown = scrubbed_headers(
        {"authorization": "Bearer tok_canary", "Set-Cookie": "a=b", "X-New": "x",
         "Retry-After": "1", "Idempotency-Key": "k"}
    )  # fmt: skip

    assert shown == {
        "authorization": HIDDEN,
        "Set-Cookie": HIDDEN,
        "X-New": HIDDEN,
        "Retry-After": "1",
        "Idempotency-Key": "k",
    }


def test_the_calls_of_two_accounts_are_kept_separately():
    """The last eight calls of each are kept."""
    transcript = Transcript("bank", {"situacao"})
    for number in range(10):
        for account in ("one", "two"):
            asked = of_account(account, f"{account}_{number}")
            transcript.keep(NOON, asked, ANSWER, "")

    assert transcript.shown() == []
    for account in ("one", "two"):
        shown = [each["operation"] for each in transcript.shown(account)]
        assert shown == [f"{account}_{number}" for number in range(2, 10)]
    assert transcript.shown("three") == []


def test_the_calls_of_256_accounts_are_kept():
    transcript = Transcript("bank", ())
    for number in range(300):
        transcript.keep(NOON, of_account(f"account-{number}", "x"), None, "timeout")

    kept_of = [number for number in range(300) if transcript.shown(f"account-{number}")]
    assert kept_of == list(range(44, 300))


def of_account(account: str, operation: str) -> ProviderRequest:
    return msgspec.structs.replace(
        REQUEST, operation=operation, identity=Identity(account_id=account)
    )


PERSONAL = {
    "sandbox": "nome documento mensagem chave referencia descricao copia_e_cola id titular"
    " contraparte pagador token agencia conta nome_banco recebimento",
    "starkbank": "accountNumber branchCode brcode content description externalId id key name tags"
    " taxId url uuid",
    "asaas": "name cpfCnpj ownerName description externalReference pixAddressKey key account"
    " payload failReason authToken url",
    "woovi": "name taxID email phone key pixKey destinationAlias comment description error"
    " infoPagador brCode account branch appID authorization url correlationID value",
}
"""Fields of each bank's documents that hold people, keys or secrets."""


@cases("adapter", PERSONAL)
def test_no_adapter_shows_a_field_with_personal_data_or_secrets(adapter: str):
    documents = importlib.import_module(f"provider_adapters.{adapter}.documents")

    assert documents.HARMLESS.isdisjoint(PERSONAL[adapter].split())
