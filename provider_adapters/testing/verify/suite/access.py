"""Cases about credentials: tokens, certificates, and that no account acts as another one."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import (
    Accepted,
    NotSent,
    ProviderAccount,
    ProviderError,
    Settled,
    Unknown,
    Unreachable,
)
from gateway.domain.kernel.money import Money
from provider_adapters.kit.certificates import CertificatePair
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.secrets import pair_of, with_pair
from provider_adapters.testing.verify.cases import case
from provider_adapters.testing.verify.relay import (
    PASS_ON,
    Act,
    Seen,
    answering,
    at_request,
    from_request,
)
from provider_adapters.testing.verify.stage import BankAnswer, Charge, NotApplicable, Received
from provider_adapters.testing.verify.suite.calls import payouts
from provider_adapters.testing.verify.suite.reads import yesterday
from provider_adapters.testing.verify.suite.wire import money_path
from provider_adapters.testing.verify.trial import Harness, Trial, far

_AT_ONCE: Final = 50
_TWO: Final = 2
_SECRET: Final = 8
"""Characters; a shorter text stands in a request by chance."""
_BARE: Final = Act(play=answering(BankAnswer(status=401)))
"""Anybody on the way may say so; it proves nothing about the bank."""

_AUTHORIZATION: Final = re.compile(rb"(?i)\r\nauthorization: *([^\r]+)")

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
Read = Callable[[Harness, ProviderAccount], Awaitable[object]]


@case("access.cold_start")
async def cold_start(trial: Trial) -> None:
    """Fifty calls at once, of an account that has no token yet, fetch one."""
    read = await _read_of(trial)
    _needs_tokens(trial)
    async with trial.harness() as harness:
        await asyncio.gather(*(read(harness, trial.account) for _ in range(_AT_ONCE)))
        tokens = _tokens(trial, harness.relay.seen)

    trial.expect(len(tokens) == 1, f"{len(tokens)} tokens were fetched")


@case("access.token_refused")
async def token_refused(trial: Trial) -> None:
    """A read that is refused for its token is made once more, with one new token."""
    read = await _read_of(trial)
    _needs_tokens(trial)
    async with trial.harness() as harness:
        await read(harness, trial.account)
        calls = len(_others(trial, harness.relay.seen))
        await trial.stage.revoke_tokens()
        harness.relay.begin(_passing)
        await read(harness, trial.account)
        seen = list(harness.relay.seen)

    tokens, others = _tokens(trial, seen), _others(trial, seen)
    trial.expect(len(tokens) == 1, f"{len(tokens)} tokens were fetched after the refusal")
    again = len(others) - calls
    trial.expect(again == 1, f"{again} requests were made again")


@case("access.refused_for_good")
async def refused_for_good(trial: Trial) -> None:
    """A read that stays refused ends in an error, after one repetition at most."""
    read = await _read_of(trial)
    async with trial.harness() as harness:
        await read(harness, trial.account)
        await _refuse_all(trial, harness)
        await trial.raised(ProviderError, read(harness, trial.account), "refused again and again")
        others = _others(trial, harness.relay.seen)

    trial.expect(len(others) <= _TWO, f"{len(others)} requests were made")


@case("access.payout_refused", needs={PortCall.CREATE_PAYOUT})
async def payout_refused(trial: Trial) -> None:
    """A payout that is refused for its token in the middle is not sent again."""
    path = await money_path(trial, payouts(trial, trial.method)())
    order = payouts(trial, trial.method)()
    async with trial.harness() as harness:
        harness.relay.begin(at_request(path.money, _BARE))
        outcome = await order.made(harness.adapter, far())
        seen = _others(trial, [each for each in harness.relay.seen if each.number >= path.money])

    trial.expect(isinstance(outcome, Unknown), f"after a bare 401 it is {outcome!r}")
    trial.expect(len(seen) == 1, f"{len(seen)} requests were made from the refused one on")
    paid = list(await trial.stage.executions(order.key))
    trial.expect(not paid, f"the bank paid {paid}")


@case("access.payout_without_token", needs={PortCall.CREATE_PAYOUT})
async def payout_without_token(trial: Trial) -> None:
    """A payout whose token the bank has revoked is refused, and not sent again."""
    read, order = await _read_of(trial), payouts(trial, trial.method)()
    _needs_tokens(trial)
    async with trial.harness() as harness:
        await read(harness, trial.account)
        await trial.stage.revoke_tokens()
        harness.relay.begin(_passing)
        outcome = await order.made(harness.adapter, far())
        asked = Counter((each.method, each.path) for each in _others(trial, harness.relay.seen))

    # Where a read comes first, that has renewed the token.
    paid = list(await trial.stage.executions(order.key))
    known = (Accepted, Settled) if paid else (NotSent, Unknown)
    trial.expect(isinstance(outcome, known), f"it is {outcome!r}, and the bank paid {paid}")
    sent = [times for (method, _), times in asked.items() if method != "GET"]
    trial.expect(max(sent, default=0) <= 1, "a request that changes something was made twice")


@case("access.two_accounts")
async def two_accounts(trial: Trial) -> None:
    """Nothing that one account shows to the bank is shown for another one."""
    read, (one, two) = await _read_of(trial), trial.stage.accounts[:2]
    async with trial.harness() as harness:
        shown = [await _shown(harness, read, account) for account in (one, two, one, two)]

    for place, seen in enumerate(shown):
        mine, other = (one, two) if place % 2 == 0 else (two, one)
        texts = _texts(other) - _texts(mine)
        told = [text for text in texts for each in seen if text in each.head + each.body]
        trial.expect(not told, "what one account shows is in a request of another one")
        held = _AUTHORIZATION.findall(b"".join(each.head for each in seen))
        others = b"".join(each.head for each in shown[1 - place % 2])
        trial.expect(not any(each in others for each in held), "both show one Authorization")
        if trial.stage.relay_tls is not None:
            proper = all(each.certificate == _der(_pair(mine)) for each in seen)
            trial.expect(proper, "a request shows no certificate, or another account's")
            _apart(trial, harness, mine)


@case("access.own_balances", needs={PortCall.GET_BALANCE})
async def own_balances(trial: Trial) -> None:
    """Of many calls at once, each is answered for the account that it is about."""
    one, two = trial.stage.accounts[:2]
    await trial.stage.put(one, Received(value=Money(123_45)))
    async with trial.harness() as harness:
        known = [(await harness.adapter.get_balance(each)).balance for each in (one, two)]
        asked = [one, two] * (_AT_ONCE // 2)
        told = await asyncio.gather(*(harness.adapter.get_balance(each) for each in asked))

    trial.expect(known[0] != known[1], "both accounts are told to hold the same")
    wrong = [place for place, held in enumerate(told) if held.balance != known[place % 2]]
    trial.expect(not wrong, f"{len(wrong)} of {len(asked)} balances are another account's")


@case("access.same_credentials")
async def same_credentials(trial: Trial) -> None:
    """Two accounts that were entered with one id and one secret have a token each."""
    read, one = await _read_of(trial), trial.account
    _needs_tokens(trial)
    same = dataclasses.replace(one, account_id=trial.stage.accounts[1].account_id)
    async with trial.harness() as harness:
        for account in (one, same, one, same):
            await read(harness, account)
        tokens = _tokens(trial, harness.relay.seen)

    trial.expect(len(tokens) == _TWO, f"{len(tokens)} tokens were fetched for two accounts")


@case("access.certificate_renewed")
async def certificate_renewed(trial: Trial) -> None:
    """A certificate is replaced while calls are under way, and none of them fails."""
    read, former = await _read_of(trial), trial.account
    _pair(former)
    new = await trial.stage.renew_certificate(former)
    async with trial.harness() as harness:
        asked = [former] * 10 + [former, new] * 10 + [new] * 10
        async with asyncio.TaskGroup() as together:
            for each in asked:
                together.create_task(cast("Coroutine[None, None, object]", read(harness, each)))
                await asyncio.sleep(0)
        harness.relay.begin(_passing)
        await read(harness, new)
        shown = {each.certificate for each in harness.relay.seen}

    trial.expect(shown == {_der(_pair(new))}, "the former certificate is shown after the new one")


@case("access.certificate_expired")
async def certificate_expired(trial: Trial) -> None:
    """With an expired certificate nothing is opened, and a payout is NotSent."""
    await _unusable(trial, _expired(_pair(trial.account)))


@case("access.certificate_absent")
async def certificate_absent(trial: Trial) -> None:
    """Without a certificate nothing is opened, and a payout is NotSent."""
    _pair(trial.account)
    await _unusable(trial, CertificatePair(certificate="", key=""))


@case("access.certificate_of_another")
async def certificate_of_another(trial: Trial) -> None:
    """An account that shows another one's certificate reads nothing and pays nothing."""
    read, other = await _read_of(trial), _pair(trial.stage.accounts[1])
    account = _with(trial.account, other)
    async with trial.harness() as harness:
        await trial.raised(ProviderError, read(harness, account), "a read")
        if PortCall.CREATE_PAYOUT in trial.capabilities.calls:
            order = trial.order()
            outcome = await harness.adapter.create_payout(account, order, far())
            trial.expect(isinstance(outcome, NotSent | Unknown), f"a payout is {outcome!r}")
            paid = await trial.stage.executions(order.provider_key)
            trial.expect(not paid, "the bank paid")


async def _unusable(trial: Trial, pair: CertificatePair) -> None:
    """Expect that no connection is opened with a certificate."""
    read, account = await _read_of(trial), _with(trial.account, pair)
    async with trial.harness() as harness:
        await trial.raised(Unreachable, read(harness, account), "a read")
        if PortCall.CREATE_PAYOUT in trial.capabilities.calls:
            outcome = await harness.adapter.create_payout(account, trial.order(), far())
            trial.expect(isinstance(outcome, NotSent), f"a payout is {outcome!r}")
        trial.expect(not harness.relay.connections, "a connection was opened")


async def _refuse_all(trial: Trial, harness: Harness) -> None:
    """Let every request but those for tokens be refused from now on."""
    if not trial.stage.token_path:
        harness.relay.begin(from_request(1, _BARE))
        return

    async def after(_: Seen) -> None:
        await trial.stage.revoke_tokens()

    await trial.stage.revoke_tokens()
    harness.relay.after = after
    harness.relay.begin(_passing)


async def _read_of(trial: Trial) -> Read:
    """Return a read that the adapter declares, which every account can make."""
    calls = trial.capabilities.calls
    if PortCall.GET_BALANCE in calls:
        return lambda harness, account: harness.adapter.get_balance(account)
    if PortCall.LIST_STATEMENT in calls:
        return lambda harness, account: harness.adapter.list_statement(
            account, yesterday(), None, 10
        )
    if PortCall.LIST_KEYS in calls:
        return lambda harness, account: harness.adapter.list_keys(account)
    if PortCall.GET_CHARGE in calls:
        put = {
            each.provider_account: await trial.stage.put(each, Charge(value=Money(10_50)))
            for each in trial.stage.accounts[:2]
        }
        return lambda harness, account: harness.adapter.get_charge(
            account, put[account.provider_account]
        )
    message = "none of get_balance, list_statement, list_keys and get_charge is declared"
    raise NotApplicable(message)


def _needs_tokens(trial: Trial) -> None:
    if not trial.stage.token_path:
        message = "the bank gives no access tokens"
        raise NotApplicable(message)


def _passing(_: int) -> Act:
    return PASS_ON


def _tokens(trial: Trial, seen: Sequence[Seen]) -> Sequence[Seen]:
    """Return the requests for tokens."""
    path = trial.stage.token_path
    return [each for each in seen if path and each.path.partition("?")[0] == path]


def _others(trial: Trial, seen: Sequence[Seen]) -> Sequence[Seen]:
    """Return all requests but those for tokens."""
    tokens = _tokens(trial, seen)
    return [each for each in seen if each not in tokens]


async def _shown(harness: Harness, read: Read, account: ProviderAccount) -> Sequence[Seen]:
    """Return what the bank sees of an account's read."""
    harness.relay.begin(_passing)
    await read(harness, account)
    return list(harness.relay.seen)


def _apart(trial: Trial, harness: Harness, account: ProviderAccount) -> None:
    """Expect the transcript of an account in its own place, where its clients are attributes."""
    adapter: object = harness.adapter
    names = [name for name in dir(adapter) if not name.startswith("__")]
    clients = [
        found for name in names if isinstance(found := getattr(adapter, name), ProviderClient)
    ]
    for each in clients:
        shown = each.transcript.shown(account.account_id)
        trial.expect(shown, "an account's calls are not in its own transcript")
        trial.expect(
            not each.transcript.shown(), "an account's calls are in everybody's transcript"
        )


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
    return dataclasses.replace(
        account, secrets=with_pair(cast("msgspec.Struct", account.secrets), pair)
    )


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
