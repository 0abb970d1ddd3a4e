"""NetworkPolicy objects as nftables rules in one node's network namespace.

Looks at the API when a pod changes, and once a second. The whole meaning of v1: selectors, ipBlock
with except, numeric, ranged and named ports, default deny. What the node itself sends (probes) is
never filtered, replies always pass; a pod is open, and let in by others, until the first look that
sees its address. This shows what policies mean by the text of the API, not how the engine of some
network plug-in behaves.

Runs in a node's namespaces: `python3 -m k8s.network_policy NODE`.
"""

import http.client
import json
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from dev.waiting import delay_until

from k8s import layout

Object = dict[str, Any]
# Between two looks, however many pods change.
_INTERVAL_SECONDS = 0.1
_OPERATORS: dict[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, allowed: value in allowed,
    "NotIn": lambda value, allowed: value not in allowed,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
}


def matches(selector: Object, labels: dict[str, str]) -> bool:
    """Returns whether a label selector chooses these labels; an empty one chooses all."""
    expected = selector.get("matchLabels") or {}
    return all(labels.get(name) == value for name, value in expected.items()) and all(
        _OPERATORS[it["operator"]](labels.get(it["key"]), it.get("values") or [])
        for it in selector.get("matchExpressions") or []
    )


class World:
    """Pods and namespaces as of one look."""

    def __init__(self, pods: list[Object], namespaces: list[Object]) -> None:
        self.pods = [pod for pod in pods if _has_own_address(pod)]
        self.namespaces = {
            it["metadata"]["name"]: it["metadata"].get("labels") or {} for it in namespaces
        }

    def chosen(self, peer: Object, namespace: str) -> list[Object]:
        """The pods that a peer of a policy in this namespace means."""

        def is_meant(pod: Object) -> bool:
            where = pod["metadata"]["namespace"]
            if "namespaceSelector" in peer:
                if not matches(peer["namespaceSelector"], self.namespaces.get(where, {})):
                    return False
            elif where != namespace:
                return False
            return matches(peer.get("podSelector") or {}, _labels(pod))

        return [pod for pod in self.pods if is_meant(pod)]


def _has_own_address(pod: Object) -> bool:
    return (
        bool(pod["status"].get("podIP"))
        and not pod["spec"].get("hostNetwork")
        and pod["status"]["phase"] in ("Pending", "Running")
    )


def _labels(pod: Object) -> dict[str, str]:
    return pod["metadata"].get("labels") or {}


def _address(pod: Object) -> str:
    return str(pod["status"]["podIP"])


def _block(peer: Object, field: str) -> str:
    block = peer["ipBlock"]
    found = f"ip {field} {block['cidr']} "
    if block.get("except"):
        found += f"ip {field} != {{ {', '.join(block['except'])} }} "
    return found


def _port(port: Object, listener: Object | None) -> str | None:
    """The statement for a port; a named one is that of the pod that listens."""
    protocol, number = port.get("protocol", "TCP").lower(), port.get("port")
    if number is None:
        return f"meta l4proto {protocol} return"
    if isinstance(number, int):
        last = port.get("endPort")
        return f"{protocol} dport {f'{number}-{last}' if last else number} return"
    for container in listener["spec"]["containers"] if listener else []:
        for known in container.get("ports") or []:
            is_it = known.get("protocol", "TCP").lower() == protocol
            if known.get("name") == number and is_it:
                return f"{protocol} dport {known['containerPort']} return"
    return None


def allowed(rule: Object, side: str, namespace: str, own: Object, world: World) -> list[str]:
    """Returns what one ingress (side `from`) or egress (side `to`) rule lets through, as nft
    statements.
    """
    field = "saddr" if side == "from" else "daddr"
    peers = rule.get(side) or []
    # Pods here have addresses of version 4 alone; a single rule of 6 would void the whole table.
    blocks = [
        _block(peer, field)
        for peer in peers
        if "ipBlock" in peer and ":" not in peer["ipBlock"]["cidr"]
    ]
    pods = [pod for peer in peers if "ipBlock" not in peer for pod in world.chosen(peer, namespace)]
    heads = blocks + [f"ip {field} {_address(pod)} " for pod in pods] if peers else [""]
    if not rule.get("ports"):
        return [head + "return" for head in heads]
    found = []
    for port in rule["ports"]:
        if side == "to" and isinstance(port.get("port"), str):
            listeners = pods if peers else world.pods
            pairs = [(f"ip daddr {_address(pod)} ", pod) for pod in listeners]
        else:
            pairs = [(head, own) for head in heads]
        for head, listener in pairs:
            statement = _port(port, listener)
            if statement:
                found.append(head + statement)
    return found


def render(node: str, world: World, policies: list[Object]) -> str:
    """The whole table, replaced in one step."""
    jumps: dict[str, list[str]] = {"to": [], "from": []}
    chains = []
    for pod in sorted(world.pods, key=_address):
        if pod["spec"].get("nodeName") != node:
            continue
        namespace = pod["metadata"]["namespace"]
        own = [
            policy
            for policy in policies
            if policy["metadata"]["namespace"] == namespace
            and matches(policy["spec"].get("podSelector") or {}, _labels(pod))
        ]
        for kind, side, field in (("Egress", "to", "saddr"), ("Ingress", "from", "daddr")):
            acting = [it for it in own if kind in (it["spec"].get("policyTypes") or ["Ingress"])]
            if not acting:
                continue
            statements = {
                statement
                for policy in acting
                for rule in policy["spec"].get(kind.lower()) or []
                for statement in allowed(rule, side, namespace, pod, world)
            }
            chain = f"{kind.lower()}_{_address(pod).replace('.', '_')}"
            lines = "\n  ".join([*sorted(statements), "counter drop"])
            chains.append(f"chain {chain} {{\n  {lines}\n}}")
            jumps[side].append(f"ip {field} {_address(pod)} jump {chain}")
    unknown = f"ip saddr {layout.POD_NETWORK}.0.0/16 "
    if world.pods:
        unknown += f"ip saddr != {{ {', '.join(sorted(map(_address, world.pods)))} }} "
    # The API learns a pod's address after the pod has begun: until then nobody knows its labels.
    first = ["ct state established,related accept", unknown + "accept"]
    hook = "\n  ".join([*first, *jumps["to"], *jumps["from"]])
    return (
        "add table ip policies\ndelete table ip policies\ntable ip policies {\n"
        + "\n".join(chains)
        + "\nchain forward {\n  type filter hook forward priority filter; policy accept;\n  "
        + hook
        + "\n}\n}\n"
    )


def main() -> None:
    """Runs until it is killed."""
    node = sys.argv[1]
    tls = ssl.create_default_context(cafile=str(layout.PKI / "ca.crt"))
    tls.load_cert_chain(layout.PKI / "admin.crt", layout.PKI / "admin.key")

    # One connection for all looks: a handshake each would cost more than the looks themselves.
    host = layout.API_SERVER.rpartition("/")[2]
    api = http.client.HTTPSConnection(host, context=tls, timeout=10)
    watching = http.client.HTTPSConnection(host, context=tls, timeout=10)

    def listed(path: str) -> Object:
        api.request("GET", path)
        found: Object = json.loads(api.getresponse().read())
        return found

    def wait_for_change(version: str) -> None:
        """Returns when a pod differs from this version of the list, or after a second."""
        watching.request("GET", f"/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion={version}")
        if watching.getresponse().readline():
            watching.close()  # more may follow, which the next list has too

    applied = version = ""
    while True:
        try:
            if version:
                wait_for_change(version)
            pods = listed("/api/v1/pods")
            version = pods["metadata"]["resourceVersion"]
            world = World(pods["items"], listed("/api/v1/namespaces")["items"])
            policies = listed("/apis/networking.k8s.io/v1/networkpolicies")["items"]
            text = render(node, world, policies)
        except (OSError, ValueError, KeyError, http.client.HTTPException) as problem:
            print(time.strftime("%T"), repr(problem), flush=True)
            api.close()
            watching.close()
            text, version = applied, ""
        if text != applied:
            done = subprocess.run(["nft", "-f", "-"], input=text, text=True, capture_output=True)
            is_good = done.returncode == 0
            print(time.strftime("%T"), "applied" if is_good else done.stderr + text, flush=True)
            applied = text if is_good else applied
        delay_until(time.monotonic() + _INTERVAL_SECONDS)


if __name__ == "__main__":
    main()
