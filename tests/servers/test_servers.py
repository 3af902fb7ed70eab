"""The servers that other tests use."""

import socket
import subprocess
import sys

import pytest

from tests.servers.demand import absent
from tests.servers.process import free_port


def test_a_port_is_given_to_one_test_process_alone():
    """Seconds may pass between choosing a port and listening on it."""
    ours = free_port()
    asked = f"from tests.servers import process; print(process._claimed({ours}))"

    other = subprocess.run([sys.executable, "-c", asked], capture_output=True, check=True)

    assert other.stdout.strip() == b"False"
    assert free_port() != ours


def test_a_missing_required_server_fails_the_test(monkeypatch):
    """A pipeline cannot turn green because a server did not start."""
    monkeypatch.setenv("TEST_REQUIRE", "redis, postgres")

    with pytest.raises(pytest.fail.Exception, match="not installed"):
        absent("postgres", "not installed")


def test_a_test_cannot_connect_to_another_machine():
    """192.0.2.1 is reserved for documentation (RFC 5737), so nothing answers there anyway."""
    with socket.socket() as outside, pytest.raises(PermissionError, match=r"192\.0\.2\.1"):
        outside.connect(("192.0.2.1", 9))
