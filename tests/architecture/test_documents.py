"""Documents agree with the code they describe."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.tree import PROJECT, ROOT, documents

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
PAGES = re.search(r"^PAGES := (.*)$", MAKEFILE, re.MULTILINE)[1].split()
ADRS = sorted((ROOT / "docs/adr").rglob("[0-9]*.md"), key=lambda path: path.name)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
ANCHOR = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)")
STATUS = re.compile(r"^Status: (accepted|superseded by \d{4}), \d{4}-\d\d-\d\d$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def test_a_generated_page_matches_the_code():
    """After a change of the catalogue: ``make docs``."""
    for page in PAGES:
        if not (ROOT / "gateway/__main__.py").is_file():
            pytest.skip("the command that writes the page does not exist yet")
        written = subprocess.run(
            [sys.executable, "-m", "gateway", page, "--markdown"],
            check=False,
            capture_output=True,
            text=True,
            cwd=ROOT,
        )

        assert (written.returncode, written.stderr) == (0, "")
        assert (ROOT / "docs" / f"{page}.md").read_text() == written.stdout


def test_every_link_has_a_target():
    broken = [
        f"{page}: {target}"
        for page in documents()
        for target in LINK.findall(FENCE.sub("", (ROOT / page).read_text()))
        if not (ROOT / page.parent / target).exists()
    ]

    assert broken == []


def test_every_link_anchor_is_a_heading():
    broken = [
        f"{page}: {target}#{anchor}"
        for page in documents()
        for target, anchor in ANCHOR.findall(FENCE.sub("", (ROOT / page).read_text()))
        if (path := ROOT / page.parent / target if target else ROOT / page).suffix == ".md"
        and anchor not in anchors(path)
    ]

    assert broken == []


def anchors(page: Path) -> set[str]:
    """Return what GitHub names the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    words = (re.sub(r"\]\([^)]*\)", "", each).lower() for each in headings)
    return {re.sub(r"[^\w -]", "", each).strip().replace(" ", "-") for each in words}


def test_npm_keeps_its_cache_and_logs_inside_the_checkout():
    """The README says that nothing outside it is written; npm's default is the home folder."""
    told = subprocess.run(
        ["make", "-s", "--eval", "told: ; @echo $$npm_config_cache", "told"],  # noqa: S607 - whichever there is
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert Path(told.stdout.strip()).is_relative_to(ROOT)


def test_a_make_target_that_is_named_exists():
    unknown = {
        f"{page}: make {target}"
        for page in documents()
        for target in re.findall(r"`make ([a-z-]+)", (ROOT / page).read_text())
        if target not in TARGETS
    }

    assert unknown == set()


def test_every_target_is_phony():
    """Otherwise a file called ``test`` would make ``make test`` do nothing."""
    phony = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())

    assert phony == TARGETS


def test_decisions_are_numbered_without_a_gap():
    assert [path.name[:4] for path in ADRS] == [f"{n:04}" for n in range(1, len(ADRS) + 1)]


def test_each_decision_is_one_page_with_four_parts():
    """Context, decision, consequences and status, on at most 60 lines."""
    for path in ADRS:
        text = path.read_text()

        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)

        assert text.startswith(f"# {path.name[:4]}. ")
        assert headings == ["Context", "Decision", "Consequences"]
        status = STATUS.search(text)
        assert status is not None
        assert status[1].startswith("superseded") == (path.parent.name == "old")
        assert len(text.splitlines()) <= 60


def test_the_index_names_every_page():
    folder = ROOT / "docs"
    listed = {
        (index.parent / target).resolve()
        for index in (folder / "README.md", folder / "adr/README.md")
        for target in LINK.findall(index.read_text())
    }

    pages = {ROOT / path for path in documents() if path.parts[0] == "docs"}
    assert pages - listed == {folder / "README.md"}


def test_the_changelog_has_the_version():
    """The version of pyproject.toml is first; only that entry may lack a date."""
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    dated = re.compile(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d")

    assert headings[0].startswith(f"[{PROJECT['project']['version']}] - ")
    assert headings[0].endswith(" - unreleased") or dated.fullmatch(headings[0])
    assert [heading for heading in headings[1:] if not dated.fullmatch(heading)] == []
