"""A map of a running HAProxy, replaced by its command socket."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.cells.haproxy import replace_map
from gateway.core.audit_context import RuleViolation

MAP = Path("/etc/haproxy/cells.map")


@asynccontextmanager
async def answering(
    folder: Path, answer: Callable[[str], str]
) -> AsyncIterator[tuple[Path, list[str]]]:
    """Serve a command socket; yield it and the commands that came."""
    heard: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        command = (await reader.readline()).decode()
        if command.endswith("<<\n"):
            while (line := (await reader.readline()).decode()) != "\n":
                command += line
        heard.append(command)
        writer.write(answer(command).encode())
        writer.close()

    socket = folder / "commands"
    server = await asyncio.start_unix_server(serve, str(socket))
    async with server:
        yield socket, heard


def fine(command: str) -> str:
    return "New version created: 3\n\n" if command.startswith("prepare") else "\n"


async def test_a_map_is_replaced_by_adding_every_entry_to_a_new_version(tmp_path: Path):
    entries = {f"{number:04}": "north" for number in range(1_000)}
    async with answering(tmp_path, fine) as (socket, heard):
        await replace_map(socket, MAP, entries)

    assert heard[0] == f"prepare map {MAP}\n"
    assert heard[-1] == f"commit map @3 {MAP}\n"
    added = [each.partition("<<\n") for each in heard[1:-1]]
    assert {each[0] for each in added} == {f"add map @3 {MAP} "}
    assert "".join(each[2] for each in added).split() == [
        word for key in entries for word in (key, "north")
    ]
    assert max(map(len, heard)) < 8_192


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        ("prepare", "has no map"),
        ("add", "'Unknown map version'"),
        ("commit", "'Unknown map version'"),
    ],
)
async def test_a_command_refused_by_haproxy_is_an_error(tmp_path: Path, refused: str, said: str):
    def answer(command: str) -> str:
        return "'Unknown map version'\n" if command.startswith(refused) else fine(command)

    async with answering(tmp_path, answer) as (socket, _):
        with pytest.raises(RuleViolation, match=said):
            await replace_map(socket, MAP, {"a": "north"})


async def test_an_absent_haproxy_is_an_error(tmp_path: Path):
    with pytest.raises(RuleViolation, match="HAProxy does not answer"):
        await replace_map(tmp_path / "absent", MAP, {})
