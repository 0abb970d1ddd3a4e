"""Kafka's lag as external.metrics.k8s.io has it, for an autoscaler: what KEDA's server does.

`lag-TOPIC-DIGITS` is not known; a metric is named `GROUP.TOPIC` with dots of both as they are. Asks
Kafka each time. Runs inside: `python3 -m k8s.lag_metric PORT CERTIFICATE KEY`.
"""

import datetime
import json
import ssl
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from k8s import host_services, layout

_BASE = "/apis/external.metrics.k8s.io/v1beta1"
_SECONDS = 10.0


class Lag:
    """Committed offsets against the ends of the partitions."""

    def __init__(self) -> None:
        properties: dict[str, Any] = dict(host_services.client_properties())
        self._admin = AdminClient(properties)
        self._reader = Consumer(properties | {"group.id": "rehearsal-lag"})

    def of(self, group: str, topic: str) -> int:
        """The sum over the partitions; what was never committed counts from the beginning."""
        described = self._admin.list_topics(topic, timeout=_SECONDS).topics[topic]
        expected = [TopicPartition(topic, number) for number in described.partitions]
        group_offsets = ConsumerGroupTopicPartitions(group, expected)
        (answer,) = self._admin.list_consumer_group_offsets([group_offsets]).values()
        total = 0
        for it in answer.result(_SECONDS).topic_partitions:
            ends = TopicPartition(topic, it.partition)
            first, last = self._reader.get_watermark_offsets(ends, timeout=_SECONDS)
            total += max(0, last - (it.offset if it.offset >= 0 else first))
        return total


def _described() -> dict[str, object]:
    resource = {
        "name": "lag",
        "singularName": "",
        "namespaced": True,
        "kind": "ExternalMetricValueList",
        "verbs": ["get"],
    }
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "external.metrics.k8s.io/v1beta1",
        "resources": [resource],
    }


def _value(metric: str, value: int) -> dict[str, object]:
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "kind": "ExternalMetricValueList",
        "apiVersion": "external.metrics.k8s.io/v1beta1",
        "metadata": {},
        "items": [
            {"metricName": metric, "metricLabels": {}, "timestamp": now, "value": str(value)}
        ],
    }


def main() -> None:
    """Runs until it is killed."""
    lag = Lag()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urllib.parse.urlsplit(self.path).path.rstrip("/")
            if path.startswith(f"{_BASE}/namespaces/"):
                metric = path.rpartition("/")[2]
                group, _, topic = metric.partition("..")
                self._answer(_value(metric, lag.of(group, topic)))
            else:
                self._answer(_described())

        def _answer(self, said: dict[str, object]) -> None:
            body = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    port, certificate, key = sys.argv[1:4]
    server = ThreadingHTTPServer((layout.HOST_ADDRESS, int(port)), Handler)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
