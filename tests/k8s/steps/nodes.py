"""Nodes taken out of the cluster and back."""

import subprocess
import threading
import time

from dev.terminal import fail
from dev.waiting import delay_until

from k8s import installation, layout
from k8s.course import Course
from k8s.installation import SERVICES, kubectl

_SECONDS = 240


class _Watch:
    """Keeps the minimum of ready pods of each service while it lasts."""

    def __init__(self) -> None:
        self.min_ready = dict.fromkeys(SERVICES, 1000)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.is_set():
            counts = dict.fromkeys(SERVICES, 0)
            for pod in installation.pods():
                service = pod["metadata"]["labels"].get("app.kubernetes.io/component", "")
                if service in counts and installation.is_ready(pod):
                    counts[service] += 1
            for service, count in counts.items():
                self.min_ready[service] = min(self.min_ready[service], count)
            delay_until(time.monotonic() + 0.3)

    def end(self) -> None:
        """No further look."""
        self._ended.set()
        self._thread.join(timeout=20)


def drain(course: Course) -> str:
    """Two nodes at a time, each pair: where nothing holds the evictions back, a service whose two
    pods are there is gone.
    """
    names = layout.node_names()
    watch = _Watch()
    try:
        for number, node in enumerate(names):
            pair = [node, names[(number + 1) % len(names)]]
            _drain(pair)
            for service in SERVICES:
                installation.wait_whole(service)
            kubectl("uncordon", *pair)
            course.load.wait_progress()
    finally:
        kubectl("uncordon", *names)
        watch.end()
    without = [service for service, count in watch.min_ready.items() if count == 0]
    if without:
        fail(f"no pod of {', '.join(without)} was ready for a while")
    kubectl("-n", "kube-system", "rollout", "status", "deploy/coredns", "--timeout=60s")
    return f"each pair of nodes emptied; never fewer than {min(watch.min_ready.values())} ready"


def _drain(pair: list[str]) -> None:
    """Both at once, each by a kubectl of its own."""
    command = ["kubectl", "drain", "--ignore-daemonsets", "--delete-emptydir-data"]
    command += [f"--timeout={_SECONDS}s"]
    running = [
        subprocess.Popen(
            [*command, node],
            env=layout.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for node in pair
    ]
    for process, node in zip(running, pair, strict=True):
        said, _ = process.communicate()
        if process.returncode != 0:
            fail(f"{node} could not be drained: {said[-800:]}")
