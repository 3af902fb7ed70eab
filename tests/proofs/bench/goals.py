"""What several tests of goals share."""

from bench.figures import Round


def rounds(*cpu_us: float, p50_ms: float = 1.0, p99_ms: float = 2.0) -> list[Round]:
    """Rounds of a thousand answers each, by their CPU per request."""
    return [
        Round(
            answers=1000,
            seconds=1.0,
            cpu_s=each / 1000,
            other_cores=0.0,
            p50_ms=p50_ms,
            p99_ms=p99_ms,
            pss_mb=97.0,
        )
        for each in cpu_us
    ]
