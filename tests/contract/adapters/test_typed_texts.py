"""
Text typed by a payer never hides an amount, a state or an id in a bank's answer.

Answers of every bank are recorded, and any one byte of any text in them is changed to any value;
everything else is still read alike. Quotation marks and backslashes are used only where the
document stays JSON: otherwise the end of a text is unknown.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hmac
import json
import random
import re
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from multidict import CIMultiDict

from gateway.banks.checked_adapter import checked_calls
from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.provider_callbacks import CallbackSecrets, Delivery, Notice
from gateway.banks.port.providers import EveryCall, ProviderError
from gateway.core.money import Money
from provider_adapters.apipix.callbacks import notices_of
from provider_adapters.asaas.callbacks import TOKEN, AsaasProof
from provider_adapters.kit.public_keys import GivenKeys
from provider_adapters.sandbox.callbacks import SandboxProof
from provider_adapters.starkbank.callbacks import SIGNATURE, StarkBankProof
from provider_adapters.testing.sandbox import sign
from provider_adapters.testing.verify import stage as things
from provider_adapters.testing.verify.stage import NotApplicable
from provider_adapters.testing.verify.trial import Trial, arguments, make, trial_of
from provider_adapters.woovi.callbacks import HMAC_SIGNATURE, WooviProof
from tests.contract.adapters.verified_banks import BANKS
from tests.world.banks.signers import ecdsa
from tests.world.extent import SEED, WHOLE
from tests.world.standing import NOON

CHANGES = (100_000 if WHOLE else 5_000) // (len(BANKS) + 1)
"""Of the answers of one bank; the last share is of callbacks."""

CALLS = (
    *(PortCall.GET_BALANCE, PortCall.LIST_STATEMENT, PortCall.LIST_RECEIVED),
    *(PortCall.LIST_REFUNDS, PortCall.LIST_KEYS, PortCall.LIST_BLOCKS, PortCall.LOOK_UP_KEY),
    *(PortCall.GET_CHARGE, PortCall.GET_CHARGE_PAYMENT, PortCall.FIND_PAYOUT),
    *(PortCall.FIND_RECEIVED, PortCall.FIND_REFUND),
)
PAGED = {PortCall.LIST_STATEMENT, PortCall.LIST_RECEIVED, PortCall.LIST_REFUNDS}

OUR_OWN = frozenset(
    {
        # amounts, states, kinds
        *("valor", "value", "saldo", "total", "disponivel", "original", "currency", "status"),
        *("situacao", "tipo", "type", "natureza", "tipoOperacao", "tipoTransacao", "source"),
        *("natureza", "subscription", "event", "pixAddressKeyType", "billingType"),
        # days and times
        *("horario", "solicitacao", "liquidacao", "criacao", "criado_em", "criada_em", "pago_em"),
        *("expira_em", "liquidada_em", "em_analise_ate", "atualizado_em", "desde", "created"),
        *("updated", "due", "time", "createdAt", "expiresDate", "date", "dateCreated"),
        *("effectiveDate", "paymentDate", "expirationDate", "dataTransacao", "dataInclusao"),
        *("dataHoraMovimento", "dataReferencia", "dataDeVencimento", "devolvida_em"),
        # ids, keys and references, the bank's and ours; a comment and tags hold ours
        *("id", "e2e", "endToEndId", "e2eId", "endToEndIdentifier", "endToEnd", "txid", "rtrId"),
        *("idEnvio", "idTransacao", "codigoSolicitacao", "chave", "key", "pixKey", "referencia"),
        *("chave_idempotencia", "id_devolucao", "externalReference", "externalId", "paymentId"),
        *("correlationID", "refundId", "returnIdentification", "globalID", "accountId", "uuid"),
        *(
            "conta",
            "customer",
            "pixTransaction",
            "comment",
            "tags",
            "workspaceId",
            "destinationAlias",
        ),
        "chaves",
        # where a list goes on, and what a token is
        *("cursor", "proximo_cursor", "access_token", "token_type", "scope"),
    }
)
"""Fields that are about money, and none of them a text that somebody types."""

_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?', re.DOTALL)
_DOUBLE = re.compile(rb'\\["\\]')
_AT = re.compile(r"\d{4}-\d{2}-\d{2}T[^&]*")


@dataclass(frozen=True)
class Text:
    """A text of a body: where its first byte is, and the one behind its last."""

    start: int
    end: int


def texts_of(body: bytes) -> list[Text]:
    """Find the texts that a payer may have typed; those of a list have the list's name."""
    found, name = [], ""
    for each in _STRING.finditer(body):
        if each[2]:
            name = each[1].decode()
        elif name not in OUR_OWN and each[1]:
            found.append(Text(*each.span(1)))
    return found


def changed(body: bytes, text: Text, draw: random.Random) -> bytes | None:
    """Change one byte of a text; None for a change after which it is no text any more."""
    place = draw.randrange(text.start, text.end)
    value = draw.choice((*range(0x20), *range(0x80, 0x100), *range(0x20, 0x80)))
    other = body[:place] + bytes([value]) + body[place + 1 :]
    doubles = (each.span() for each in _DOUBLE.finditer(body, text.start, text.end))
    in_double = any(first <= place < last for first, last in doubles)
    if value in b'"\\' or in_double:
        try:
            json.loads(other)
        except ValueError:
            return None
        if [len(texts_of(each)) for each in (body, other)].count(len(texts_of(body))) != 2:
            return None
    return other


@dataclass
class Tape:
    """Keeps the answers of a bank, and gives them again, one of them changed."""

    answers: dict[str, ProviderAnswer] = field(default_factory=dict)
    plays: bool = False
    instead: tuple[str, bytes] = ("", b"")

    def beside(self, road: Callable[..., Awaitable[ProviderAnswer]]) -> Callable[..., Any]:
        """Return a replacement for ``HttpTransport.call``."""

        async def call(
            of: HttpTransport, request: ProviderRequest, progress: SendProgress, *more: float
        ) -> ProviderAnswer:
            name = f"{request.method} {_AT.sub('', request.path)}"
            if not self.plays:
                answer = await road(of, request, progress, *more)
                self.answers[name] = answer
                return answer
            kept = self.answers[name]
            for step in (progress.connecting, progress.connected, progress.sending):
                step()
            progress.answered(kept.status)
            progress.end()
            body = self.instead[1] if self.instead[0] == name else kept.body
            return ProviderAnswer(status=kept.status, headers=kept.headers, body=body)

        return call


@dataclass(frozen=True)
class Recorded:
    """A call, and the answers of the bank to it."""

    ask: Callable[[], Awaitable[object]]
    answers: dict[str, ProviderAnswer]


@contextlib.asynccontextmanager
async def recorded(name: str, patch: pytest.MonkeyPatch) -> Any:
    """Record every read of a bank with something in it."""
    tape = Tape()
    patch.setattr(HttpTransport, "call", tape.beside(HttpTransport.call))
    async with trial_of(BANKS[name].subject) as trial:
        await fill(trial)
        bank = checked_calls(name, trial.adapter, lambda _event, _label: None)
        calls = []
        for call in filter(trial.can, CALLS):
            with contextlib.suppress(NotApplicable):
                paged = (trial.account, trial.days(-1, 0), None, 20)
                given = paged if call in PAGED else await arguments(trial, call)
                tape.answers = {}
                await make(bank, call, given)
                tape.answers = {name: typed(each) for name, each in tape.answers.items()}
                calls.append(Recorded(asking(bank, call, given), tape.answers))
        yield calls, tape


def typed(answer: ProviderAnswer) -> ProviderAnswer:
    """Let a payer have typed something with escapes, and with characters of several bytes."""
    name = '"Jos\\u00e9 \\"Zé\\" da \\\\Silva \\ud83d\\ude00\\t\U0001f600"'.encode()
    body = answer.body.replace(b'"Maria Silva"', name)
    body = body.replace(b'"horario"', b'"infoPagador":%s,"horario"' % name)
    return ProviderAnswer(status=answer.status, headers=answer.headers, body=body)


def asking(
    bank: EveryCall, call: PortCall, given: tuple[object, ...]
) -> Callable[[], Awaitable[object]]:
    return lambda: make(bank, call, given)


async def fill(trial: Trial) -> None:
    """Let there be two of each thing, as far as the stage can."""
    with contextlib.suppress(NotApplicable):
        for hours in (1, 2):
            at = trial.stage.now() - timedelta(hours=hours) if hasattr(trial.stage, "now") else None
            await trial.stage.put(trial.account, things.Received(value=Money(1000 + hours), at=at))
    with contextlib.suppress(NotApplicable):
        charge = await trial.stage.put(trial.account, things.Charge(value=Money(2000)))
        await trial.stage.put(trial.account, things.ChargePaid(reference=charge))
    for call in (PortCall.FIND_PAYOUT, PortCall.FIND_REFUND):
        if trial.can(call):
            with contextlib.suppress(NotApplicable):
                await arguments(trial, call)


TYPED_PARTS = frozenset(
    {
        *("counterparty", "payer", "receiver", "description", "city", "zip_code", "emv"),
        *("name", "tax_number", "ispb", "bank_number", "bank_name", "branch", "account"),
        *("updated_at", "evidence"),  # of the reading itself
    }
)
"""Of our values: texts that people wrote, and what differs from one reading to the next."""


def facts(said: object) -> object:
    """Return an answer without the texts that people wrote."""
    if isinstance(said, list | tuple):
        return [facts(each) for each in said]
    if isinstance(said, msgspec.Struct):
        names: Sequence[str] = said.__struct_fields__
    elif dataclasses.is_dataclass(said) and not isinstance(said, type):
        names = [each.name for each in dataclasses.fields(said)]
    else:
        return said
    return [(name, facts(getattr(said, name))) for name in names if name not in TYPED_PARTS]


def choices(calls: Sequence[Recorded]) -> Iterator[tuple[Recorded, str, list[Text]]]:
    for call in calls:
        for name, answer in call.answers.items():
            texts = texts_of(answer.body) if answer.body[:1] in {b"{", b"["} else []
            if texts:
                yield call, name, texts


@pytest.mark.parametrize("name", list(BANKS))
async def test_hostile_text_in_an_answer_changes_no_other_field(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    """Of the same row, of other rows, of a single charge, payout or key owner."""
    draw = random.Random(f"{SEED} {name}")
    async with recorded(name, monkeypatch) as (calls, tape):
        tape.plays = True
        plain: dict[int, object] = {}
        for call in calls:
            tape.answers = call.answers
            plain[id(call)] = facts(await call.ask())
        places = list(choices(calls))
        wrong: list[object] = []
        damaged = 0
        for _ in range(CHANGES):
            call, answer, texts = draw.choice(places)
            body, text = call.answers[answer].body, draw.choice(texts)
            other = changed(body, text, draw)
            if other is None:
                continue
            damaged += not is_sound(other)
            tape.answers, tape.instead = call.answers, (answer, other)
            try:
                said = facts(await call.ask())
            except ProviderError as refused:
                said = refused
            if said != plain[id(call)]:
                wrong.append((answer, other[max(0, text.start - 40) : text.end + 4], said))

    assert wrong[:5] == []
    assert damaged > CHANGES // 3


def is_sound(body: bytes) -> bool:
    try:
        msgspec.json.decode(body)
        json.loads(body)
    except ValueError:
        return False
    return True


NAMED = "7978c0c97ea847e78e8849634473c1f1"
TYPED = {"nome": 'Jos\u00e9 "Zé" \U0001f600', "name": "Zé Ltda\\", "descricao": "mensalidade (5%)"}
KEY = "2c3c7441-b91e-4982-8c25-6105581e18ae"
PAID = {"endToEndId": "E12345678202611261200abcdef12345", "txid": NAMED, "chave": KEY}
RETURNED = {"id": "d1", "rtrId": "D12345678202611261200abcdef12345", "status": "DEVOLVIDO"}
SIGNER = ecdsa()
SECRET = b"s" * 40
BODIES: dict[str, object] = {
    "apipix": {
        "pix": [
            {**PAID, "infoPagador": "parabéns", "pagador": TYPED},
            {**PAID, "tipo": "SOLICITACAO", "gnExtras": {"idEnvio": "k1", "pagador": TYPED}},
            {**PAID, "devolucoes": [{**RETURNED, "descricao": "x"}, {**RETURNED, "id": "d2"}]},
        ]
    },
    "asaas": {
        "event": "TRANSFER_DONE",
        "id": "evt_1",
        "transfer": {"externalReference": NAMED, "id": "t1", "bankAccount": TYPED, "memo": "x"},
    },
    "woovi": {
        "event": "OPENPIX:CHARGE_COMPLETED",
        "charge": {"correlationID": "order-1", "customer": TYPED, "additional": ["a", "b"]},
    },
    "starkbank": {
        "event": {
            "id": "1",
            "subscription": "transfer",
            "workspaceId": "2",
            "log": {"transfer": {"externalId": NAMED, "tags": ["x"], "address": TYPED}},
        }
    },
    "sandbox": {"tipo": "transferencia", "chave": NAMED, "conta": "c", "contraparte": TYPED},
}


async def said_by(name: str, body: bytes) -> list[Notice]:
    """Read a proven callback of a bank, as notices without the part of the body."""
    headers: dict[str, str] = {}
    proof: Any
    if name == "apipix":
        found = list(notices_of(body, lists_keys=True))
        return [dataclasses.replace(each, part=b"") for each in found]
    if name == "asaas":
        proof, headers = AsaasProof([SECRET]), {TOKEN: SECRET.decode()}
    elif name == "woovi":
        proof = WooviProof(GivenKeys([SIGNER.pem]), CallbackSecrets(current=SECRET))
        headers = {HMAC_SIGNATURE: b64encode(hmac.digest(SECRET, body, "sha1")).decode()}
    elif name == "starkbank":
        proof, headers = StarkBankProof(GivenKeys([SIGNER.pem])), {SIGNATURE: SIGNER.sign(body)}
    else:
        proof, headers = SandboxProof([SECRET], lambda: NOON), dict(sign(SECRET, "e", NOON, body))
    return list(await proof.check(Delivery(headers=CIMultiDict(headers), body=body)) or ())


@pytest.mark.parametrize("name", list(BODIES))
async def test_hostile_text_in_a_callback_drops_no_event(name: str):
    draw = random.Random(f"{SEED} callbacks {name}")
    wrong: list[object] = []
    for letters in (True, False):
        body = json.dumps(BODIES[name], ensure_ascii=letters).encode()
        plain, texts = await said_by(name, body), texts_of(body)
        for _ in range(CHANGES // len(BODIES) // 2):
            other = changed(body, draw.choice(texts), draw)
            said = plain if other is None else await said_by(name, other)
            if said != plain:
                wrong.append((other, said))

    assert len(plain) == (4 if name == "apipix" else 1)
    assert all(each.subject for each in plain)
    assert wrong[:5] == []


@pytest.mark.parametrize("name", list(BODIES))
async def test_a_value_nested_too_deep_drops_no_part_of_a_callback(name: str):
    """Not even of a body that is cut behind it."""
    body = json.dumps(BODIES[name]).encode()
    plain, texts = await said_by(name, body), texts_of(body)
    wrong: list[object] = []
    for text in texts:
        for opens, closes in ((b"[", b"]"), (b'{"a":', b"}")):
            deep = opens * 3_000 + b"1" + closes * 3_000
            other = body[: text.start - 1] + deep + body[text.end + 1 :]
            read = [await said_by(name, each) for each in (other, other[:-1])]
            if read != [plain, plain]:
                wrong.append((body[: text.start], opens, read))

    assert texts
    assert wrong == []


def test_changed_text_stays_text():
    body = b'{"valor": "1.00", "nome": "Jos\\u00e9 \\"x\\"", "tags": ["a"], "more": ["b", ""]}'

    assert [body[each.start : each.end] for each in texts_of(body)] == [
        b'Jos\\u00e9 \\"x\\"',
        b"b",
    ]
