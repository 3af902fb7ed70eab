"""The last calls as an operator may see them."""

from __future__ import annotations

import json
import logging

import pytest

from gateway.net.client.messages import ProviderAnswer, ProviderRequest
from provider_adapters._shared.transcript import Transcript
from tests.unit.provider_adapters.witness import NOON

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


def test_an_exchange_is_shown_without_secrets_and_people():
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


def test_a_call_without_an_answer_tells_why():
    transcript = Transcript("sandbox", ())

    transcript.keep(NOON, REQUEST, None, "timeout")

    shown = transcript.shown()[0]
    assert shown["failure"] == "timeout"
    assert shown["answer"] == {"status": 0, "headers": {}, "body": None}


def test_the_last_hundred_are_kept():
    assert len(kept(250).shown()) == 100


def test_a_large_body_is_not_kept():
    transcript = Transcript("sandbox", ())
    large = ProviderAnswer(status=200, headers={}, body=b'"' + b"x" * 1024 * 1024 + b'"')

    transcript.keep(NOON, REQUEST, large, "")

    assert len(transcript._ring[0].received) < 100


@pytest.mark.parametrize(("level", "lines"), [(logging.INFO, 0), (logging.DEBUG, 1)])
def test_it_is_logged_at_debug_only_and_scrubbed(
    caplog: pytest.LogCaptureFixture, level: int, lines: int
):
    with caplog.at_level(level, "pixgate.provider.transcript"):
        kept()

    assert len(caplog.records) == lines
    assert "canary" not in caplog.text
