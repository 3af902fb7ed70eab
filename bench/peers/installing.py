"""Peers are fetched when they are asked for, into ``var/peers`` and nowhere else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).parent
HOME = _HERE.parents[1] / "var" / "peers"
PYTHON = HOME / "python" / "bin" / "python"
ENVOY = HOME / "python" / "bin" / "envoy"
NODE = HOME / "node"
LUA = HOME / "lua"

_LUA_MODULE = "usr/lib/nginx/modules/ngx_http_lua_module.so"
_LUA_PACKAGES = (
    "libnginx-mod-http-lua",
    "libnginx-mod-http-ndk",
    "libluajit2-5.1-2",
    "lua-resty-core",
    "lua-resty-lrucache",
    "lua-cjson",
    "libpcre3",
)
_PATIENCE_S = 600.0


class Absent(Exception):
    """A peer cannot be had on this machine; the text says what is missing."""


def program(name: str) -> Path:
    """Find an installed program, also where only servers are kept; raises Absent."""
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    found = found or shutil.which(name)
    if found is None:
        problem = f"{name} is not installed"
        raise Absent(problem)
    return Path(found)


def python() -> Path:
    """Make the environment of the peers in Python; raises Absent."""
    requirements = _HERE / "requirements.txt"
    wanted = requirements.read_text()
    if not _is_made(PYTHON.parent, wanted):
        _run([sys.executable, "-m", "venv", "--clear", str(PYTHON.parents[1])])
        install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r"]
        _run([str(PYTHON), *install, str(requirements)])
        _stamp(PYTHON.parent, wanted)
    return PYTHON


def node() -> Path:
    """Fetch the packages of the peer in JavaScript; return the interpreter; raises Absent."""
    found, npm, packages = program("node"), program("npm"), _HERE / "package.json"
    wanted = packages.read_text()
    if not _is_made(NODE, wanted):
        NODE.mkdir(parents=True, exist_ok=True)
        shutil.copy(packages, NODE)
        quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
        _run([str(npm), "install", *quiet], NODE)
        _stamp(NODE, wanted)
    shutil.copy(_HERE / "fastify_peer.js", NODE)  # packages are looked for beside the script
    return found


def lua() -> Path:
    """Return the root below which nginx's Lua is, Debian's or our own; raises Absent."""
    program("nginx")
    if (Path("/") / _LUA_MODULE).exists():
        return Path("/")
    wanted = " ".join(_LUA_PACKAGES)
    if not _is_made(LUA, wanted):
        LUA.mkdir(parents=True, exist_ok=True)
        _run([str(program("apt-get")), "download", "-qq", *_LUA_PACKAGES], LUA)
        for package in LUA.glob("*.deb"):
            _run([str(program("dpkg-deb")), "-x", str(package), str(LUA)])
        _stamp(LUA, wanted)
    return LUA


def _run(command: Sequence[str], folder: Path = _HERE) -> None:
    """Run something that fetches; raises Absent with its last words."""
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_PATIENCE_S, cwd=folder
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise Absent(str(failure)) from failure
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
        problem = f"{Path(command[0]).name}: {last or done.returncode}"
        raise Absent(problem)


def _is_made(folder: Path, wanted: str) -> bool:
    """Say whether a folder was made of what is wanted now."""
    stamp = folder / ".made"
    return stamp.is_file() and stamp.read_text() == wanted


def _stamp(folder: Path, wanted: str) -> None:
    (folder / ".made").write_text(wanted)
