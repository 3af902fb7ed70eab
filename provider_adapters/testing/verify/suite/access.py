"""Cases about credentials: tokens, certificates, and that no account acts as another one."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import ssl
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, cast

import msgspec
import pytest

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import (
    NotSent,
    ProviderAccount,
    ProviderError,
    Unknown,
    Unreachable,
)
from gateway.core.money import Money
from provider_adapters.kit.certificates import CertificatePair
from provider_adapters.kit.secrets import pair_of, with_pair
from provider_adapters.testing.verify.relay import Line, Seen, reading, saying, written
from provider_adapters.testing.verify.stage import NotApplicable, Received
from provider_adapters.testing.verify.suite.wire import money_request
from provider_adapters.testing.verify.trial import OK, Trial, a_read, applies_if, case, far, payouts

_AT_ONCE: Final = 50
# Characters; a shorter text stands in a request or a log by chance.
_SECRET: Final = 8
_BARE: Final = written(b"", status="401 Unauthorized")
"""Anybody on the way may say so; it proves nothing about the bank."""
_AUTHORIZATION: Final = re.compile(rb"(?i)\r\nauthorization: *([^\r]+)")


@case("access.tokens")
async def tokens(trial: Trial) -> None:
    """Many calls fetch one token, a refused token one more; accounts with one secret have two."""
    read = await a_read(trial)
    _needs_tokens(trial)
    await asyncio.gather(*(read(trial.account) for _ in range(_AT_ONCE)))
    assert len(_tokens(trial)) == 1
    trial.relay.begin()
    await read(trial.account)
    calls = len(_others(trial))
    await trial.stage.revoke_tokens()
    await read(trial.account)
    assert len(_tokens(trial)) == 1
    assert len(_others(trial)) == 2 * calls + 1
    trial.relay.begin()
    other = trial.stage.accounts[1].account_id
    await read(dataclasses.replace(trial.account, account_id=other))
    assert len(_tokens(trial)) == 1


@case("access.refused_for_good")
async def refused_for_good(trial: Trial) -> None:
    """A read that stays refused ends in an error, after one repetition at most."""
    read = await a_read(trial)

    async def refused(line: Line) -> None:
        seen = await line.read()
        await line.say(await line.ask(seen) if _is_token(trial, seen) else _BARE)

    trial.relay.begin(refused)
    with pytest.raises(ProviderError):
        await read(trial.account)
    assert len(_others(trial)) <= 2


@case("access.payout_refused", needs={PortCall.CREATE_PAYOUT})
async def payout_refused(trial: Trial) -> None:
    """A payout that is refused for its token in the middle is not sent again."""
    money, order = await money_request(trial), payouts(trial)()
    trial.relay.begin(reading(saying(_BARE)), at=money, once=True)
    outcome = await trial.pay(order)
    assert isinstance(outcome, Unknown), outcome
    assert len([each for each in _others(trial) if each.number >= money]) == 1
    assert await trial.paid(order) == []


@case("access.payout_without_token", needs={PortCall.CREATE_PAYOUT})
async def payout_without_token(trial: Trial) -> None:
    """A payout whose token the bank has revoked is refused, and not sent again."""
    read, order = await a_read(trial), payouts(trial)()
    _needs_tokens(trial)
    await read(trial.account)
    await trial.stage.revoke_tokens()
    trial.relay.begin()
    outcome = await trial.pay(order)
    # Where a read comes first, that has renewed the token.
    paid = await trial.paid(order)
    assert isinstance(outcome, OK if paid else NotSent | Unknown), outcome
    sent = Counter(each.path for each in _others(trial) if each.method != "GET")
    assert max(sent.values(), default=0) <= 1, "a request that changes something was made twice"


@case("access.two_accounts")
async def two_accounts(trial: Trial) -> None:
    """Nothing that one account shows to the bank is shown for another one."""
    read, accounts = await a_read(trial), list(trial.stage.accounts[:2])
    shown: dict[str, set[bytes]] = {each.provider_account: set() for each in accounts}
    for mine, other in (accounts, accounts[::-1]) * 2:
        trial.relay.begin()
        await read(mine)
        sent = b"".join(each.head + each.body for each in trial.relay.seen)
        others = secret_texts(other, other.provider_account) - secret_texts(mine)
        assert not any(text.encode() in sent for text in others)
        shown[mine.provider_account].update(_AUTHORIZATION.findall(sent))
        if trial.stage.relay_tls is not None:
            assert {each.certificate for each in trial.relay.seen} == {_der(_pair(mine))}
    assert not set.intersection(*shown.values()), "both show one Authorization"


@case("access.own_balances", needs={PortCall.GET_BALANCE})
async def own_balances(trial: Trial) -> None:
    """Of many calls at once, each is answered for the account that it is about."""
    (one, two), read = trial.stage.accounts[:2], trial.adapter.get_balance
    await trial.stage.put(one, Received(value=Money(123_45)))
    known = [(await read(each)).balance for each in (one, two)]
    assert known[0] != known[1], "both accounts are told to hold the same"
    told = await asyncio.gather(*map(read, [one, two] * (_AT_ONCE // 2)))
    assert [each.balance for each in told] == known * (_AT_ONCE // 2)


@case("access.certificate_renewed")
async def certificate_renewed(trial: Trial) -> None:
    """A certificate is replaced while calls are under way, and none of them fails."""
    read, former = await a_read(trial), trial.account
    _pair(former)
    new = await trial.stage.renew_certificate(former)
    await asyncio.gather(*map(read, [former] * 10 + [former, new] * 10 + [new] * 10))
    trial.relay.begin()
    await read(new)
    assert {each.certificate for each in trial.relay.seen} == {_der(_pair(new))}


@case("access.certificate_of_another", lambda other: other)
@case("access.certificate_absent", lambda _: CertificatePair(certificate="", key=""))
async def wrong_certificate(
    trial: Trial, chosen: Callable[[CertificatePair], CertificatePair]
) -> None:
    """With another one's certificate nothing is read or paid; without any, nothing is opened."""
    pair = chosen(_pair(trial.stage.accounts[1]))
    read, before = await a_read(trial), trial.relay.connections
    secrets = with_pair(cast("msgspec.Struct", trial.account.secrets), pair)
    account, order = dataclasses.replace(trial.account, secrets=secrets), trial.order()
    with pytest.raises(ProviderError if pair.key else Unreachable):
        await read(account)
    if trial.can(PortCall.CREATE_PAYOUT):
        outcome = await trial.adapter.create_payout(account, order, far())
        assert isinstance(outcome, NotSent | Unknown if pair.key else NotSent), outcome
        assert await trial.paid(order) == []
    assert pair.key or trial.relay.connections == before, "a connection was opened"


def _needs_tokens(trial: Trial) -> None:
    applies_if(trial.stage.token_path, "the bank gives no access tokens")


def _is_token(trial: Trial, seen: Seen) -> bool:
    return seen.path.partition("?")[0] == trial.stage.token_path


def _tokens(trial: Trial) -> Sequence[Seen]:
    return [each for each in trial.relay.seen if _is_token(trial, each)]


def _others(trial: Trial) -> Sequence[Seen]:
    return [each for each in trial.relay.seen if not _is_token(trial, each)]


def secret_texts(account: ProviderAccount, *more: str) -> set[str]:
    """Return an account's secrets and the texts ``more``; too short texts are left out."""
    held = account.secrets
    fields = msgspec.structs.asdict(held) if isinstance(held, msgspec.Struct) else {}
    texts = {account.credentials, *map(str, fields.values()), *more}
    return {each for each in texts if len(each) >= _SECRET}


def _pair(account: ProviderAccount) -> CertificatePair:
    held = account.secrets
    pair = pair_of(held) if isinstance(held, msgspec.Struct) else None
    if pair is None:
        message = "the bank asks for no certificate of an account"
        raise NotApplicable(message)
    return pair


def _der(pair: CertificatePair) -> bytes:
    return ssl.PEM_cert_to_DER_cert(pair.certificate)
