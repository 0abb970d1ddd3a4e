"""Does what the flows of `_calls` ask for, over httpx: by blocking, or by awaiting.

It has the sockets and the clock; when a call is tried again, and which error it ends with,
is decided there.
"""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import anyio
import httpx

from tempinbox._calls import Cut, Flow, Outcome, Response, Send, Sleep

T = TypeVar("T")

# Twice the largest message the service can be told to take, in base64.
_MAX_ANSWER_BYTES = 128 * 1024 * 1024
_CONNECT_SECONDS = 10.0
# Each wait has a connection of its own: under a limit the next one would only queue.
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=100)
_NONE_KEPT = httpx.Limits(max_connections=None, max_keepalive_connections=0)


class Transport:
    """Runs flows for code that blocks; threads may share it."""

    def __init__(self) -> None:
        self._http = httpx.Client(follow_redirects=False, limits=_LIMITS)

    def run(self, flow: Flow[T]) -> T:
        """Does what the flow asks for, to its end."""
        outcome: Outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as end:
                found: T = end.value
                return found
            outcome = self._do(step)

    def close(self) -> None:
        """Closes what connections there are."""
        self._http.close()

    def shielded(self, seconds: float | None = None) -> AbstractContextManager[object]:  # noqa: ARG002 - as for code that awaits
        """Nothing: what blocks is not cancelled."""
        return nullcontext()

    def _do(self, step: Send | Sleep) -> Outcome:
        if isinstance(step, Sleep):
            time.sleep(step.seconds)
            return None
        end = time.monotonic() + step.seconds  # of the whole answer; httpx's are of each read
        try:
            with self._http.stream(
                step.method,
                step.url,
                headers=step.headers,
                content=step.content,
                timeout=_timeout(step),
            ) as answer:
                content = bytearray()
                for chunk in answer.iter_bytes():
                    content += chunk
                    _check_size(content)
                    if time.monotonic() > end:
                        raise httpx.ReadTimeout("")
                return _response(answer, content)
        except httpx.RequestError as failure:
            return _cut(step, failure)


class AsyncTransport:
    """Runs flows for code that awaits, on asyncio or trio."""

    def __init__(self, *, keeps_connections: bool = True) -> None:
        limits = _LIMITS if keeps_connections else _NONE_KEPT
        self._http = httpx.AsyncClient(follow_redirects=False, limits=limits)

    async def run(self, flow: Flow[T]) -> T:
        """Does what the flow asks for, to its end."""
        outcome: Outcome = None
        while True:
            try:
                step = flow.send(outcome)
            except StopIteration as end:
                found: T = end.value
                return found
            outcome = await self._do(step)

    async def aclose(self) -> None:
        """Closes what connections there are."""
        await self._http.aclose()

    def shielded(self, seconds: float | None = None) -> AbstractContextManager[object]:
        """A block that goes on, for so many seconds, where the code around it was cancelled."""
        return anyio.move_on_after(seconds, shield=True)

    async def _do(self, step: Send | Sleep) -> Outcome:
        if isinstance(step, Sleep):
            await anyio.sleep(step.seconds)
            return None
        # Limits the whole answer; httpx's timeouts are of each read.
        with anyio.move_on_after(step.seconds):
            return await self._send(step)
        return _cut(step, httpx.ReadTimeout(""))

    async def _send(self, step: Send) -> Outcome:
        try:
            async with self._http.stream(
                step.method,
                step.url,
                headers=step.headers,
                content=step.content,
                timeout=_timeout(step),
            ) as answer:
                content = bytearray()
                async for chunk in answer.aiter_bytes():
                    content += chunk
                    _check_size(content)
                return _response(answer, content)
        except httpx.RequestError as failure:
            return _cut(step, failure)


def _timeout(step: Send) -> httpx.Timeout:
    return httpx.Timeout(step.seconds, connect=min(_CONNECT_SECONDS, step.seconds))


def _check_size(content: bytearray) -> None:
    if len(content) > _MAX_ANSWER_BYTES:
        raise httpx.ReadError(f"the answer is over {_MAX_ANSWER_BYTES} bytes")


def _response(answer: httpx.Response, content: bytearray) -> Response:
    headers: Mapping[str, str] = {name.lower(): value for name, value in answer.headers.items()}
    return Response(answer.status_code, headers, bytes(content))


def _cut(step: Send, failure: httpx.RequestError) -> Cut:
    if isinstance(failure, httpx.ConnectTimeout | httpx.ConnectError | httpx.ProxyError):
        problem = f"no connection to the service ({failure or 'timed out'})"
        return Cut(problem, was_connected=False)
    if isinstance(failure, httpx.TimeoutException):
        return Cut(f"no answer within {step.seconds:.0f} s")
    if isinstance(failure, httpx.DecodingError):
        return Cut(f"the answer's Content-Encoding is broken ({failure})")
    return Cut(f"the connection was cut ({failure or type(failure).__name__})")
