"""The record of the request being served."""

import asyncio

from gateway.telemetry.records import AccessRecord, begin_record, current_record


async def test_each_request_has_its_own_record():
    async def serve(trace_id: str) -> AccessRecord | None:
        begin_record(AccessRecord(trace_id=trace_id))
        await asyncio.sleep(0)
        await asyncio.create_task(note(trace_id))
        return current_record()

    async def note(outcome: str) -> None:
        record = current_record()
        assert record is not None
        record.payout = outcome

    one, two = await asyncio.gather(serve("one"), serve("two"))

    assert one is not None
    assert two is not None
    assert [(each.trace_id, each.payout) for each in (one, two)] == [("one", "one"), ("two", "two")]


async def test_there_is_no_record_outside_a_request():
    assert await asyncio.create_task(nothing()) is None


async def nothing() -> AccessRecord | None:
    return current_record()
