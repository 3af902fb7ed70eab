"""Messages: one link each, both languages, and the bodies that chats take."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gateway.notifications.model import ChatFormat, Kind, Occasion
from gateway.notifications.texts import _WORDS, chat_body, compose, mail_text, push_body

ORIGIN = "https://pix.example"
ORDER = Occasion(
    kind=Kind.ORDER,
    subject="a1",
    link="/panel/approvals/a1",
    ends_at=datetime(2026, 11, 21, 0, 0, tzinfo=UTC),
)
BANK = Occasion(
    kind=Kind.BANK, subject="b", word="down", name="sandbox", link="/panel/providers/sandbox"
)


def test_every_kind_has_words():
    assert {kind for kind, _ in _WORDS} == {*Kind}


@pytest.mark.parametrize(
    ("language", "subject"),
    [
        ("pt-BR", "Uma solicitação espera uma decisão, até 20/11 21:00"),
        ("", "Uma solicitação espera uma decisão, até 20/11 21:00"),
        ("en", "An order waits for a decision, until 2026-11-20 21:00 (São Paulo)"),
    ],
)
def test_a_message_about_one_occasion_leads_to_its_page(language: str, subject: str):
    message = compose([ORDER], language, ORIGIN)

    assert mail_text(message) == f"{subject}\n\n{ORIGIN}/panel/approvals/a1"


def test_a_message_about_several_occasions_has_one_link():
    message = compose([ORDER, replace(BANK)], "en", ORIGIN)

    assert message.subject == "2 notices"
    assert message.text.splitlines()[1] == "- Calls to the bank sandbox fail"
    assert mail_text(message).count("https://") == 1
    assert mail_text(message).endswith(f"{ORIGIN}/panel")


@pytest.mark.parametrize("kind", [*Kind])
def test_a_message_about_several_of_one_kind_has_their_number_and_leads_to_their_list(kind: Kind):
    words = {Kind.OUTFLOW: "stopped", Kind.BANK: "down"}
    each = Occasion(kind=kind, subject="a1", word=words.get(kind, ""), link="/panel/one")

    messages = [compose([each] * 5, language, ORIGIN) for language in ("pt-BR", "en")]

    assert all(message.subject.startswith("5 ") for message in messages)
    assert messages[0].link.startswith(f"{ORIGIN}/panel/")
    assert push_body(messages[0], [each] * 5)["body"].startswith("5 ")


def test_a_chat_takes_a_text():
    body = chat_body(compose([BANK], "en", ORIGIN), ChatFormat.TEXT)

    assert body == {"text": f"Calls to the bank sandbox fail\n{ORIGIN}/panel/providers/sandbox"}


def test_teams_takes_a_message_with_a_card():
    """Its Workflows fail on a body without ``attachments``."""
    body = chat_body(compose([ORDER, BANK], "en", ORIGIN), ChatFormat.TEAMS)

    [card] = body["attachments"]
    assert body["type"] == "message"
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert card["content"]["body"][0]["text"] == "2 notices"
    assert card["content"]["actions"][0]["url"] == f"{ORIGIN}/panel"
