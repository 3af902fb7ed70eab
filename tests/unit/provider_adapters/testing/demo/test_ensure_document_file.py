"""The file in which the demo is kept."""

import stat

import pytest

from gateway.core.audit_context import RuleViolation
from provider_adapters.testing.demo.ensure import Demo, DemoFile


def demo(base_url: str = "http://127.0.0.1:1") -> Demo:
    return Demo(
        base_url=base_url,
        ops_url="",
        sandbox_bank_url="",
        sandbox_control_url="",
        companies={"main": {"id": "1"}},
        accounts={},
        credentials={"full": {"client_id": "cli_1", "client_secret": "gws_1"}},
        pix_keys={},
        charges={},
        users={},
    )


@pytest.fixture
def file(tmp_path) -> DemoFile:
    return DemoFile(tmp_path / "var" / "demo.json")


def test_only_the_owner_can_read_the_demo_file(file):
    """It contains secrets in clear."""
    file.begin(demo())
    modes = [stat.S_IMODE(file.path.stat().st_mode)]
    file.replace(demo("http://127.0.0.1:2"))
    modes.append(stat.S_IMODE(file.path.stat().st_mode))

    assert modes == [0o600, 0o600]


def test_the_first_of_two_demo_files_is_kept(file):
    file.begin(demo())

    assert file.begin(demo("http://127.0.0.1:2")) == demo()


def test_writing_the_demo_file_leaves_no_other_files(file):
    file.begin(demo())
    file.begin(demo())
    file.replace(demo())

    assert [each.name for each in file.path.parent.iterdir()] == ["demo.json"]


def test_an_invalid_demo_file_is_reported_and_unchanged(file):
    file.path.parent.mkdir()
    for content in ["", "{", "{}", '{"base_url": 1}', "\xff"]:
        file.path.write_bytes(content.encode("latin-1"))

        with pytest.raises(RuleViolation, match=r"demo\.json"):
            file.read()

        assert file.path.read_bytes() == content.encode("latin-1")


def test_an_unwritable_folder_is_reported(tmp_path):
    (tmp_path / "var").write_text("a file")

    with pytest.raises(RuleViolation, match="cannot be written"):
        DemoFile(tmp_path / "var" / "demo.json").begin(demo())
