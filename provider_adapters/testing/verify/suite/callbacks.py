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
from gateway.domain.bank.providers import Accepted, Settled
from gateway.domain.kernel.money import Money
from provider_adapters.testing.verify.cases import CaseFailed, case
from provider_adapters.testing.verify.stage import Charge, Fate, NotApplicable, SentHeaders
from provider_adapters.testing.verify.suite.calls import PREPARED, Ready
from provider_adapters.testing.verify.trial import Harness, Trial, far

_MARGIN: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_BYTES: Final = 64
"""Of a body that are altered one at a time, spread over all of it."""
_SECRET: Final = 8
"""Characters; a shorter text stands in a log by chance."""
_TRANSCRIPTS: Final = "pixgate.provider.transcript"
"""The logger of transcripts, which are written at debug level."""
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
_PAYOUT: Final = frozenset({CallbackKind.PAYOUT, CallbackKind.RETURN})


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

    def is_meant(self, notice: Notice) -> bool:
        """Say whether a notice is about this."""
        by_id = bool(self.provider_id) and notice.provider_id == self.provider_id
        return notice.kind in self.kinds and (notice.subject == self.subject or by_id)


@case("callbacks.proven")
async def proven(trial: Trial) -> None:
    """A callback of the bank is believed, and says what it is about."""
    async with trial.harness() as harness:
        proof = _proof(trial, harness)
        for each in await _happened(trial, harness):
            notices = await _believed(trial, proof, await _sent(trial, each), each.kind)
            meant = [notice for notice in notices if each.is_meant(notice)]
            trial.expect(meant, f"of a {each.kind.value} it says {list(notices)}")
            for notice in meant:
                asked = _FOUND_BY.get(notice.named_by) if notice.account else None
                found = asked is None or asked in trial.capabilities.calls
                trial.expect(found, f"the account is named by a {notice.named_by}: nobody finds it")


@case("callbacks.forged")
async def forged(trial: Trial) -> None:
    """Without its proof, or with another one, a callback is not believed."""
    async with trial.harness() as harness:
        proof = _proof(trial, harness)
        for each in await _happened(trial, harness):
            came, what = await _sent(trial, each), f"a {each.kind.value}"
            bare = dataclasses.replace(came, headers=SentHeaders({}), certificate=b"", rest="")
            trial.expect(not await _is_believed(proof, bare), f"{what} without proof is believed")
            await _others_proof(trial, proof, each)


@case("callbacks.altered")
async def altered(trial: Trial) -> None:
    """A callback with one byte changed, added or missing is not believed."""
    if trial.capabilities.callback_proofs <= _SENDER_ALONE:
        _proofs(trial)
        message = "its proof says who sent a callback, and covers no body"
        raise NotApplicable(message)
    async with trial.harness() as harness:
        proof = _proof(trial, harness)
        for each in await _happened(trial, harness):
            came = await _sent(trial, each)
            # A proof that remembers what it has believed must not believe another body for it.
            await _believed(trial, proof, came, each.kind)
            body, step = came.body, max(1, len(came.body) // _BYTES)
            others = [
                body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]
                for place in range(0, len(body), step)
            ]
            for other in (*others, body + b" ", body[:-1], b""):
                changed = dataclasses.replace(came, body=other)
                trial.expect(not await _is_believed(proof, changed), "an altered body is believed")


@case("callbacks.replayed")
async def replayed(trial: Trial) -> None:
    """The same callback again says the same, by the same event; another one has another."""
    async with trial.harness() as harness:
        proof, events = _proof(trial, harness), []
        for each in await _happened(trial, harness):
            came = await _sent(trial, each)
            first = await _believed(trial, proof, came, each.kind)
            again = await _believed(trial, proof, came, each.kind)
            trial.expect(first == again, f"a {each.kind.value} that comes twice is two")
            events += [notice.event for notice in first if notice.event]
        trial.expect(len(events) == len(set(events)), "two callbacks are one event")


@case("callbacks.late")
async def late(trial: Trial) -> None:
    """A callback is believed as long as the bank may take to send it, and no longer."""
    now, lives = datetime.now(UTC), trial.stage.callback_lives
    async with trial.harness() as harness:
        proof = _proof(trial, harness)
        for each in await _happened(trial, harness):
            if lives is None:
                await _believed(trial, proof, await _sent(trial, each, now - _HOUR), each.kind)
                continue
            await _believed(trial, proof, await _sent(trial, each, now - lives / 2), each.kind)
            for at in (now - lives - _MARGIN, now + lives + _MARGIN):
                came = await _sent(trial, each, at)
                trial.expect(not await _is_believed(proof, came), f"one of {at - now} is believed")


@case("callbacks.any_order")
async def any_order(trial: Trial) -> None:
    """What a callback says does not depend on what came before it."""
    async with trial.harness() as harness:
        proof, sent = _proof(trial, harness), []
        for each in await _happened(trial, harness):
            sent += [(await _sent(trial, each), each.kind) for _ in range(2)]
        forwards = [await _believed(trial, proof, came, kind) for came, kind in sent]
        backwards = [await _believed(trial, proof, came, kind) for came, kind in sent[::-1]]

    trial.expect(forwards == backwards[::-1], "in another order they say something else")


@case("callbacks.unknown_payout", needs={PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})
async def unknown_payout(trial: Trial) -> None:
    """A callback about a payout that was not stored yet names it, so that it can be looked up."""
    async with trial.harness() as orders:
        _proof(trial, orders)
        made = await _payout(trial, orders)
    async with trial.harness() as fresh:
        came = await _sent(trial, made)
        notices = await _believed(trial, _proof(trial, fresh), came, made.kind)
        meant = [notice for notice in notices if made.is_meant(notice)]
        trial.expect(meant, f"it says {list(notices)}")
        named = meant[0].provider_id or made.provider_id
        found = await fresh.adapter.find_payout(trial.account, made.subject, named)
    trial.expect(isinstance(found, Accepted | Settled), f"it is looked up as {found!r}")


@case("callbacks.several")
async def several(trial: Trial) -> None:
    """A callback that says several things says each of them, apart from the others."""
    async with trial.harness() as harness:
        proof = _proof(trial, harness)
        made = [each for _ in range(2) for each in await _happened(trial, harness)]
        kinds = {each.kind for each in made}
        same = [each for each in made if each.kind is min(kinds)]
        subjects = [each.subject for each in same]
        came = await trial.stage.callback_of_several(trial.account, subjects, datetime.now(UTC))
        notices = await _believed(trial, proof, came, same[0].kind)

    for each in same:
        meant = [notice for notice in notices if each.is_meant(notice)]
        trial.expect(len(meant) == 1, f"one of {len(same)} things is told {len(meant)} times")
        trial.expect(meant[0].part, "what is said of one thing is not kept apart")


@case("callbacks.rotated")
async def rotated(trial: Trial) -> None:
    """A secret or key is replaced without a gap: both are believed while both are configured."""
    async with trial.harness() as harness:
        _proof(trial, harness)
        [each, *_] = await _happened(trial, harness)
        before = await _sent(trial, each)
        former = _proof(trial, harness)
        await trial.stage.rotate_secrets()
        after, both = await _sent(trial, each), trial.stage.callback_secrets
        proof = _proof(trial, harness)
        await _believed(trial, proof, after, each.kind)
        if trial.capabilities.callback_proofs <= _SHARED:
            await _believed(trial, proof, before, each.kind)
            alone = _proof(trial, harness, CallbackSecrets(current=both.current))
            trial.expect(not await _is_believed(alone, before), "a former secret is believed")
            trial.expect(not await _is_believed(former, after), "an unknown secret is believed")


@case("callbacks.nothing_told")
async def nothing_told(trial: Trial) -> None:
    """No name, tax number, key or secret of a call or callback is in a transcript or a log."""
    with _listening() as told:
        async with trial.harness() as harness:
            proof = _proof(trial, harness)
            for each in await _happened(trial, harness):
                await _believed(trial, proof, await _sent(trial, each), each.kind)
                forged = dataclasses.replace(await _sent(trial, each), headers=SentHeaders({}))
                await proof.check(forged)
            for read in (PortCall.GET_BALANCE, PortCall.LIST_KEYS, PortCall.LIST_RECEIVED):
                if read in trial.capabilities.calls:
                    call = await PREPARED[read](Ready(trial, harness.adapter))
                    await call(harness.adapter)
            trial.expect(told, "no transcript was written")
            told += [repr(harness.witness.calls), repr(harness.witness.counts)]
    shown = [what for what, text in _canaries(trial) if any(text in each for each in told)]
    trial.expect(not shown, f"it is told: {', '.join(shown)}")


@contextlib.contextmanager
def _listening() -> Iterator[list[str]]:
    """
    Collect every line that is logged, and transcripts, which are lines of a level that is off.

    Whoever else listens gets no transcript by that: cases run at once, and in others' programs.
    """
    root, transcripts, told = logging.getLogger(), logging.getLogger(_TRANSCRIPTS), list[str]()
    handler, before, heard = logging.Handler(), transcripts.level, transcripts.getEffectiveLevel()

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


async def _happened(trial: Trial, harness: Harness) -> Sequence[_Happening]:
    """Let everything happen that the bank tells of; the stage may lack some of it."""
    made: list[_Happening] = []
    absent: NotApplicable | None = None
    for happens in (_payout, _charge):
        try:
            each = await happens(trial, harness)
            await _sent(trial, each)
            made.append(each)
        except NotApplicable as lacking:
            absent = lacking
    if not made and absent is not None:
        raise absent
    return made


async def _payout(trial: Trial, harness: Harness) -> _Happening:
    if PortCall.CREATE_PAYOUT not in trial.capabilities.calls:
        message = "create_payout is not declared"
        raise NotApplicable(message)
    order = trial.order(await trial.stage.wish(Fate.SETTLES))
    made = await harness.adapter.create_payout(trial.account, order, far())
    if not isinstance(made, Accepted | Settled):
        message = f"a payout was answered by {made!r}"
        raise CaseFailed(message)
    await trial.stage.settle()
    known = made.provider_id
    return _Happening(kinds=_PAYOUT, subject=order.provider_key, provider_id=known)


async def _charge(trial: Trial, _: Harness) -> _Happening:
    paid = Charge(value=Money(10_50), status=ChargeStatus.PAID)
    reference = await trial.stage.put(trial.account, paid)
    return _Happening(kinds=frozenset({CallbackKind.CHARGE}), subject=reference)


async def _sent(trial: Trial, each: _Happening, at: datetime | None = None) -> Delivery:
    when = at or datetime.now(UTC)
    return await trial.stage.callback(trial.account, each.kind, each.subject, when)


def _proofs(trial: Trial) -> None:
    if not trial.capabilities.callback_proofs:
        message = "callback_proofs: none is declared"
        raise NotApplicable(message)


def _proof(trial: Trial, harness: Harness, secrets: CallbackSecrets | None = None) -> CallbackProof:
    """Make the adapter's proof."""
    _proofs(trial)
    adapter: object = harness.adapter
    if not isinstance(adapter, CallbackProver):
        message = "it declares callback_proofs and has no callback_proof"
        raise CaseFailed(message)
    return adapter.callback_proof(secrets or trial.stage.callback_secrets)


async def _believed(
    trial: Trial, proof: CallbackProof, came: Delivery, kind: CallbackKind
) -> Sequence[Notice]:
    """Return what a callback says that must be believed, checked as the gateway checks it."""
    notices = await proof.check(came)
    trial.expect(notices is not None, f"the bank's callback about a {kind.value} is not believed")
    taken = came.rest in proof.rests
    trial.expect(taken, f"the rest of its path, {came.rest!r}, is none of the adapter's")
    return [provider_callbacks.notice(each) for each in notices or ()]


async def _is_believed(proof: CallbackProof, came: Delivery) -> bool:
    return await proof.check(came) is not None


async def _others_proof(trial: Trial, proof: CallbackProof, each: _Happening) -> None:
    """Expect that a callback which somebody else proved is not believed."""
    if not trial.capabilities.callback_proofs <= _SHARED:
        return
    await trial.stage.rotate_secrets()
    came = await _sent(trial, each)
    trial.expect(not await _is_believed(proof, came), "one of another secret is believed")
