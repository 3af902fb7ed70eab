"""The peers: how each is started, and what it does."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.peers import installing
from bench.peers.given import Given

NGINX = "nginx, proxy"
CADDY = "Caddy, proxy"
ENVOY = "Envoy, proxy"
LUA = "nginx + Lua"
FASTIFY = "fastify + undici"
LITESTAR = "Litestar on Granian + aiohttp client"
FASTAPI = "FastAPI + aiohttp client"
HTTPX = "FastAPI + httpx"

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_PLACE = re.compile(r"@([a-z_]+)@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a peer is started."""

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """
    One peer.

    Attributes:
        works: Does all that the gateway does for a balance; else it passes on.
        launch: Called with what it is told and an empty folder of its own;
            raises ``Absent`` where it cannot be had.
    """

    name: str
    works: bool
    launch: Callable[[Given, Path], Launch]


def _nginx(told: Given, folder: Path) -> Launch:
    config = _written("nginx.conf", folder, _words(told))
    return _nginx_with(config, folder)


def _lua(told: Given, folder: Path) -> Launch:
    root = installing.lua()
    words = {**_words(told), "root": str(root).rstrip("/"), "here": str(_HERE)}
    folders = (root / each / "x86_64-linux-gnu" for each in ("usr/lib", "lib"))
    libraries = {"LD_LIBRARY_PATH": ":".join(map(str, folders))}
    return _nginx_with(_written("lua.conf", folder, words), folder, libraries)


def _nginx_with(config: Path, folder: Path, environment: Mapping[str, str] | None = None) -> Launch:
    return Launch(
        command=[str(installing.program("nginx")), "-p", str(folder), "-c", str(config)],
        environment=environment or {},
    )


def _caddy(told: Given, folder: Path) -> Launch:
    config = _written("Caddyfile", folder, _words(told))
    options = ["run", "--config", str(config), "--adapter", "caddyfile"]
    homes = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    return Launch(command=[str(installing.program("caddy")), *options], environment=homes)


def _envoy(told: Given, folder: Path) -> Launch:
    installing.python()
    if not installing.ENVOY.exists():
        problem = "the wheel has no program"
        raise installing.Absent(problem)
    config = _written("envoy.yaml", folder, _words(told))
    options = ["--concurrency", "1", "--disable-hot-restart", "--log-level", "error"]
    return Launch(command=[str(installing.ENVOY), "-c", str(config), *options])


def _fastify(_told: Given, _folder: Path) -> Launch:
    node = installing.node()
    return Launch(command=[str(node), str(installing.NODE / "fastify_peer.js")])


def _python(*command: str) -> Callable[[Given, Path], Launch]:
    def launch(_told: Given, _folder: Path) -> Launch:
        script, *options = command
        return Launch(
            command=[str(installing.python()), str(_HERE / script), *options],
            environment={"PYTHONPATH": str(_ROOT)},
        )

    return launch


PEERS = (
    Peer(name=NGINX, works=False, launch=_nginx),
    Peer(name=ENVOY, works=False, launch=_envoy),
    Peer(name=CADDY, works=False, launch=_caddy),
    Peer(name=LUA, works=True, launch=_lua),
    Peer(name=FASTIFY, works=True, launch=_fastify),
    Peer(name=LITESTAR, works=True, launch=_python("litestar_peer.py")),
    Peer(name=FASTAPI, works=True, launch=_python("fastapi_peer.py", "aiohttp")),
    Peer(name=HTTPX, works=True, launch=_python("fastapi_peer.py", "httpx")),
)


def _words(told: Given) -> Mapping[str, str]:
    """Name what a template may ask for."""
    user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
    return {**{name: str(word) for name, word in asdict(told).items()}, "user": user}


def _written(template: str, folder: Path, words: Mapping[str, str]) -> Path:
    """Fill a template in."""
    text = _PLACE.sub(lambda place: words[place[1]], (_HERE / template).read_text())
    file = folder / template
    file.write_text(text)
    return file
