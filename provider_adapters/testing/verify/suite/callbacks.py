"""Cases about callbacks: their proof, and their events."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.banks.port import answers
from gateway.banks.port.capabilities import PortCall, ProofKind
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PixDestination
from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackProof,
    CallbackProver,
    CallbackSecrets,
    Delivery,
    NamedBy,
    Notice,
)
from provider_adapters.testing.verify.stage import Charge, Fate, NotApplicable, SentHeaders
from provider_adapters.testing.verify.suite.access import secret_texts
from provider_adapters.testing.verify.trial import (
    OK,
    ORDERED,
    Trial,
    applies_if,
    arguments,
    case,
    make,
)

_MARGIN: Final = timedelta(minutes=1)
_BYTES: Final = 64
"""Of a body that are altered one at a time, spread over all of it."""
_SENDER_ALONE: Final = frozenset({ProofKind.TOKEN, ProofKind.CERTIFICATE})
"""What proves who sent a callback, and nothing of its body."""
_SHARED: Final = frozenset({ProofKind.HMAC, ProofKind.TOKEN})
"""What rests on a secret of the configuration."""
_FOUND_BY: Final = {NamedBy.KEY: PortCall.LIST_KEYS, NamedBy.CHARGE: PortCall.GET_CHARGE}
"""What the gateway asks the bank to find the account that a callback names."""


@dataclass(frozen=True, slots=True)
class _Happening:
    """An event that the bank reports; its notice has one of the kinds."""

    kinds: tuple[CallbackKind, ...]
    subject: str
    provider_id: str = ""

    @property
    def kind(self) -> CallbackKind:
        """The kind of event that the bank reports."""
        return self.kinds[0]

    def of(self, notices: Sequence[Notice]) -> Sequence[Notice]:
        ours = [each for each in notices if each.kind in self.kinds]
        names = {self.subject, self.provider_id} - {""}
        return [each for each in ours if names & {each.subject, each.provider_id}]


@case("callbacks.proven")
async def proven(trial: Trial) -> None:
    """A callback is accepted with its proof alone, and names its subject, anyone's order."""
    happened = await _happened(trial)
    async with trial.again() as fresh:
        proof = _proof(fresh)
        for each in happened:
            came = await _sent(trial, each)
            bare = dataclasses.replace(came, headers=SentHeaders({}), certificate=b"", rest="")
            assert await proof.check(bare) is None, "one without proof is believed"
            meant = each.of(await _believed(proof, came))
            assert meant, f"nothing of a {each.kind.value}"
            for notice in meant:
                asked = _FOUND_BY.get(notice.named_by) if notice.account else None
                assert asked is None or trial.can(asked), f"nobody finds an account by {asked}"
            if each.kind is CallbackKind.PAYOUT and trial.can(PortCall.FIND_PAYOUT):
                named = meant[0].provider_id or each.provider_id
                found = await fresh.adapter.find_payout(trial.account, each.subject, named)
                assert isinstance(found, OK), found


@case("callbacks.altered")
async def altered(trial: Trial) -> None:
    """A callback with one byte changed, added or missing is not accepted."""
    proof = _proof(trial)
    covered = not trial.capabilities.callback_proofs <= _SENDER_ALONE
    applies_if(covered, "its proof says who sent a callback, and covers no body")
    for each in await _happened(trial):
        came = await _sent(trial, each)
        # A proof that remembers what it has believed must not believe another body for it.
        await _believed(proof, came)
        body, step = came.body, max(1, len(came.body) // _BYTES)
        others = [
            body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]
            for place in range(0, len(body), step)
        ]
        for other in (*others, body + b" ", body[:-1], b""):
            assert await proof.check(dataclasses.replace(came, body=other)) is None, other


@case("callbacks.late")
async def late(trial: Trial) -> None:
    """A callback is accepted as long as the bank may take to send it, and no longer."""
    proof, now, lives = _proof(trial), datetime.now(UTC), trial.stage.callback_lives
    for each in await _happened(trial):
        await _believed(
            proof, await _sent(trial, each, now - (lives / 2 if lives else timedelta(hours=1)))
        )
        for at in (now - lives - _MARGIN, now + lives + _MARGIN) if lives else ():
            came = await _sent(trial, each, at)
            assert await proof.check(came) is None, f"one of {at - now} is believed"


@case("callbacks.any_order")
async def any_order(trial: Trial) -> None:
    """A callback says the same again and in any order, by one event; another has another event."""
    proof, happened = _proof(trial), await _happened(trial)
    sent = [await _sent(trial, each) for each in happened for _ in range(2)]
    forwards = [await _believed(proof, came) for came in sent]
    backwards = [await _believed(proof, came) for came in sent[::-1]]
    assert forwards == backwards[::-1]
    events = [notice.event for notices in forwards[::2] for notice in notices if notice.event]
    assert len(events) == len(set(events)), "two callbacks are one event"


@case("callbacks.several")
async def several(trial: Trial) -> None:
    """A callback that says several things says each of them, apart from the others."""
    proof = _proof(trial)
    made = [*await _happened(trial), *await _happened(trial)]
    same = [each for each in made if each.kind is made[-1].kind]
    subjects = [each.subject for each in same]
    came = await trial.stage.callback_of_several(trial.account, subjects, datetime.now(UTC))
    notices = await _believed(proof, came)
    for each in same:
        meant = each.of(notices)
        assert len(meant) == 1, "each thing is told once"
        assert meant[0].part, "what is said of one thing is not kept apart"


@case("callbacks.rotated")
async def rotated(trial: Trial) -> None:
    """A secret or key is replaced without a gap: both are accepted while both are configured."""
    former = _proof(trial)
    [each, *_] = await _happened(trial)
    before = await _sent(trial, each)
    await trial.stage.rotate_secrets()
    after, proof = await _sent(trial, each), _proof(trial)
    await _believed(proof, after)
    if trial.capabilities.callback_proofs <= _SHARED:
        await _believed(proof, before)
        alone = _proof(trial, CallbackSecrets(current=trial.stage.callback_secrets.current))
        assert await alone.check(before) is None, "a former secret is believed"
        assert await former.check(after) is None, "an unknown secret is believed"


@case("callbacks.nothing_told")
async def nothing_told(trial: Trial) -> None:
    """No name, tax number, key or secret of a call or callback is in a transcript or a log."""
    with _listening() as told:
        proof = _proof(trial)
        for each in await _happened(trial):
            came = await _sent(trial, each)
            await _believed(proof, came)
            await proof.check(dataclasses.replace(came, headers=SentHeaders({})))
        for read in (PortCall.GET_BALANCE, PortCall.LIST_KEYS, PortCall.LIST_RECEIVED):
            if trial.can(read):
                await make(trial.adapter, read, await arguments(trial, read))
        assert told, "no transcript was written"
        told.append(repr(trial.witness.told))
    to = trial.stage.payee(trial.method)
    place = to.key if isinstance(to, PixDestination) else to.account
    secret = {to.name, to.tax_number, place}.union(*map(secret_texts, trial.stage.accounts))
    for key in trial.stage.callback_secrets.shared:
        secret |= {key.decode("latin-1"), key.hex(), base64.b64encode(key).decode()}
    assert [text for text in secret if any(text in each for each in told)] == []


@contextlib.contextmanager
def _listening() -> Iterator[list[str]]:
    """Collect every line that is logged, and the transcripts, whose level is off."""
    transcripts, told = logging.getLogger("pixgate.provider.transcript"), list[str]()
    handler, level, propagate = logging.Handler(), transcripts.level, transcripts.propagate
    handler.emit = lambda record: told.append(handler.format(record))  # type: ignore[method-assign]
    logging.root.addHandler(handler)
    transcripts.addHandler(handler)
    transcripts.setLevel(logging.DEBUG)
    transcripts.propagate = False  # cases run in others' programs, whose logs get none by this
    try:
        yield told
    finally:
        transcripts.propagate = propagate
        transcripts.setLevel(level)
        transcripts.removeHandler(handler)
        logging.root.removeHandler(handler)


async def _happened(trial: Trial) -> Sequence[_Happening]:
    """Return the reported events that have happened: a settled payout, a paid charge."""
    made: list[_Happening] = []
    with contextlib.suppress(NotApplicable):
        applies_if(trial.can(PortCall.CREATE_PAYOUT), "create_payout is not declared")
        order = await trial.wished(Fate.SETTLES)
        known = await trial.pay(order)
        assert isinstance(known, OK), known
        await trial.stage.settle()
        kinds = (CallbackKind.PAYOUT, CallbackKind.RETURN)
        payout = _Happening(kinds, order.provider_key, known.provider_id)
        await _sent(trial, payout)
        made.append(payout)
    with contextlib.suppress(NotApplicable):
        paid = Charge(value=ORDERED, status=ChargeStatus.PAID)
        reference = await trial.stage.put(trial.account, paid)
        charge = _Happening((CallbackKind.CHARGE,), reference)
        await _sent(trial, charge)
        made.append(charge)
    applies_if(made, "the stage's bank sends no callback")
    return made


async def _sent(trial: Trial, each: _Happening, at: datetime | None = None) -> Delivery:
    when = at or datetime.now(UTC)
    return await trial.stage.callback(trial.account, each.kind, each.subject, when)


def _proof(trial: Trial, secrets: CallbackSecrets | None = None) -> CallbackProof:
    applies_if(trial.capabilities.callback_proofs, "callback_proofs: none is declared")
    adapter: object = trial.adapter
    assert isinstance(adapter, CallbackProver), "it declares callback_proofs and has no proof"
    return adapter.callback_proof(secrets or trial.stage.callback_secrets)


async def _believed(proof: CallbackProof, came: Delivery) -> Sequence[Notice]:
    """Return the events of a callback that must be accepted, checked like in the gateway."""
    notices = await proof.check(came)
    assert notices is not None, "a callback of the bank is not believed"
    assert came.rest in proof.rests, "the rest of its path is none of the adapter's"
    return [answers.notice(each) for each in notices]
