"""
Messages in Portuguese and in English, and as chats take them.

None has an amount, a name that somebody typed, or a tax number: a message leaves the gateway, and
lies in mailboxes, on telephones and in rooms of others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gateway.core.windows import LOCAL
from gateway.notifications.model import ChatFormat, Kind, Occasion

Text = tuple[str, str]
"""In Portuguese and in English."""

_ENGLISH: Final = "en"
_HOME: Final = "/panel"
_UNTIL: Final[Text] = (", até {at}", ", until {at} (São Paulo)")
_TIMES: Final[Text] = ("%d/%m %H:%M", "%Y-%m-%d %H:%M")
_WORDS: Final[Mapping[tuple[Kind, str], Text]] = {
    (Kind.ORDER, ""): ("Uma solicitação espera uma decisão", "An order waits for a decision"),
    (Kind.OPINION, ""): (
        "Um pagamento não resolvido espera um parecer",
        "An unresolved payout waits for an opinion",
    ),
    (Kind.SECRET, ""): ("Um segredo espera para ser retirado", "A secret waits to be collected"),
    (Kind.OUTFLOW, "stopped"): (
        "A guarda de saídas bloqueou pagamentos",
        "The outflow guard stopped payouts",
    ),
    (Kind.OUTFLOW, "outside"): (
        "Pagamentos fora do padrão; nada foi bloqueado",
        "Payouts outside their envelope; nothing is stopped",
    ),
    (Kind.BANK, "down"): ("As chamadas ao banco {name} falham", "Calls to the bank {name} fail"),
    (Kind.BANK, "back"): (
        "O banco {name} voltou a responder",
        "The bank {name} answers again",
    ),
    (Kind.FOREIGN_DEBIT, ""): (
        "Um débito no banco não tem pagamento nosso",
        "A debit at a bank has no order of ours",
    ),
    (Kind.DAY, ""): ("O dia {name} pode ser assinado", "The day {name} can be signed"),
}
_OF_ONE_KIND: Final[Mapping[Kind, tuple[Text, str]]] = {
    Kind.ORDER: (
        ("{count} solicitações esperam uma decisão", "{count} orders wait for a decision"),
        "/panel/approvals",
    ),
    Kind.OPINION: (
        (
            "{count} pagamentos não resolvidos esperam um parecer",
            "{count} unresolved payouts wait for an opinion",
        ),
        "/panel/unresolved",
    ),
    Kind.SECRET: (
        ("{count} segredos esperam para ser retirados", "{count} secrets wait to be collected"),
        "/panel/approvals",
    ),
    Kind.OUTFLOW: (
        ("{count} avisos da guarda de saídas", "{count} notices of the outflow guard"),
        "/panel/outflow",
    ),
    Kind.BANK: (("{count} avisos sobre bancos", "{count} notices about banks"), "/panel/providers"),
    Kind.FOREIGN_DEBIT: (
        (
            "{count} débitos nos bancos não têm pagamento nosso",
            "{count} debits at banks have no order of ours",
        ),
        "/panel/closings",
    ),
    Kind.DAY: (
        ("{count} dias podem ser assinados", "{count} days can be signed"),
        "/panel/closings",
    ),
}
"""Several of one kind, and where their list is."""
_SHOWN: Final = 10
"""Lines of a push message, which has room for 3,000 bytes."""
_TEST: Final[Text] = (
    "Teste do pixgate: os avisos chegam a este chat",
    "A test of pixgate: its notices reach this chat",
)
_SEVERAL: Final[Text] = ("{count} avisos", "{count} notices")


@dataclass(frozen=True, slots=True)
class Message:
    """
    A message about some occasions.

    Attributes:
        subject: Its first line.
        text: The other lines; empty where the subject says all.
        link: The one address.
    """

    subject: str
    text: str
    link: str


def compose(occasions: Sequence[Occasion], language: str, origin: str) -> Message:
    """
    Write about occasions, at least one: of several, in one message with one link.

    Several of one kind lead to their list, others to the overview.
    """
    chosen = int(language == _ENGLISH)
    lines = [_line(each, chosen) for each in occasions]
    if len(occasions) == 1:
        return Message(lines[0], "", origin + occasions[0].link)
    kinds = {each.kind for each in occasions}
    words, link = _OF_ONE_KIND[kinds.pop()] if len(kinds) == 1 else (_SEVERAL, _HOME)
    subject = words[chosen].format(count=len(lines))
    return Message(subject, "\n".join(f"- {each}" for each in lines), origin + link)


def trial(language: str, origin: str) -> Message:
    """Write the message that people send to see whether a chat takes one."""
    return Message(_TEST[int(language == _ENGLISH)], "", f"{origin}{_HOME}/chats")


def mail_text(message: Message) -> str:
    """Return the text of a mail; what is mailed is chosen in the panel."""
    return "\n\n".join(filter(None, (message.text or message.subject, message.link)))


def chat_body(message: Message, form: ChatFormat) -> Mapping[str, Any]:
    """
    Return the JSON that a chat takes.

    Slack, Mattermost, Rocket.Chat and Google Chat take a text. Workflows of Teams take cards alone
    and refuse a text.
    """
    text = "\n".join(filter(None, (message.subject, message.text)))
    if form is ChatFormat.TEXT:
        return {"text": f"{text}\n{message.link}"}
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": each, "wrap": True} for each in text.splitlines()],
        "actions": [{"type": "Action.OpenUrl", "title": "pixgate", "url": message.link}],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return {"type": "message", "attachments": [attachment]}


def push_body(message: Message, occasions: Sequence[Occasion]) -> Mapping[str, str]:
    """
    Return the JSON that the panel's service worker shows.

    A browser shows one notification for each ``tag``, so that a message that came twice is one.
    """
    lines = [message.subject, *message.text.splitlines()][:_SHOWN]
    named = "\n".join(sorted(f"{each.kind}/{each.subject}" for each in occasions))
    tag = hashlib.sha256(named.encode()).hexdigest()
    return {"body": "\n".join(lines), "link": message.link, "tag": tag}


def _line(occasion: Occasion, chosen: int) -> str:
    said = _WORDS[occasion.kind, occasion.word][chosen].format(name=occasion.name)
    if occasion.ends_at is None:
        return said
    return said + _UNTIL[chosen].format(at=_local(occasion.ends_at, chosen))


def _local(at: datetime, chosen: int) -> str:
    return at.astimezone(LOCAL).strftime(_TIMES[chosen])
