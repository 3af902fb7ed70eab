"""``python -m gateway``."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import Distribution, MetadataPathFinder
from pathlib import Path

import pytest

from gateway.__main__ import foreign_package, main
from tests.world.tree import ROOT

EMPTY = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0"


def test_starting_without_an_installed_package_is_an_error(monkeypatch: pytest.MonkeyPatch):
    """The first step would fail on its version or on an entry point, with a trace."""
    monkeypatch.setattr(MetadataPathFinder, "find_distributions", lambda *_: iter(()))

    with pytest.raises(SystemExit, match="Error: pixgate is not installed for this Python"):
        main()


@pytest.mark.process
def test_a_folder_of_anothers_packages_is_refused_in_a_sentence(tmp_path: Path):
    """``python -m`` puts the folder where it is called before everything installed."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/__init__.py").write_text("raise SystemExit('foreign code ran')\n")
    code = (
        f"import sys; sys.path.append({str(ROOT)!r}); import gateway.__main__ as main; main.main()"
    )

    said = subprocess.run(
        [sys.executable, "-c", code, "version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert said.stdout == ""
    assert said.stderr == (
        "Error: the Python package 'policies' here is not pixgate's; "
        "install pixgate in an environment of its own\n"
    )
    assert said.returncode == 1


@pytest.mark.parametrize(("written", "named"), [("policies", "policies"), (None, None)])
def test_a_package_that_another_installation_wrote_over_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str | None, named: str | None
):
    lines = []
    for name in ("gateway", "policies", "provider_adapters"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("foreign = 1\n" if name == written else "")
        lines.append(f"{name}/__init__.py,{EMPTY}")
    (tmp_path / "pixgate-0.2.0.dist-info").mkdir()
    (tmp_path / "pixgate-0.2.0.dist-info/RECORD").write_text("\n".join(lines))
    monkeypatch.setattr("gateway.__main__._PLACE", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("gateway", "policies", "provider_adapters"):
        monkeypatch.delitem(sys.modules, name)

    installed = Distribution.at(tmp_path / "pixgate-0.2.0.dist-info")

    assert foreign_package(installed) == named
