"""Commands on pages for operators exist, with the options shown there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click

from gateway.app.commands.main import pixgate
from tests.deploy.rule_cases import ROOT
from tests.world.tree import documents

SHELL = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
OURS = re.compile(
    r"(?:^|exec (?:gateway|\S+ --) |\w+=\S+ |&& )((?:/\S+/)?pixgate .*?)(?: &&.*| > .*)?$"
)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Give each line that calls us, and its words behind the program's name."""
    for page in documents():
        for block in SHELL.findall((ROOT / page).read_text()):
            for line in block.replace("\\\n", " ").splitlines():
                for found in OURS.findall(line):
                    yield f"{page}: {line}", shlex.split(found)[1:]


def is_known(words: list[str]) -> bool:
    command: click.Command = pixgate
    context = click.Context(pixgate)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            return False
        command, words = found, words[1:]
        context = click.Context(command, parent=context)
    try:
        command.make_parser(context).parse_args(args=[*words])
    except click.UsageError:
        return False
    return True


def test_every_command_on_a_page_exists():
    found = list(commands())

    assert len(found) > 30
    assert [line for line, words in found if not is_known(words)] == []
