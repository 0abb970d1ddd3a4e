"""Pods of a service: replaced, and more or fewer of them."""

import json
import time
from collections import Counter
from functools import partial

from dev.terminal import fail

from k8s import host_services, installation, layout, scraping
from k8s.course import Course
from k8s.installation import NAMESPACE, RELEASE, SERVICES, Object, kubectl, wait_for
from k8s.publishing import publish

_SHARE_SECONDS = 30.0
_LAGGING_EVENTS = 60_000
# The number of pods is the autoscaler's until then, as docs/operations/capacity.md says.
_TAKE_BACK = "--force-conflicts"


def roll(course: Course) -> str:
    """`kubectl rollout restart` of each service; three pods then stand in three zones."""
    for service in SERVICES:
        kubectl("rollout", "restart", installation.deployment(service))
        installation.wait_rolled_out([service])
        course.load.wait_progress()
    _spread(course)
    return "each replaced; three pods of each in three zones"


def _all(replicas: int) -> Object:
    return {"services": {service: {"replicas": replicas} for service in SERVICES}}


def _spread(course: Course) -> None:
    course.installed.upgrade(_all(3), keeps=False)
    for service in SERVICES:
        zones = Counter(pod["spec"]["nodeName"] for pod in installation.ready(service))
        if sorted(zones.values()) != [1, 1, 1]:
            fail(f"{service} is spread {dict(zones)}")
    course.installed.upgrade()


def scale(course: Course) -> str:
    """1, 3, 1 of each service; a new inbox pod has its share of the calls soon."""
    course.installed.upgrade(_all(1), keeps=False)
    _counted(1)
    known = {installation.name_of(pod) for pod in installation.ready("inbox")}
    started = time.monotonic()
    course.installed.upgrade(_all(3), keeps=False)
    _counted(3)
    fresh = [p for p in installation.ready("inbox") if installation.name_of(p) not in known]
    share = _share(fresh) if course.load.is_running else "no load"
    seconds = time.monotonic() - started
    course.load.wait_progress()
    course.installed.upgrade(_all(1), keeps=False)
    _counted(1)
    course.load.wait_progress()
    course.installed.upgrade()
    return f"each 1, 3 ({seconds:.0f} s), 1; a new inbox pod had {share}"


def _counted(expected: int) -> None:
    for service in SERVICES:
        wait_for(partial(_has, service, expected), 120, f"{expected} pods of {service}")


def _has(service: str, expected: int) -> bool:
    return len(installation.pods(service)) == expected == len(installation.ready(service))


def _calls_of(pod: Object) -> float:
    return scraping.total(pod, "http_server_request_duration_seconds_count", 'server="rpc"')


def _share(fresh: list[Object]) -> str:
    """Checks the shares of the calls to inbox; a pod has its share when it gets half of an even
    part.
    """
    pods = installation.ready("inbox")
    least = 0.5 / len(pods)
    began = time.monotonic()
    first = {installation.name_of(pod): _calls_of(pod) for pod in pods}
    shares: dict[str, float] = {}

    def has_share() -> bool:
        more = {
            installation.name_of(pod): _calls_of(pod) - first[installation.name_of(pod)]
            for pod in pods
        }
        total = sum(more.values())
        if total < 100:
            return False
        shares.update({name: count / total for name, count in more.items()})
        return all(shares[installation.name_of(pod)] >= least for pod in fresh)

    wait_for(has_share, _SHARE_SECONDS, "each new inbox pod has its share of the calls")
    listed = ", ".join(f"{shares[installation.name_of(pod)]:.0%}" for pod in fresh)
    return f"{listed} of the calls within {time.monotonic() - began:.0f} s of being ready"


# Autoscalers.


def by_cpu(course: Course) -> str:
    """metrics-server says what pods use; the gateway's HorizontalPodAutoscaler follows."""
    wait_for(
        lambda: installation.attempt("kubectl", "-n", NAMESPACE, "top", "pods").returncode == 0,
        60,
        "metrics-server knows the pods",
    )
    quick = {"stabilizationSeconds": 5, "percent": 100, "periodSeconds": 5}
    hpa = {
        "enabled": True,
        "minReplicas": 2,
        "maxReplicas": 3,
        "cpuUtilization": 65,
        "scaleDown": quick,
    }
    course.installed.upgrade({"services": {"gateway": {"hpa": hpa}}}, keeps=False)
    started = time.monotonic()
    wait_for(lambda: len(installation.ready("gateway")) == 3, 120, "a third gateway")
    seconds = time.monotonic() - started
    used = kubectl("get", "hpa", "-o", "jsonpath={.items[0].status.currentMetrics[0].resource}")
    course.load.wait_progress()
    kubectl("delete", "hpa", f"{RELEASE}-gateway")
    course.installed.upgrade(None, _TAKE_BACK)
    wait_for(lambda: len(installation.pods("gateway")) == 2, 120, "two gateways")
    share = json.loads(used)["current"].get("averageUtilization")
    return f"2 to 3 in {seconds:.0f} s at {share} % of the request, then 2"


def by_lag(course: Course) -> str:
    """The chart's ScaledObject, carried out by the controller of Kubernetes: KEDA is not here."""
    if not installation.attempt("kubectl", "get", "crd", "scaledobjects.keda.sh").stdout:
        fail("the kind ScaledObject is unknown: run the step dry-run before")
    keda = {
        "enabled": True,
        "minReplicas": 2,
        "maxReplicas": 6,
        "lagThreshold": 100,
        "scaleDownStabilizationSeconds": 10,
    }
    course.installed.upgrade({"services": {"webhook-dispatcher": {"keda": keda}}}, keeps=False)
    host_services.start_lag_metric()
    _serve_lag()
    described = installation.get("scaledobject", f"{RELEASE}-webhook-dispatcher")
    autoscaler = _autoscaler(described["spec"])
    kubectl("apply", "-f", "-", data=json.dumps(autoscaler))
    counts: list[int] = []

    def count() -> int:
        number = len(installation.ready("webhook-dispatcher"))
        if not counts or counts[-1] != number:
            counts.append(number)
        return number

    try:
        wait_for(lambda: count() == 2, 60, "two dispatchers")
        publish(_LAGGING_EVENTS)
        wait_for(lambda: count() == 6, 120, f"six dispatchers by lag, seen {counts}")
        wait_for(lambda: count() == 2, 240, f"two dispatchers again, seen {counts}")
    finally:
        kubectl("delete", "hpa", "rehearsal-lag", "--ignore-not-found")
    if max(counts) > installation.PARTITIONS:
        fail(f"more pods than partitions: {counts}")
    course.installed.upgrade(None, _TAKE_BACK)
    return f"pods {', '.join(map(str, counts))}; {installation.PARTITIONS} partitions"


def _autoscaler(scaled: Object) -> Object:
    """Returns what KEDA makes of a ScaledObject: one external metric a trigger."""
    metrics = [
        {
            "type": "External",
            "external": {
                "metric": {"name": f"{it['metadata']['consumerGroup']}..{it['metadata']['topic']}"},
                "target": {
                    "type": "AverageValue",
                    "averageValue": it["metadata"]["lagThreshold"],
                },
            },
        }
        for it in scaled["triggers"]
        if it["type"] == "kafka"
    ]
    target = {"apiVersion": "apps/v1", "kind": "Deployment"} | scaled["scaleTargetRef"]
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "rehearsal-lag", "namespace": NAMESPACE},
        "spec": {
            "scaleTargetRef": target,
            "minReplicas": scaled["minReplicaCount"],
            "maxReplicas": min(scaled["maxReplicaCount"], installation.PARTITIONS),
            "behavior": scaled["advanced"]["horizontalPodAutoscalerConfig"]["behavior"],
            "metrics": metrics,
        },
    }


def _serve_lag() -> None:
    """external.metrics.k8s.io leads to the server beside the nodes: a Service without pods."""
    port = {"name": "https", "port": 443, "protocol": "TCP"}
    objects: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "lag-metric", "namespace": "kube-system"},
            "spec": {"ports": [port | {"targetPort": host_services.LAG_PORT}]},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": "lag-metric",
                "namespace": "kube-system",
                "labels": {"kubernetes.io/service-name": "lag-metric"},
            },
            "addressType": "IPv4",
            "ports": [{"name": "https", "port": host_services.LAG_PORT, "protocol": "TCP"}],
            "endpoints": [{"addresses": [layout.HOST_ADDRESS]}],
        },
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": "v1beta1.external.metrics.k8s.io"},
            "spec": {
                "group": "external.metrics.k8s.io",
                "version": "v1beta1",
                "service": {"name": "lag-metric", "namespace": "kube-system"},
                "insecureSkipTLSVerify": True,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        },
    ]
    described = {"apiVersion": "v1", "kind": "List", "items": objects}
    kubectl("apply", "-f", "-", data=json.dumps(described), namespace="kube-system")
    name = "apiservice/v1beta1.external.metrics.k8s.io"
    kubectl("wait", "--for=condition=Available", name, "--timeout=60s", namespace="default")
