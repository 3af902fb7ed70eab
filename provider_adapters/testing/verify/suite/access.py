"""Cases about credentials: tokens, certificates, and that no account acts as another one."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import (
    NotSent,
    ProviderAccount,
    ProviderError,
    Unknown,
    Unreachable,
)
from gateway.domain.kernel.money import Money
from provider_adapters.kit.certificates import CertificatePair
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.secrets import pair_of, with_pair
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import (
    PASS_ON,
    Act,
    Seen,
    answering,
    at_request,
    from_request,
)
from provider_adapters.testing.verify.stage import BankAnswer, Charge, NotApplicable, Received
from provider_adapters.testing.verify.suite.calls import OK, payouts
from provider_adapters.testing.verify.suite.reads import yesterday
from provider_adapters.testing.verify.suite.wire import money_request
from provider_adapters.testing.verify.trial import Trial, far

_AT_ONCE: Final = 50
_SECRET: Final = 8
"""Characters; a shorter text stands in a request by chance."""
_BARE: Final = Act(play=answering(BankAnswer(status=401)))
"""Anybody on the way may say so; it proves nothing about the bank."""
_AUTHORIZATION: Final = re.compile(rb"(?i)\r\nauthorization: *([^\r]+)")

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
Read = Callable[[ProviderAccount], Awaitable[object]]


@case("access.cold_start")
async def cold_start(trial: Trial) -> None:
    """Fifty calls at once, of an account that has no token yet, fetch one."""
    read = await _read_of(trial)
    _needs_tokens(trial)
    await asyncio.gather(*(read(trial.account) for _ in range(_AT_ONCE)))
    assert len(_tokens(trial)) == 1


@case("access.token_refused")
async def token_refused(trial: Trial) -> None:
    """A read that is refused for its token is made once more, with one new token."""
    read = await _read_of(trial)
    _needs_tokens(trial)
    await read(trial.account)
    calls = len(_others(trial))
    await trial.stage.revoke_tokens()
    trial.relay.begin(_passing)
    await read(trial.account)
    assert len(_tokens(trial)) == 1
    assert len(_others(trial)) == calls + 1


@case("access.refused_for_good")
async def refused_for_good(trial: Trial) -> None:
    """A read that stays refused ends in an error, after one repetition at most."""
    read = await _read_of(trial)
    await read(trial.account)
    if trial.stage.token_path:

        async def after(_: Seen) -> None:
            await trial.stage.revoke_tokens()

        await trial.stage.revoke_tokens()
        trial.relay.after = after
    trial.relay.begin(_passing if trial.stage.token_path else from_request(1, _BARE))
    with pytest.raises(ProviderError):
        await read(trial.account)
    assert len(_others(trial)) <= 2


@case("access.payout_refused", needs={PortCall.CREATE_PAYOUT})
async def payout_refused(trial: Trial) -> None:
    """A payout that is refused for its token in the middle is not sent again."""
    money, order = await money_request(trial), payouts(trial)()
    trial.relay.begin(at_request(money, _BARE))
    outcome = await order.made(trial.adapter, far())
    assert isinstance(outcome, Unknown), outcome
    assert len([each for each in _others(trial) if each.number >= money]) == 1
    assert await trial.paid(order.key) == []


@case("access.payout_without_token", needs={PortCall.CREATE_PAYOUT})
async def payout_without_token(trial: Trial) -> None:
    """A payout whose token the bank has revoked is refused, and not sent again."""
    read, order = await _read_of(trial), payouts(trial)()
    _needs_tokens(trial)
    await read(trial.account)
    await trial.stage.revoke_tokens()
    trial.relay.begin(_passing)
    outcome = await order.made(trial.adapter, far())
    # Where a read comes first, that has renewed the token.
    paid = await trial.paid(order.key)
    assert isinstance(outcome, OK if paid else NotSent | Unknown), outcome
    sent = Counter(each.path for each in _others(trial) if each.method != "GET")
    assert max(sent.values(), default=0) <= 1, "a request that changes something was made twice"


@case("access.two_accounts")
async def two_accounts(trial: Trial) -> None:
    """Nothing that one account shows to the bank is shown for another one."""
    read, (one, two) = await _read_of(trial), trial.stage.accounts[:2]
    shown: list[Sequence[Seen]] = []
    for account in (one, two, one, two):
        trial.relay.begin(_passing)
        await read(account)
        shown.append(list(trial.relay.seen))

    for place, seen in enumerate(shown):
        mine, other = (one, two) if place % 2 == 0 else (two, one)
        sent = b"".join(each.head + each.body for each in seen)
        assert not any(each in sent for each in _texts(other) - _texts(mine))
        others = b"".join(each.head for each in shown[1 - place % 2])
        held = _AUTHORIZATION.findall(b"".join(each.head for each in seen))
        assert not any(each in others for each in held), "both show one Authorization"
        if trial.stage.relay_tls is not None:
            assert {each.certificate for each in seen} == {_der(_pair(mine))}
            _apart(trial, mine)


@case("access.own_balances", needs={PortCall.GET_BALANCE})
async def own_balances(trial: Trial) -> None:
    """Of many calls at once, each is answered for the account that it is about."""
    (one, two), read = trial.stage.accounts[:2], trial.adapter.get_balance
    await trial.stage.put(one, Received(value=Money(123_45)))
    known = [(await read(each)).balance for each in (one, two)]
    assert known[0] != known[1], "both accounts are told to hold the same"
    told = await asyncio.gather(*map(read, [one, two] * (_AT_ONCE // 2)))
    assert [each.balance for each in told] == known * (_AT_ONCE // 2)


@case("access.same_credentials")
async def same_credentials(trial: Trial) -> None:
    """Two accounts that were entered with one id and one secret have a token each."""
    read, one = await _read_of(trial), trial.account
    _needs_tokens(trial)
    same = dataclasses.replace(one, account_id=trial.stage.accounts[1].account_id)
    for account in (one, same, one, same):
        await read(account)
    assert len(_tokens(trial)) == 2


@case("access.certificate_renewed")
async def certificate_renewed(trial: Trial) -> None:
    """A certificate is replaced while calls are under way, and none of them fails."""
    read, former = await _read_of(trial), trial.account
    _pair(former)
    new = await trial.stage.renew_certificate(former)
    await asyncio.gather(*map(read, [former] * 10 + [former, new] * 10 + [new] * 10))
    trial.relay.begin(_passing)
    await read(new)
    assert {each.certificate for each in trial.relay.seen} == {_der(_pair(new))}


@case("access.certificate_of_another")
async def certificate_of_another(trial: Trial) -> None:
    """An account that shows another one's certificate reads nothing and pays nothing."""
    read, other = await _read_of(trial), _pair(trial.stage.accounts[1])
    account = _with(trial.account, other)
    with pytest.raises(ProviderError):
        await read(account)
    if trial.can(PortCall.CREATE_PAYOUT):
        order = trial.order()
        outcome = await trial.adapter.create_payout(account, order, far())
        assert isinstance(outcome, NotSent | Unknown), outcome
        assert await trial.paid(order.provider_key) == []


async def _read_of(trial: Trial) -> Read:
    """Return a read that the adapter declares, which every account can make."""
    bank = trial.adapter
    if trial.can(PortCall.GET_BALANCE):
        return bank.get_balance
    if trial.can(PortCall.LIST_STATEMENT):
        return lambda account: bank.list_statement(account, yesterday(trial), None, 10)
    if trial.can(PortCall.LIST_KEYS):
        return bank.list_keys
    if trial.can(PortCall.GET_CHARGE):
        put = {
            each.provider_account: await trial.stage.put(each, Charge(value=Money(10_50)))
            for each in trial.stage.accounts[:2]
        }
        return lambda account: bank.get_charge(account, put[account.provider_account])
    message = "none of get_balance, list_statement, list_keys and get_charge is declared"
    raise NotApplicable(message)


def _needs_tokens(trial: Trial) -> None:
    applies_if(trial.stage.token_path, "the bank gives no access tokens")


def _passing(_: int) -> Act:
    return PASS_ON


def _tokens(trial: Trial) -> Sequence[Seen]:
    """Return the requests for tokens."""
    path = trial.stage.token_path
    return [each for each in trial.relay.seen if path and each.path.partition("?")[0] == path]


def _others(trial: Trial) -> Sequence[Seen]:
    """Return all requests but those for tokens."""
    tokens = _tokens(trial)
    return [each for each in trial.relay.seen if each not in tokens]


def _apart(trial: Trial, account: ProviderAccount) -> None:
    """Expect the transcript of an account in its own place, where its clients are attributes."""
    names = [name for name in dir(trial.adapter) if not name.startswith("__")]
    held = [getattr(trial.adapter, name) for name in names]
    for each in [one for one in held if isinstance(one, ProviderClient)]:
        assert each.transcript.shown(account.account_id), "the account's own transcript is empty"
        assert not each.transcript.shown(), "an account's calls are in everybody's transcript"


def _texts(account: ProviderAccount) -> set[bytes]:
    """Return what an account shows to its bank, but for texts that are too short to be secret."""
    held = account.secrets
    fields = msgspec.structs.asdict(held) if isinstance(held, msgspec.Struct) else {}
    texts = (account.credentials, account.provider_account, *map(str, fields.values()))
    return {each.encode() for each in texts if len(each) >= _SECRET}


def _pair(account: ProviderAccount) -> CertificatePair:
    held = account.secrets
    pair = pair_of(held) if isinstance(held, msgspec.Struct) else None
    if pair is None:
        message = "the bank asks for no certificate of an account"
        raise NotApplicable(message)
    return pair


def _with(account: ProviderAccount, pair: CertificatePair) -> ProviderAccount:
    """Return an account that shows another certificate."""
    secrets = with_pair(cast("msgspec.Struct", account.secrets), pair)
    return dataclasses.replace(account, secrets=secrets)


def _der(pair: CertificatePair) -> bytes:
    return ssl.PEM_cert_to_DER_cert(pair.certificate)


def _expired(pair: CertificatePair) -> CertificatePair:
    """Return a certificate for the same key that ended yesterday; nobody has signed it."""
    before = x509.load_pem_x509_certificate(pair.certificate.encode())
    key = cast("PrivateKey", serialization.load_pem_private_key(pair.key.encode(), password=None))
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(before.issuer, before.subject, before.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now - timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    text = made.public_bytes(serialization.Encoding.PEM).decode()
    return CertificatePair(certificate=text, key=pair.key)


@case("access.certificate_expired", _expired)
@case("access.certificate_absent", lambda _: CertificatePair(certificate="", key=""))
async def certificate_unusable(
    trial: Trial, made: Callable[[CertificatePair], CertificatePair]
) -> None:
    """With an expired certificate, or none, nothing is opened, and a payout is NotSent."""
    account = _with(trial.account, made(_pair(trial.account)))
    read, before = await _read_of(trial), trial.relay.connections
    with pytest.raises(Unreachable):
        await read(account)
    if trial.can(PortCall.CREATE_PAYOUT):
        outcome = await trial.adapter.create_payout(account, trial.order(), far())
        assert isinstance(outcome, NotSent), outcome
    assert trial.relay.connections == before, "a connection was opened"
