"""The parser that was proven, or none."""

import os
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest
from aiohttp import http_parser

from gateway.net.common.parser import UnfitParser, require_proven_parser

ROOT = Path(__file__).resolve().parents[5]


def test_what_is_installed_is_proven():
    require_proven_parser()


@pytest.mark.parametrize("version", ["3.13.9", "3.15.0", "3.15.0a1", "4.0.0"])
def test_another_minor_version_is_refused(monkeypatch: pytest.MonkeyPatch, version: str):
    monkeypatch.setattr(aiohttp, "__version__", version)

    with pytest.raises(UnfitParser, match=r"aiohttp 3\.14\.x is needed, this is"):
        require_proven_parser()


def test_a_parser_in_python_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_parser, "HttpRequestParser", http_parser.HttpRequestParserPy)

    with pytest.raises(UnfitParser, match="C parser is not loaded"):
        require_proven_parser()


@pytest.mark.process
def test_a_process_without_the_c_parser_is_found_out():
    """The switch of aiohttp itself, in a process of its own."""
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "from gateway.net.common.parser import require_proven_parser as check; check()",
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "AIOHTTP_NO_EXTENSIONS": "1"},
    )

    assert ran.returncode == 1
    assert "C parser is not loaded" in ran.stderr
