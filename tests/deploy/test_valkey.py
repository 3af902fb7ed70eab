"""Valkey as Compose and the chart start it: it demands a password, and TLS where configured."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import AuthenticationError
from redis.exceptions import ConnectionError as NoConnection

from gateway.app.cache import build_cache
from gateway.config.reading import settings_from
from gateway.config.settings import Cache, Settings
from gateway.config.values import Address
from gateway.process.redis_client import connect
from gateway.security.keys import Derivation
from tests.deploy.chart import TRUSTED, judge_chart
from tests.servers.demand import absent
from tests.servers.process import free_port, serving
from tests.world.banks.authority import Authority
from tests.world.containers import SECRETS, SERVICES

pytestmark = pytest.mark.process

PASSWORD = SECRETS["VALKEY_PASSWORD"]
NO_KEYS = Derivation({"none": bytes(32)}, "none")
CA = {"secret": {"secretName": "made", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
"""Who connects needs the authority alone, not the key of the server."""
MOUNT = {"name": "valkey", "mountPath": "/run/secrets/valkey", "readOnly": True}
Command = Callable[[str], list[str]]
Process = subprocess.Popen[bytes]


@contextmanager
def running(script: str, probe: str, folder: Path) -> Iterator[tuple[int, Process, Command]]:
    """
    Start a server by the script of a container, on a free port of the loopback.

    Redis stands in for Valkey, which has its options. Returns the port, the process, and the
    words of the probe by a password.
    """
    port = free_port()
    for name in ("server", "cli"):
        found = shutil.which(f"valkey-{name}") or shutil.which(f"redis-{name}")
        if found is None:
            absent("redis", f"no Redis: neither redis-{name} nor valkey-{name} in the path")
        (folder / f"valkey-{name}").symlink_to(found)
    place = "/run/secrets/valkey"
    tls = "--tls-port 6379" in script
    script = script.replace("--tls-port 6379", f"--tls-port {port}").replace(place, str(folder))
    server = f"valkey-server --bind 127.0.0.1 --dir {folder}" + ("" if tls else f" --port {port}")
    script = script.replace("valkey-server", server)
    probe = probe.replace(place, str(folder))
    probe = probe.replace("valkey-cli", f"valkey-cli -h localhost -p {port}")

    def within(words: str, password: str) -> list[str]:
        path = f"PATH={folder}:/usr/bin:/bin"
        return ["/usr/bin/env", "-i", path, f"REDISCLI_AUTH={password}", "sh", "-c", words]

    def answers() -> bool:
        return is_healthy(within(probe, PASSWORD))

    with serving(within(script, PASSWORD), log=folder / "log", ready=answers) as process:
        yield port, process, lambda password: within(probe, password)


async def refused(url: str) -> bool:
    """Return whether a client is refused; raises when nothing answers."""
    client = connect(url, 30)
    try:
        return not await client.ping()
    except AuthenticationError:
        return True
    finally:
        await client.aclose()


def pods(found: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]
        for each in found["documents"]
        if each["kind"] in {"Deployment", "Job"}
    }


def is_healthy(words: list[str]) -> bool:
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


async def test_valkey_of_compose_requires_the_password(tmp_path: Path):
    valkey = SERVICES["valkey"]
    script, probe = valkey["command"][2].replace("$$", "$"), valkey["healthcheck"]["test"][1]
    with running(script, probe, tmp_path) as (port, process, probing):
        said = {
            word: await refused(f"redis://:{word}@127.0.0.1:{port}/0") for word in (PASSWORD, "no")
        }
        nobody = await refused(f"redis://127.0.0.1:{port}/0")
        probed = [is_healthy(probing(word)) for word in (PASSWORD, "no", "")]
        shown = Path(f"/proc/{process.pid}/cmdline").read_text()

    assert (said, nobody) == ({PASSWORD: False, "no": True}, True)
    assert probed == [True, False, False]
    assert ("valkey-server" in shown, PASSWORD in shown) == (True, False)


def with_tls() -> Mapping[str, Any]:
    (found,) = judge_chart([{"config": TRUSTED, "valkey": {"tlsSecret": "made"}}])
    return found


def test_pods_mount_the_valkey_authority_and_not_its_key():
    found = with_tls()
    (text,) = {
        each["data"]["config.yaml"] for each in found["documents"] if each["kind"] == "ConfigMap"
    }
    cache = settings_from(text, SECRETS).cache
    ours = [pod for name, pod in pods(found).items() if name != "pixgate-valkey"]

    assert cache.url == f"rediss://:{PASSWORD}@pixgate-valkey:6379/0"
    assert cache.ca == "/run/secrets/valkey/ca.crt"
    assert len(ours) == 4  # gateway, worker, upgrade, and the exporter of Valkey
    assert all({"name": "valkey", **CA} in each["volumes"] for each in ours)
    assert all(MOUNT in each["containers"][0]["volumeMounts"] for each in ours)


async def test_the_chart_s_valkey_accepts_tls_alone(tmp_path: Path):
    """Its certificate is of an authority that only `cache.ca` names."""
    (container,) = pods(with_tls())["pixgate-valkey"]["containers"]
    (tmp_path / "tls.crt").symlink_to((authority := Authority(tmp_path)).sign("tls"))
    (tmp_path / "tls.key").symlink_to(tmp_path / "tls.pem")
    (tmp_path / "ca.crt").symlink_to(authority.file)
    probe = container["readinessProbe"]["exec"]["command"][2]

    with running(container["args"][0], probe, tmp_path) as (port, _, probing):
        url = f"//:{PASSWORD}@127.0.0.1:{port}/0"
        address = Address(f"rediss:{url}")
        configured = Cache(url=address, ca=str(authority.file), timeout_s=10)
        shared = build_cache(Settings(cache=configured), NO_KEYS, lambda _event, _label: None)
        await shared.check()
        await shared.close()
        with pytest.raises(NoConnection):
            await refused(f"redis:{url}")
        with pytest.raises(NoConnection):
            await refused(f"rediss:{url}")
        probed = [is_healthy(probing(word)) for word in (PASSWORD, "no")]

    assert probed == [True, False]
