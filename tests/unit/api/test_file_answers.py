"""How the content of an object is sent, and to whom no longer."""

from __future__ import annotations

import asyncio
import io

import pytest
from starlette.types import Message

from footplate.api.storage_v1.objects import CHUNK_BYTES, FileAnswer

CHUNKS = 8
REQUEST: Message = {"type": "http.request", "body": b"", "more_body": False}
LEFT: Message = {"type": "http.disconnect"}


class Client:
    """Says ``messages`` one after the other, the last again and again; None: nothing more."""

    def __init__(self, *messages: Message | None) -> None:
        self._messages = list(messages)
        self.asked = 0
        self.received: list[Message] = []

    async def receive(self) -> Message:
        self.asked += 1
        message = self._messages.pop(0) if len(self._messages) > 1 else self._messages[0]
        if message is None:
            await asyncio.Event().wait()
        assert message is not None
        return message

    async def send(self, message: Message) -> None:
        self.received.append(message)

    def download(self) -> int:
        """How many bytes arrive, of ``CHUNKS`` chunks."""
        file = io.BytesIO(bytes(CHUNKS * CHUNK_BYTES))
        answer = FileAnswer(file, 0, CHUNKS * CHUNK_BYTES, 200, {})

        async def run() -> None:
            await answer({"type": "http"}, self.receive, self.send)

        asyncio.run(run())
        assert file.closed
        return sum(len(message.get("body", b"")) for message in self.received)


def test_a_client_is_asked_twice_whether_it_left_however_much_it_downloads() -> None:
    client = Client(REQUEST, None)
    assert client.download() == CHUNKS * CHUNK_BYTES
    assert client.asked == 2


@pytest.mark.parametrize(
    "messages", [(LEFT,), (REQUEST, LEFT), ({**REQUEST, "more_body": True}, LEFT)]
)
def test_a_client_that_left_is_sent_no_more(messages: tuple[Message, ...]) -> None:
    assert Client(*messages).download() < CHUNKS * CHUNK_BYTES
