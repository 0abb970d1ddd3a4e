"""The process that owns every process of a suite: starts them, starts them again when they die,
stops them in order.

It knows nothing of what they are. Commands arrive as one JSON line on a UNIX socket and are
answered by one; what runs is written to state.json. Started by supervision.py; runs until told to
shut down, or until its lifeline closes.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from dev import paths
from dev.children import CHILD_VARIABLE, ChildSpec, crash_of, layer, stop_signal

RESTART_AFTER_SECONDS = 1.0


class Child:
    """A supervised process over its restarts. Ends only by `stop`."""

    def __init__(self, spec: ChildSpec, suite: Path, changed: Callable[[], None]) -> None:
        self.spec = spec
        self.suite = suite
        self.restarts = 0
        self.last_exit: int | str | None = None
        self.started_at: float | None = None
        self._changed = changed
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self.was_tried = asyncio.Event()
        self._runner = asyncio.create_task(self._run())

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._process.pid if self._process else None

    async def stop(self, quick: bool = False) -> None:
        """Asks it to end, kills it when the grace is over, and returns when it is gone."""
        self._stopping.set()
        if process := self._process:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL if quick else stop_signal(self.spec.name))
        try:
            await asyncio.wait_for(asyncio.shield(self._runner), self.spec.grace_seconds)
        except TimeoutError:
            if process := self._process:
                print(
                    f"{self.spec.name} did not end in {self.spec.grace_seconds} s: killed",
                    flush=True,
                )
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            await self._runner

    async def _run(self) -> None:
        while not self._stopping.is_set():
            await self._run_once()
            if crash := crash_of(self.last_exit):
                print(f"{self.spec.name} crashed ({crash})", flush=True)
            if self._stopping.is_set():
                break
            self.restarts += 1
            print(f"{self.spec.name} ended ({self.last_exit}); starting it again", flush=True)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), RESTART_AFTER_SECONDS)

    async def _run_once(self) -> None:
        spec = self.spec
        environment = {
            **paths.clean_environment(),
            **spec.environment,
            paths.SUITE_VARIABLE: str(self.suite),
            CHILD_VARIABLE: spec.name,
        }
        environment.pop("PYTHONPATH", None)
        as_user: dict[str, Any] = (
            {"user": spec.user, "group": spec.user, "extra_groups": []} if spec.user else {}
        )
        try:
            with open(spec.log, "ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *spec.argv,
                    cwd=spec.folder,
                    env=environment,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    **as_user,
                )
        except OSError as problem:
            self.last_exit = str(problem)
            self._note_change()
            return
        self.started_at = time.time()
        self._note_change()
        if self._stopping.is_set():  # told to stop while it was being made
            self._process.send_signal(stop_signal(spec.name))
        self.last_exit = await self._process.wait()
        self._process = None
        self._note_change()

    def _note_change(self) -> None:
        self._changed()
        self.was_tried.set()

    def describe(self) -> dict[str, Any]:
        """Returns what `status` shows."""
        return {
            "name": self.spec.name,
            "pid": self.pid,
            "restarts": self.restarts,
            "last_exit": self.last_exit,
            "started_at": self.started_at,
            "fingerprint": self.spec.fingerprint(),
            "log": self.spec.log,
        }


class Supervisor:
    """All children of one suite, and the commands about them."""

    def __init__(self, suite: Path) -> None:
        self._suite = suite
        self._children: dict[str, Child] = {}
        self._order = asyncio.Lock()  # one change at a time
        self._answering: set[asyncio.Task[Any]] = set()
        self.finished = asyncio.Event()
        self._commands: dict[str, Callable[..., Awaitable[dict[str, Any]]]] = {
            "put": self.put,
            "restart": self.restart,
            "remove": self.remove,
            "shutdown": self.shutdown,
        }

    async def put(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Starts the child, or starts it anew when its description differs."""
        requested = ChildSpec(**spec)
        current = self._children.get(requested.name)
        if current and current.spec.fingerprint() == requested.fingerprint():
            return {"changed": False}
        if current:
            await current.stop()
        await self._start(requested, current.restarts if current else 0)
        return {"changed": True}

    async def _start(self, spec: ChildSpec, restarts: int) -> None:
        child = self._children[spec.name] = Child(spec, self._suite, self._write_state)
        child.restarts = restarts
        await child.was_tried.wait()

    async def restart(self, name: str) -> dict[str, Any]:
        """Stops and starts one child; not counted as a restart after a death."""
        child = self._children[name]
        await child.stop()
        await self._start(child.spec, child.restarts)
        return {}

    async def remove(self, names: list[str]) -> dict[str, Any]:
        """Stops children and forgets them."""
        leaving = [self._children.pop(name) for name in names if name in self._children]
        await asyncio.gather(*(child.stop() for child in leaving))
        self._write_state()
        return {}

    def status(self) -> dict[str, Any]:
        """Every child as it is now."""
        return {
            "pid": os.getpid(),
            "children": [child.describe() for child in self._children.values()],
        }

    async def shutdown(self, quick_layers: int = 0) -> dict[str, Any]:
        """Stops everything, highest layer first; layers up to `quick_layers` are killed, for data
        that is deleted next.
        """
        for step in sorted({layer(name) for name in self._children}, reverse=True):
            here = [child for name, child in self._children.items() if layer(name) == step]
            await asyncio.gather(*(child.stop(quick=step <= quick_layers) for child in here))
        self._children.clear()
        self._write_state()
        self.finished.set()
        return {}

    async def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carries out one command."""
        command = request.pop("do")
        if command == "status":
            return self.status()
        async with self._order:
            return await self._commands[command](**request)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection: one request, one answer."""
        task = asyncio.current_task()
        assert task
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        try:
            request = json.loads(await reader.readline())
            try:
                answer = {"ok": True, **await self.handle(request)}
            except (KeyError, TypeError) as problem:
                answer = {"ok": False, "error": f"bad request: {problem!r}"}
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        except (OSError, ValueError) as problem:
            print(f"a client left: {problem!r}", flush=True)
        finally:
            writer.close()

    async def wait_answered(self) -> None:
        """Returns when every request has its answer, that to `shutdown` above all; not much later
        where a client sends none.
        """
        if self._answering:
            await asyncio.wait(self._answering, timeout=1.0)

    def _write_state(self) -> None:
        target = self._suite / "state.json"
        partial = self._suite / "state.json.partial"
        partial.write_text(json.dumps(self.status(), indent=2) + "\n", encoding="utf-8")
        partial.replace(target)


async def _serve(suite: Path, lifeline: int | None) -> None:
    supervisor = Supervisor(suite)
    loop = asyncio.get_running_loop()
    ending: list[asyncio.Task[Any]] = []

    def end() -> None:
        if not ending:
            ending.append(asyncio.create_task(supervisor.handle({"do": "shutdown"})))

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, end)
    if lifeline is not None:

        def lost() -> None:
            loop.remove_reader(lifeline)
            print("the process that wanted this suite is gone", flush=True)
            end()

        loop.add_reader(lifeline, lost)
    Path("supervisor.sock").unlink(missing_ok=True)
    server = await asyncio.start_unix_server(supervisor.answer, "supervisor.sock")
    os.chmod("supervisor.sock", 0o600)
    await supervisor.finished.wait()
    server.close()
    Path("supervisor.sock").unlink(missing_ok=True)
    await supervisor.wait_answered()


def main() -> int:
    """Runs the supervisor in the foreground of its own process."""
    parser = argparse.ArgumentParser(prog="dev.supervisor")
    parser.add_argument("--suite", type=Path, required=True)
    parser.add_argument(
        "--lifeline", type=int, help="file descriptor; the suite ends when it closes"
    )
    chosen = parser.parse_args()
    os.chdir(chosen.suite)  # so that the socket's path is short enough wherever the folder is
    os.umask(0o077)
    asyncio.run(_serve(chosen.suite, chosen.lifeline))
    return 0


if __name__ == "__main__":
    sys.exit(main())
