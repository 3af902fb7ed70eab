"""The package of a new adapter: its folder, and names that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from provider_adapters.testing.scaffold.package import PackageRefused, rendered, write

DEFAULT = rendered("acme")


def test_a_package_is_written_into_its_own_folder(tmp_path: Path):
    folder = write("acme", tmp_path)

    assert folder == tmp_path / "pixgate-acme"
    assert (folder / "pixgate_acme/adapter.py").read_text() == DEFAULT["pixgate_acme/adapter.py"]


def test_existing_files_are_not_overwritten(tmp_path: Path):
    write("acme", tmp_path)

    with pytest.raises(PackageRefused, match="is not empty"):
        write("acme", tmp_path)


@pytest.mark.parametrize(
    "name", ["", "a", "Acme", "my-bank", "my_bank", "2bank", "../bank", "b" * 25, "class", "bânk"]
)
def test_an_invalid_package_name_is_refused(tmp_path: Path, name: str):
    """It becomes a module name, a metric label and a part of host names."""
    with pytest.raises(PackageRefused, match="lower-case letters"):
        write(name, tmp_path)
    assert list(tmp_path.iterdir()) == []
