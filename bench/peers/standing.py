"""Peers as subjects: each running, each with the one right answer to the same request."""

from __future__ import annotations

import hmac
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from bench import load as loads
from bench import rounds, stub, subjects, system
from bench.load import Load, Order
from bench.partner import Partner
from bench.peers.catalogue import HTTPX, NGINX, Peer
from bench.peers.given import Given
from bench.peers.installing import Absent
from bench.peers.targets import FAST, FEW, at_rate, with_few
from bench.proxy import CANNED
from bench.rounds import Subject
from bench.subjects import Stage
from bench.system import NotStarted

_KEY = "bench-key"
_UNAUTHORIZED = "HTTP/1.1 401 "


def everybody(stage: Stage, chosen: Sequence[Peer], load: Load) -> Iterator[Subject]:
    """
    Start the gateway and the peers; one that cannot be had, or started, is told and left out.

    Raises:
        NotStarted: the gateway did not come up.
        WrongAnswer: a peer that does the work lets a wrong secret in.
    """
    balance, partner = subjects.gateway(stage, load), stage.prepared.partner
    yield balance
    yield with_few_connections(balance)
    yield steadily(balance)
    for peer in chosen:
        try:
            subject = _peer(stage, peer, partner, load)
        except (Absent, NotStarted) as problem:
            print(f"{peer.name} is left out: {problem}", file=sys.stderr)
            continue
        yield subject
        if peer.name == HTTPX:
            yield with_few_connections(subject)
        if peer.name == NGINX:
            yield steadily(subject)


def with_few_connections(subject: Subject) -> Subject:
    """Ask the same on few connections."""
    return replace(subject, name=with_few(subject.name), load=Load(connections=FEW))


def steadily(subject: Subject) -> Subject:
    """Ask the same at a fixed rate."""
    load = replace(subject.load, per_s=FAST)
    return replace(subject, name=at_rate(subject.name), load=load)


def _peer(stage: Stage, peer: Peer, partner: Partner, load: Load) -> Subject:
    """Start one; its answer is compared by its body, for headers differ by taste."""
    [port] = system.free_ports(1)
    told = _told(stage, port, partner)
    folder = stage.folder / peer.name.replace(" ", "-").replace(",", "")
    folder.mkdir()
    launch = peer.launch(told, folder)
    environment = {**launch.environment, "BENCH_PEER": json.dumps(asdict(told))}
    pairs = [f"{name}={value}" for name, value in environment.items()]
    pid = stage.started.enter_context(
        system.running(
            ["/usr/bin/env", *pairs, *launch.command],
            stage.cores.measured,
            stage.folder,
            lambda: system.answers(port) > 0,
        )
    )
    if peer.works:
        _refuse_wrong_secret(peer, Order(port=port, request=partner.refused_request()))
    return Subject(
        name=peer.name,
        pid=pid,
        order=Order(port=port, request=partner.request(partner.account)),
        right=(CANNED if peer.works else stub.BALANCE).decode(),
        load=load,
    )


def _refuse_wrong_secret(peer: Peer, order: Order) -> None:
    """Ask with a wrong secret; raises WrongAnswer unless it is refused."""
    answer = loads.ask(order)
    if not answer.startswith(_UNAUTHORIZED):
        problem = f"{peer.name} let a wrong secret in:\n{answer}"
        raise rounds.WrongAnswer(problem)


def _told(stage: Stage, port: int, partner: Partner) -> Given:
    """Tell a peer what it must know of the partner."""
    digest = hmac.digest(_KEY.encode(), partner.client_secret.encode(), "sha256")
    return Given(
        port=port,
        bank=stage.bank.port,
        key=_KEY,
        client_id=partner.client_id,
        digest=digest.hex(),
        account=partner.account,
        bank_path=stub.path(stub.ACCOUNT),
        token=stub.TOKEN,
    )
