"""Files of others: the ones that were listed, and no others."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path

import pytest

from gateway.panel.vendor import (
    FOLDER,
    VendorFile,
    WrongFile,
    absent_files,
    collect,
    main,
    read_vendored,
    vendor_files,
)
from tests.servers.demand import absent

ROOT = Path(__file__).resolve().parents[4]
LOCK = json.loads((ROOT / "package-lock.json").read_text())["packages"]
FILE = VendorFile(
    name="a.js", package="a", path="dist/a.js", sha256=hashlib.sha256(b"1").hexdigest()
)
OTHER = VendorFile(
    name="a.LICENSE.txt", package="a", path="LICENSE", sha256=hashlib.sha256(b"2").hexdigest()
)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A ``node_modules`` folder with one package."""
    folder = tmp_path / "node_modules"
    (folder / "a/dist").mkdir(parents=True)
    (folder / "a/dist/a.js").write_bytes(b"1")
    (folder / "a/LICENSE").write_bytes(b"2")
    return folder


def test_listed_files_are_copied(packages: Path, tmp_path: Path):
    collect(packages, tmp_path / "to", [FILE, OTHER])

    assert {each.name: each.read_bytes() for each in (tmp_path / "to").iterdir()} == {
        "a.js": b"1",
        "a.LICENSE.txt": b"2",
    }


def test_a_file_that_is_no_longer_listed_is_removed(packages: Path, tmp_path: Path):
    collect(packages, tmp_path / "to", [FILE, OTHER])

    collect(packages, tmp_path / "to", [FILE])

    assert [each.name for each in (tmp_path / "to").iterdir()] == ["a.js"]


def test_nothing_is_copied_when_one_file_has_other_content(packages: Path, tmp_path: Path):
    """A package may match the lock and still have other contents than we reviewed."""
    (packages / "a/LICENSE").write_bytes(b"3")

    with pytest.raises(WrongFile, match="LICENSE"):
        collect(packages, tmp_path / "to", [FILE, OTHER])

    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("content", [b"1", b"3", None])
def test_a_vendored_file_is_read_only_with_its_listed_content(
    content: bytes | None, tmp_path: Path
):
    if content is not None:
        (tmp_path / "a.js").write_bytes(content)

    assert read_vendored(tmp_path, FILE) == (b"1" if content == b"1" else None)


def test_an_absent_package_is_reported_with_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([str(tmp_path)]) == 1

    assert "No such file" in capsys.readouterr().err


def test_vendored_files_match_the_list():
    for file in vendor_files():
        if not FOLDER.is_dir():
            absent("browser", "no scripts and fonts for the panel: run `make panel-files`")

        assert read_vendored(FOLDER, file) is not None


def test_each_vendored_package_is_pinned_and_has_its_licence():
    packages = {file.package for file in vendor_files()}

    assert packages <= {path.removeprefix("node_modules/") for path in LOCK}
    assert packages == {file.package for file in vendor_files() if file.is_licence}


def test_vendored_file_names_are_flat_and_unique():
    names = [file.name for file in vendor_files()]

    assert len(set(names)) == len(names)
    assert not [name for name in names if "/" in name or name.startswith(".")]


def test_every_vendored_file_is_used_by_a_page():
    """Except licences and notices: unused files are weight to maintain."""
    for file in [each for each in vendor_files() if not each.name.endswith(".txt")]:
        panel = ROOT / "gateway/panel"
        pages = [*panel.rglob("templates/**/*.html"), *panel.glob("static/*.css")]
        pages += [ROOT / "gateway/reference/open_page.py", ROOT / "gateway/reports/paper.py"]

        assert any(file.name in page.read_text() for page in pages)


def test_absent_or_changed_files_are_named_when_a_wheel_is_built(tmp_path: Path):
    """The build asks for these names, and continues only without any."""
    (tmp_path / "htmx.min.js").write_bytes(b"another content")
    hooks = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]

    assert absent_files(tmp_path) == [file.name for file in vendor_files()]
    assert "custom" in hooks["targets"]["wheel"]["hooks"]
