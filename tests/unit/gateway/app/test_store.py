"""A store from a URL."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.app.store import open_store
from gateway.core.storage import StoreUnavailable

LEFT_OPEN = """
import asyncio, sys
from gateway.app.store import open_store
asyncio.run(open_store(sys.argv[1]).check())
"""


async def test_a_database_url_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="URL begins with"):
        open_store("redis://localhost")


async def test_a_password_is_not_shown() -> None:
    shown = repr(open_store("postgresql://pix:hush@localhost/pix"))

    assert "hush" not in shown


async def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreUnavailable):
        open_store(f"sqlite:///{tmp_path}/file/store.db")


async def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"no database" * 1000)
    opened = open_store(f"sqlite:///{tmp_path}/store.db")

    with pytest.raises(StoreUnavailable):
        await opened.check()

    await opened.close()


@pytest.mark.filterwarnings("default")
@pytest.mark.process
def test_an_unclosed_store_does_not_keep_the_process_alive(url: str) -> None:
    """SQLite's driver has a thread for each connection."""
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN, url], check=False, cwd=Path.cwd())

    assert done.returncode == 0
