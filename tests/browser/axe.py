"""axe-core, from what the panel serves: WCAG 2.2, levels A and AA, and its best practice."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.demand import absent

if TYPE_CHECKING:
    from playwright.async_api import Page

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".tools" / "panel" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

_RUN = """async (rules) => {
  const found = await axe.run(document, {
    runOnly: {type: "tag", values: rules}, resultTypes: ["violations"]});
  return found.violations.map((each) =>
    `axe: ${each.id}: ${each.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(" | ")}`);
}"""


@cache
def source() -> str:
    """Return the script; skips, or fails where ``TEST_REQUIRE`` names axe."""
    if not FILE.exists():
        absent("axe", f"no axe-core at {FILE}: `make setup` installs it")
    return FILE.read_text(encoding="utf-8")


async def violations(page: Page) -> list[str]:
    """Run axe on the current page; one line for each violated rule."""
    await page.evaluate(source())
    found: list[str] = await page.evaluate(_RUN, list(RULES))
    return found
