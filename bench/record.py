"""``make bench-record``: everything, once, and its figures written into the page."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

_HERE = Path(__file__).parent
_DOCS = _HERE.parent / "docs"


def main(arguments: Sequence[str]) -> int:
    """Measure; the page is written only when all of it was right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=_DOCS / "performance.md")
    parser.add_argument("--pictures", type=Path, default=_DOCS / "assets")
    parser.add_argument("--quick", action="store_true", help="short rounds, small stores: a trial")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="pixgate-record-") as results:
        for script, *options in _commands(given.pictures, quick=given.quick):
            status = _run(script, *options, "--results", results)
            if status:
                return status
        kept = sorted(map(str, Path(results).glob("*.json")))
        return _run("page.py", str(given.page), *kept)


def _commands(pictures: Path, *, quick: bool) -> Iterator[Sequence[str]]:
    """Say what is run, and how."""
    short = ["--rounds", "1", "--seconds", "0.3"] if quick else []
    yield ["run.py", *short]
    yield ["stages.py", *(["--seconds", "2"] if quick else [])]
    yield ["peers/run.py", *short]
    yield ["plots.py", *(short or ["--full"]), "--pictures", str(pictures)]


def _run(script: str, *options: str) -> int:
    print(f"\n{script} {' '.join(options)}", flush=True)
    return subprocess.run([sys.executable, str(_HERE / script), *options], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
