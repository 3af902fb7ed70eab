"""The image: its steps are run, what they make is measured and started as Compose starts it."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gateway.config.assets import assets
from tests.proofs.operating.image import Container, Stage, build, stop
from tests.servers.process import free_port
from tests.servers.redis import RedisServer
from tests.world.authors import wheel_in
from tests.world.containers import OURS, SECRETS
from tests.world.extent import WHOLE
from tests.world.tree import ROOT
from tests.world.waiting import block_until

MOST_MB = 140
UID = 10001
COMPOSE = (ROOT / "deploy" / "compose-config.yaml").read_text()

pytestmark = pytest.mark.skipif(
    not WHOLE or os.geteuid() != 0, reason="`make proofs` alone, by root: it mounts overlays"
)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """What the Dockerfile makes of the folder that `make image` makes."""
    context = tmp_path_factory.mktemp("context")
    wheel_in(context)
    for name, source in assets().items():
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, context / name)
    # An overlay of the root cannot lie on the root's own disk.
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="image-") as folder:
        yield build(context, Path(folder))


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="container-") as name:
        yield Path(name)


@pytest.fixture
def environ(migrated_postgres_url: str, redis_server: RedisServer) -> Mapping[str, str]:
    """The variables of pixgate.env; the servers of the tests are no hosts of Compose's network."""
    database = migrated_postgres_url.replace("postgresql+asyncpg://", "postgresql://")
    return {
        **SECRETS,
        "PIXGATE_DATABASE_URL": database,
        "PIXGATE_CACHE_URL": redis_server.url,
        "PIXGATE_OPS_PORT": str(free_port()),
        "PIXGATE_PORT": str(free_port()),
    }


def test_the_layers_above_the_base_are_small(image: Stage):
    measured = sum(each.lstat().st_blocks for each in image.layers.rglob("*")) * 512 >> 20

    assert 0 < measured <= MOST_MB


def test_the_image_s_user_owns_its_data_folder_alone(image: Stage):
    found = {
        str(path.relative_to(image.layers))
        for path in image.layers.rglob("*")
        if not path.is_symlink()
        and (path.stat().st_uid == UID or path.stat().st_mode & (stat.S_IWOTH | stat.S_ISUID))
    }

    assert image.user == f"{UID}:{UID}"
    assert found == {"var/lib/pixgate"}


def test_starting_the_image_compiles_no_modules(image: Stage, folder: Path):
    """Its root is read-only: every start would compile again what the build did not."""
    words = ["python", "-v", "-c", "import gateway.app.assembly, gateway.app.commands.main"]
    with image.container(folder, words, {}) as process:
        said, _ = process.communicate()

    compiled = re.findall(r"^# code object from (/.+)$", said, re.MULTILINE)
    assert process.returncode == 0, said
    assert "import 'gateway.app.assembly'" in said
    assert compiled == []


def start(image: Stage, name: str, folder: Path, environ: Mapping[str, str]) -> Container:
    """Start what a service of Compose runs, with its configuration."""
    text = COMPOSE.replace("redis://valkey:6379/0", "${PIXGATE_CACHE_URL}")
    for port in ("  port: 8080\n", "  port: 9090\n"):
        text = text.replace(port, "")  # the variables count where they are left out
    words = [*image.entrypoint, *OURS[name]["command"]]
    return image.container(folder, words, environ, config=text)


def test_the_schema_is_upgraded_on_a_read_only_root(
    image: Stage, folder: Path, environ: Mapping[str, str]
):
    with start(image, "upgrade", folder, environ) as process:
        said, _ = process.communicate()

    assert process.returncode == 0, said


@pytest.mark.parametrize("name", ["gateway", "worker"])
def test_a_process_on_a_read_only_root_becomes_healthy_and_writes_nothing(
    image: Stage, name: str, folder: Path, environ: Mapping[str, str]
):
    """By the health check of the image."""

    def is_healthy() -> bool:
        with image.container(folder / "health", image.health, environ) as asked:
            asked.communicate()
        return asked.returncode == 0

    with start(image, name, folder / "it", environ) as process:
        block_until(lambda: process.poll() is not None or is_healthy())
        lives = process.poll() is None
        if lives:
            stop(process)
        said, _ = process.communicate()

    layer = folder / "it" / "upper"
    assert lives, said
    assert [path.relative_to(layer).as_posix() for path in layer.rglob("*") if path.is_file()] == [
        "etc/pixgate/config.yaml"
    ]


def test_the_image_serves_by_default(image: Stage):
    assert [*image.entrypoint, *image.command] == ["pixgate", "serve"]


def test_the_packages_in_the_image_match_the_lock():
    subprocess.run(["make", "-s", "sbom"], cwd=ROOT, check=True)  # noqa: S607 - the reader's
    listed = json.loads((ROOT / "dist" / "sbom.json").read_text())
    lock = (ROOT / "requirements" / "production.txt").read_text()

    pinned = dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", lock, re.MULTILINE))

    assert listed["bomFormat"] == "CycloneDX"
    assert {each["name"]: each["version"] for each in listed["components"]} == pinned
