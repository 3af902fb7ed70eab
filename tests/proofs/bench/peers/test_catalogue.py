"""How peers are started: every template is filled in, and what is missing is said."""

import re
from pathlib import Path

import pytest

from bench.peers import catalogue, installing
from bench.peers.catalogue import PEERS, Peer
from bench.peers.installing import Absent
from tests.proofs.bench.peers.work import TOLD

HERE = Path(catalogue.__file__).parent


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Everything is there, and nothing is fetched."""
    envoy = tmp_path / "envoy"
    envoy.touch()
    monkeypatch.setattr(installing, "program", lambda name: Path("/usr/bin") / name)
    monkeypatch.setattr(installing, "python", lambda: tmp_path / "python")
    monkeypatch.setattr(installing, "node", lambda: tmp_path / "node")
    monkeypatch.setattr(installing, "lua", lambda: Path("/"))
    monkeypatch.setattr(installing, "ENVOY", envoy)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_is_told_all_that_it_asks_for(peer: Peer, installed, tmp_path):
    folder = tmp_path / "peer"
    folder.mkdir()

    launch = peer.launch(TOLD, folder)

    assert launch.command
    for file in folder.iterdir():
        assert not re.search(r"@[a-z_]+@", file.read_text())
        assert str(TOLD.bank) in file.read_text()


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(Absent, match="no-such-server is not installed"):
        installing.program("no-such-server")


def test_what_cannot_be_fetched_says_why(tmp_path):
    with pytest.raises(Absent, match=r"ls: .*nowhere"):
        installing._run(["ls", "/nowhere"], tmp_path)


def test_what_was_fetched_is_fetched_anew_when_something_else_is_wanted(tmp_path):
    installing._stamp(tmp_path, "one")

    assert installing._is_made(tmp_path, "one")
    assert not installing._is_made(tmp_path, "other")


@pytest.mark.parametrize("name", ["requirements.txt", "package.json"])
def test_versions_are_pinned_and_no_place_is_named(name: str):
    """Where packages come from is the machine's business."""
    text = (HERE / name).read_text()

    assert "://" not in text
    assert not re.search(r"[\^~*]|>=", text)
