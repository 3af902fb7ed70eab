"""Several processes on one port."""

from __future__ import annotations

import msgspec
import pytest

from gateway.config.effective import config_digest
from gateway.config.listeners import Admin
from gateway.config.settings import Server, Settings
from gateway.runtime.process import as_child


@pytest.mark.parametrize(("number", "port"), [(0, 9090), (1, 9091), (63, 9153)])
def test_each_has_its_own_operations_port(number: int, port: int):
    """And shares the public one."""
    process = as_child(Settings(), number)

    assert process.admin.port == port
    assert process.server.reuse_port is True
    assert process.server.port == Settings().server.port


def test_a_port_the_system_chooses_stays_so():
    settings = msgspec.structs.replace(Settings(), admin=Admin(port=0))

    assert as_child(settings, 3).admin.port == 0


def test_server_processes_of_one_configuration_agree_and_others_do_not():
    """What each has for itself is no drift; the digest of a single process is the same, too."""
    settings = Settings()
    changed = msgspec.structs.replace(settings, server=Server(port=1))

    digests = {config_digest(as_child(settings, number)) for number in range(4)}

    assert digests == {config_digest(settings)}
    assert config_digest(as_child(changed, 0)) not in digests
