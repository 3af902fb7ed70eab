"""The floor of the disk: as many flushes as fit, each with its time."""

from pathlib import Path

from bench.disk import flushes_ms


def test_every_flush_takes_time_and_leaves_nothing(tmp_path: Path):
    taken = flushes_ms(tmp_path, 0.05)

    assert taken
    assert all(each > 0 for each in taken)
    assert list(tmp_path.iterdir()) == []
