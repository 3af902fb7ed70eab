"""
A Dockerfile without Docker: its steps run on overlays of this machine's root.

A base image is the machine itself, so its Python is Debian's, but for the compiled files of the
standard library, which the images of Python leave out. What a stage adds lies in a folder of
its own, as layers do. A container has mounts and processes of its own, and the machine's network.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Container = subprocess.Popen[str]
_PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENTER = """
set -e
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --rbind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
mount -t tmpfs tmpfs "$1/root/tmp"
if [ "$READ_ONLY" ]; then mount -o remount,ro "$1/root"; fi
root=$1/root
shift
exec chroot "$root" "$@"
"""


@dataclass(slots=True)
class Stage:
    """
    What the instructions of a stage have made.

    Attributes:
        folder: ``upper`` holds what was added to the machine's own files.
        health: The command of HEALTHCHECK.
    """

    folder: Path
    environ: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    user: str = "0:0"
    workdir: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    @property
    def layers(self) -> Path:
        return self.folder / "upper"

    def container(
        self, folder: Path, words: Sequence[str], environ: Mapping[str, str], **files: str
    ) -> Container:
        """
        Start a command as the image's user, without a capability, on a read-only root.

        ``files`` are below /etc/pixgate, by the first part of their names.
        """
        for name, text in files.items():
            file = folder / "upper" / "etc" / "pixgate" / f"{name}.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        uid, gid = self.user.split(":")
        bare = ("--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all")
        values = [f"{name}={text}" for name, text in {**self.environ, **environ}.items()]
        within = ("sh", "-c", 'cd "$0" && exec "$@"', self.workdir)
        user = ("setpriv", f"--reuid={uid}", f"--regid={gid}", *bare)
        command = (*user, "env", "-i", *values, *within, *words)
        return _start(folder, command, lower=f"{self.layers}:/", read_only=True)


def stop(process: Container) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def build(context: Path, folder: Path) -> Stage:
    """Do every step of the Dockerfile of a folder; return the last stage."""
    stages: dict[str, Stage] = {}
    stage = Stage(folder)
    for word, rest in instructions((context / "Dockerfile").read_text()):
        match word:
            case "FROM":
                name = rest.partition(" AS ")[2] or "last"
                stage = stages[name] = Stage(folder / name)
                _begin(stage)
            case "RUN":
                _run(stage, rest)
            case "COPY":
                _copy(stage, rest.split(), context, stages)
            case _:
                _note(stage, word, rest)
    return stage


def _note(stage: Stage, word: str, rest: str) -> None:
    """Take an instruction that says how a container is started."""
    match word:
        case "ENV":
            stage.environ |= dict(each.split("=", 1) for each in shlex.split(rest))
        case "USER":
            stage.user = rest
        case "WORKDIR":
            stage.workdir = rest
            (stage.layers / rest[1:]).mkdir(parents=True, exist_ok=True)
        case "ENTRYPOINT":
            stage.entrypoint = json.loads(rest)
        case "CMD":
            stage.command = json.loads(rest)
        case "HEALTHCHECK":
            stage.health = json.loads(rest.partition("CMD ")[2])
        case _:
            assert word in {"ARG", "EXPOSE", "LABEL"}, word


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield each instruction and what follows it; lines that go on are one."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for line in re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines():
        word, _, rest = line.partition(" ")
        yield word, rest


def _begin(stage: Stage) -> None:
    """Give the base what an image of Python has, the command ``python``, and hide what it lacks."""
    program = stage.layers / "usr" / "local" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.symlink_to("/usr/bin/python3")
    for compiled in Path("/usr/lib").glob("python3.*/**/__pycache__"):
        hidden = stage.layers / compiled.relative_to("/")
        hidden.parent.mkdir(parents=True, exist_ok=True)
        os.mknod(hidden, stat.S_IFCHR)  # an overlay's way of saying that it is not there


def _run(stage: Stage, line: str) -> None:
    """Run a line of shell as root; pip finds packages as it does on this machine."""
    ours = {name: text for name, text in os.environ.items() if name.startswith("PIP_")}
    values = [f"{name}={text}" for name, text in {**ours, **stage.environ}.items()]
    command = ("env", "-i", "HOME=/root", *values, "sh", "-c", f"cd {stage.workdir} && {line}")
    done = _start(stage.folder, command, lower="/")
    said, _ = done.communicate()
    assert done.returncode == 0, f"{line}\n{said}"


def _copy(stage: Stage, words: Sequence[str], context: Path, stages: Mapping[str, Stage]) -> None:
    """Copy from the context, or from what another stage added."""
    *options, target = words
    origin = context
    if options[0].startswith("--from="):
        origin = stages[options.pop(0).removeprefix("--from=")].layers
    into = stage.layers / str(Path(stage.workdir) / target)[1:]
    for pattern in options:
        found = [*origin.glob(pattern.lstrip("/"))]
        assert found, pattern
        for source in found:
            if source.is_dir():
                shutil.copytree(source, into, symlinks=True)
            else:
                shutil.copy2(source, into / source.name)


def _start(
    folder: Path, command: Sequence[str], *, lower: str, read_only: bool = False
) -> Container:
    """Start a command on the layers below a folder's ``upper``, in its own process group."""
    for name in ("upper", "work", "root"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    apart = ("unshare", "--mount", "--pid", "--fork")
    return subprocess.Popen(
        [*apart, "bash", "-c", _ENTER, "enter", str(folder), *command],
        env={"PATH": _PATH, "LOWER": lower, "READ_ONLY": "yes" if read_only else ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
