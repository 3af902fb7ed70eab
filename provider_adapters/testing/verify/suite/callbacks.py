"""Cases about callbacks: what is believed, and what it says."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from gateway.domain.bank import provider_callbacks
from gateway.domain.bank.capabilities import PortCall, ProofKind
from gateway.domain.bank.charges import ChargeStatus
from gateway.domain.bank.payout_orders import PixDestination
from gateway.domain.bank.provider_callbacks import (
    CallbackKind,
    CallbackProof,
    CallbackProver,
    CallbackSecrets,
    Delivery,
    NamedBy,
    Notice,
)
from gateway.domain.kernel.money import Money
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.stage import Charge, Fate, NotApplicable, SentHeaders
from provider_adapters.testing.verify.suite.calls import OK, prepare
from provider_adapters.testing.verify.trial import Trial

_MARGIN: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_BYTES: Final = 64
"""Of a body that are altered one at a time, spread over all of it."""
_SECRET: Final = 8
"""Characters; a shorter text stands in a log by chance."""
_formatter: Final = logging.Formatter()
_SENDER_ALONE: Final = frozenset({ProofKind.TOKEN, ProofKind.CERTIFICATE})
"""What proves who sent a callback, and nothing of its body."""
_SHARED: Final = frozenset({ProofKind.HMAC, ProofKind.TOKEN})
"""What rests on a secret of the configuration."""
_FOUND_BY: Final[Mapping[NamedBy, PortCall]] = {
    NamedBy.KEY: PortCall.LIST_KEYS,
    NamedBy.CHARGE: PortCall.GET_CHARGE,
}
"""What the gateway asks the bank to find the account that a callback names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Happening:
    """Something at the bank that it tells of; ``kinds`` are those that a notice may have."""

    kinds: frozenset[CallbackKind]
    subject: str
    provider_id: str = ""

    @property
    def kind(self) -> CallbackKind:
        """What the bank is asked to tell of."""
        return min(self.kinds)

    def of(self, notices: Sequence[Notice]) -> Sequence[Notice]:
        """Return the notices that are about this."""
        return [
            each
            for each in notices
            if each.kind in self.kinds
            and (each.subject == self.subject or each.provider_id == self.provider_id != "")
        ]


@case("callbacks.proven")
async def proven(trial: Trial) -> None:
    """A callback of the bank is believed, and says what it is about."""
    proof = _proof(trial)
    for each in await _happened(trial):
        meant = each.of(await _believed(proof, await _sent(trial, each)))
        assert meant, f"nothing of a {each.kind.value}"
        for notice in meant:
            asked = _FOUND_BY.get(notice.named_by) if notice.account else None
            assert asked is None or trial.can(asked), f"nobody finds an account by {asked}"


@case("callbacks.forged")
async def forged(trial: Trial) -> None:
    """Without its proof, or with another one, a callback is not believed."""
    proof = _proof(trial)
    for each in await _happened(trial):
        came = await _sent(trial, each)
        bare = dataclasses.replace(came, headers=SentHeaders({}), certificate=b"", rest="")
        assert await proof.check(bare) is None, "one without proof is believed"
        if trial.capabilities.callback_proofs <= _SHARED:
            await trial.stage.rotate_secrets()
            other = await _sent(trial, each)
            assert await proof.check(other) is None, "one of another secret is believed"


@case("callbacks.altered")
async def altered(trial: Trial) -> None:
    """A callback with one byte changed, added or missing is not believed."""
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


@case("callbacks.replayed")
async def replayed(trial: Trial) -> None:
    """The same callback again says the same, by the same event; another one has another."""
    proof, events = _proof(trial), list[str]()
    for each in await _happened(trial):
        came = await _sent(trial, each)
        first = await _believed(proof, came)
        assert await _believed(proof, came) == first
        events += [notice.event for notice in first if notice.event]
    assert len(events) == len(set(events)), "two callbacks are one event"


@case("callbacks.late")
async def late(trial: Trial) -> None:
    """A callback is believed as long as the bank may take to send it, and no longer."""
    proof, now, lives = _proof(trial), datetime.now(UTC), trial.stage.callback_lives
    for each in await _happened(trial):
        await _believed(proof, await _sent(trial, each, now - (lives / 2 if lives else _HOUR)))
        for at in (now - lives - _MARGIN, now + lives + _MARGIN) if lives else ():
            came = await _sent(trial, each, at)
            assert await proof.check(came) is None, f"one of {at - now} is believed"


@case("callbacks.any_order")
async def any_order(trial: Trial) -> None:
    """What a callback says does not depend on what came before it."""
    proof, happened = _proof(trial), await _happened(trial)
    sent = [await _sent(trial, each) for each in happened for _ in range(2)]
    forwards = [await _believed(proof, came) for came in sent]
    backwards = [await _believed(proof, came) for came in sent[::-1]]
    assert forwards == backwards[::-1]


@case("callbacks.unknown_payout", needs={PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})
async def unknown_payout(trial: Trial) -> None:
    """A callback about a payout that was not stored yet names it, so that it can be looked up."""
    _proof(trial)
    made = await _payout(trial)
    async with trial.again() as fresh:
        meant = made.of(await _believed(_proof(fresh), await _sent(trial, made)))
        assert meant, "it says nothing of the payout"
        named = meant[0].provider_id or made.provider_id
        found = await fresh.adapter.find_payout(trial.account, made.subject, named)
    assert isinstance(found, OK), found


@case("callbacks.several")
async def several(trial: Trial) -> None:
    """A callback that says several things says each of them, apart from the others."""
    proof = _proof(trial)
    made = [each for _ in range(2) for each in await _happened(trial)]
    kind = min(each.kind for each in made)
    same = [each for each in made if each.kind is kind]
    subjects = [each.subject for each in same]
    came = await trial.stage.callback_of_several(trial.account, subjects, datetime.now(UTC))
    notices = await _believed(proof, came)
    for each in same:
        meant = each.of(notices)
        assert len(meant) == 1, "each thing is told once"
        assert meant[0].part, "what is said of one thing is not kept apart"


@case("callbacks.rotated")
async def rotated(trial: Trial) -> None:
    """A secret or key is replaced without a gap: both are believed while both are configured."""
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
                await (await prepare(trial, read))(trial.adapter)
        assert told, "no transcript was written"
        told += [repr(trial.witness.calls), repr(trial.witness.counts)]
    shown = [what for what, text in _canaries(trial) if any(text in each for each in told)]
    assert not shown, f"it is told: {', '.join(shown)}"


@contextlib.contextmanager
def _listening() -> Iterator[list[str]]:
    """
    Collect every line that is logged, and transcripts, which are lines of a level that is off.

    Whoever else listens gets no transcript by that: cases run in others' programs.
    """
    root, transcripts = logging.getLogger(), logging.getLogger("pixgate.provider.transcript")
    told, handler = list[str](), logging.Handler()
    before, heard = transcripts.level, transcripts.getEffectiveLevel()

    def collect(record: logging.LogRecord) -> bool:
        told.append(_formatter.format(record))
        return record.levelno >= heard

    handler.emit = collect  # type: ignore[assignment, method-assign]
    root.addHandler(handler)
    transcripts.addFilter(collect)
    transcripts.setLevel(logging.DEBUG)
    try:
        yield told
    finally:
        transcripts.setLevel(before)
        transcripts.removeFilter(collect)
        root.removeHandler(handler)


def _canaries(trial: Trial) -> Sequence[tuple[str, str]]:
    """Return what must not be told, and what it is."""
    to, secrets = trial.stage.payee(trial.method), trial.stage.callback_secrets.shared
    place = to.key if isinstance(to, PixDestination) else to.account
    known = [("a name", to.name), ("a tax number", to.tax_number), ("a key or account", place)]
    for each in secrets:
        forms = each.decode("latin-1"), each.hex(), base64.b64encode(each).decode()
        known += [("a secret of callbacks", form) for form in forms]
    for account in trial.stage.accounts:
        held = account.secrets
        fields = msgspec.structs.asdict(held).values() if isinstance(held, msgspec.Struct) else ()
        texts = (account.credentials, *map(str, fields))
        known += [("a secret of an account", text) for text in texts if len(text) >= _SECRET]
    return known


async def _happened(trial: Trial) -> Sequence[_Happening]:
    """Let everything happen that the bank tells of; the stage may lack some of it."""
    made: list[_Happening] = []
    absent: NotApplicable | None = None
    for happens in (_payout, _charge):
        try:
            each = await happens(trial)
            await _sent(trial, each)
            made.append(each)
        except NotApplicable as lacking:
            absent = lacking
    if not made and absent is not None:
        raise absent
    return made


async def _payout(trial: Trial) -> _Happening:
    applies_if(trial.can(PortCall.CREATE_PAYOUT), "create_payout is not declared")
    order = trial.order(await trial.stage.wish(Fate.SETTLES))
    made = await trial.pay(order)
    assert isinstance(made, OK), made
    await trial.stage.settle()
    kinds = frozenset({CallbackKind.PAYOUT, CallbackKind.RETURN})
    return _Happening(kinds=kinds, subject=order.provider_key, provider_id=made.provider_id)


async def _charge(trial: Trial) -> _Happening:
    paid = Charge(value=Money(10_50), status=ChargeStatus.PAID)
    reference = await trial.stage.put(trial.account, paid)
    return _Happening(kinds=frozenset({CallbackKind.CHARGE}), subject=reference)


async def _sent(trial: Trial, each: _Happening, at: datetime | None = None) -> Delivery:
    when = at or datetime.now(UTC)
    return await trial.stage.callback(trial.account, each.kind, each.subject, when)


def _proof(trial: Trial, secrets: CallbackSecrets | None = None) -> CallbackProof:
    """Make the adapter's proof."""
    applies_if(trial.capabilities.callback_proofs, "callback_proofs: none is declared")
    adapter: object = trial.adapter
    assert isinstance(adapter, CallbackProver), "it declares callback_proofs and has no proof"
    return adapter.callback_proof(secrets or trial.stage.callback_secrets)


async def _believed(proof: CallbackProof, came: Delivery) -> Sequence[Notice]:
    """Return what a callback says that must be believed, checked as the gateway checks it."""
    notices = await proof.check(came)
    assert notices is not None, "a callback of the bank is not believed"
    assert came.rest in proof.rests, "the rest of its path is none of the adapter's"
    return [provider_callbacks.notice(each) for each in notices]
