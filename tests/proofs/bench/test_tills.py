"""The bank that takes every payout, and messages cut out of a stream."""

import asyncio
import json

import pytest

from bench.tills import Messages, order, take

REQUEST = (
    b"POST /v1/contas/bench/transferencias HTTP/1.1\r\nIdempotency-Key: k-1\r\n"
    b'Content-Length: 23\r\n\r\n{"valor_centavos": 105}'
)


@pytest.mark.parametrize("size", [1, 7, len(REQUEST), 2 * len(REQUEST)])
def test_messages_are_given_on_when_they_are_complete(size: int):
    given: list[bytes] = []
    messages = Messages(lambda _self, _head, body: given.append(body))
    stream = REQUEST * 2

    for begin in range(0, len(stream), size):
        messages.data_received(stream[begin : begin + size])

    assert given == [b'{"valor_centavos": 105}'] * 2


async def test_the_bank_repeats_key_and_amount():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Messages(take), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())

    writer.write(REQUEST)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split()[0])
    said = json.loads(await reader.readexactly(length))

    writer.close()
    server.close()
    assert head.startswith(b"HTTP/1.1 201 ")
    assert (said["chave_idempotencia"], said["valor_centavos"]) == ("k-1", 105)


def test_orders_have_centavos_and_no_more():
    values = [json.loads(order(f"{number:012}"))["value"] for number in range(200)]

    assert all(round(value, 2) == value and value >= 1 for value in values)
    assert len(set(values)) > 190
