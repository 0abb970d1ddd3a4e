"""Many events at once, straight to Kafka: a consumer then lags. Runs inside."""

import json
import subprocess
import sys
import uuid

from chaos import event_source
from dev.terminal import fail

from k8s import host_services


def publish(events: int) -> None:
    """`email.received` of accounts that nobody has: consumed, and no webhook due."""
    request = {
        "properties": host_services.client_properties(),
        "accounts": [str(uuid.uuid4()) for _ in range(16)],
        "events": events,
        "rate": 0,
    }
    command = [sys.executable, "-B", str(event_source.__file__)]
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"the events could not be published: {done.stderr[-800:]}")
