"""Tests the parts of the rehearsal on Kubernetes that need no cluster."""

import json
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import Any

from k8s import images, network_policy
from k8s.network_policy import World


def _pod(name: str, address: str, node: str = "n1", **labels: str) -> dict[str, Any]:
    ports = [{"name": "http", "containerPort": 8080}]
    return {
        "metadata": {"name": name, "namespace": "suite", "labels": labels},
        "spec": {"nodeName": node, "containers": [{"ports": ports}]},
        "status": {"podIP": address, "phase": "Running"},
    }


def _policy(spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"namespace": "suite"}, "spec": {"podSelector": {}} | spec}


def _rendered(*specs: dict[str, Any]) -> str:
    pods = [
        _pod("gateway", "10.244.1.2", app="gateway"),
        _pod("inbox", "10.244.2.3", "n2", app="inbox"),
    ]
    spaces = [{"metadata": {"name": "suite", "labels": {"kind": "own"}}}]
    return network_policy.render("n1", World(pods, spaces), [_policy(spec) for spec in specs])


def _chain(text: str, name: str) -> list[str]:
    return text.partition(f"chain {name} {{\n")[2].partition("\n}")[0].replace("  ", "").split("\n")


class NetworkPolicies(unittest.TestCase):
    def test_a_pod_without_a_policy_is_open(self) -> None:
        self.assertNotIn("jump", _rendered())

    def test_default_deny_drops_all_both_ways(self) -> None:
        text = _rendered({"policyTypes": ["Ingress", "Egress"]})

        self.assertEqual(_chain(text, "ingress_10_244_1_2"), ["counter drop"])
        self.assertEqual(_chain(text, "egress_10_244_1_2"), ["counter drop"])

    def test_an_address_that_no_pod_has_yet_is_let_through(self) -> None:
        known = "{ 10.244.1.2, 10.244.2.3 }"

        self.assertIn(f"ip saddr 10.244.0.0/16 ip saddr != {known} accept", _rendered())

    def test_pods_of_other_nodes_are_left_to_their_own_agent(self) -> None:
        self.assertNotIn("10_244_2_3", _rendered({"policyTypes": ["Ingress"]}))

    def test_a_named_port_of_ingress_is_that_of_the_pod_itself(self) -> None:
        peer = {"podSelector": {"matchLabels": {"app": "inbox"}}}
        text = _rendered({"ingress": [{"from": [peer], "ports": [{"port": "http"}]}]})

        self.assertEqual(
            _chain(text, "ingress_10_244_1_2"),
            ["ip saddr 10.244.2.3 tcp dport 8080 return", "counter drop"],
        )

    def test_a_block_of_addresses_leaves_its_exceptions_out(self) -> None:
        block = {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8", "172.16.0.0/12"]}
        ports = [{"port": 1024, "endPort": 65535}]
        rule = {"to": [{"ipBlock": block}], "ports": ports}
        text = _rendered({"policyTypes": ["Egress"], "egress": [rule]})

        allowed = "ip daddr 0.0.0.0/0 ip daddr != { 10.0.0.0/8, 172.16.0.0/12 } "
        self.assertIn(allowed + "tcp dport 1024-65535 return", _chain(text, "egress_10_244_1_2"))

    def test_a_block_of_version_6_opens_nothing_here(self) -> None:
        rule = {"to": [{"ipBlock": {"cidr": "2000::/3", "except": ["2001:db8::/32"]}}]}
        text = _rendered({"policyTypes": ["Egress"], "egress": [rule]})

        self.assertEqual(_chain(text, "egress_10_244_1_2"), ["counter drop"])

    def test_expressions_choose_by_labels(self) -> None:
        for operator, values, chosen in (
            ("In", ["a", "b"], True),
            ("NotIn", ["a"], False),
            ("Exists", None, True),
            ("DoesNotExist", None, False),
        ):
            with self.subTest(operator):
                it = {"key": "app", "operator": operator, "values": values}
                found = network_policy.matches({"matchExpressions": [it]}, {"app": "a"})
                self.assertEqual(found, chosen)


class Images(unittest.TestCase):
    def test_a_further_layer_makes_another_image_of_the_same(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "program").write_bytes(b"old")
            images.pack(folder / "a.tar", "localhost/a:1", folder / "program")
            images.layered(folder / "a.tar", folder / "b.tar", "localhost/a:2", {"usr/bin/x": b"n"})

            self.assertEqual(images.named_in(folder / "b.tar"), ["localhost/a:2"])
            with tarfile.open(folder / "b.tar") as tar:
                (entry,) = json.load(tar.extractfile("manifest.json") or self.fail())
                config = json.load(tar.extractfile(entry["Config"]) or self.fail())
            self.assertEqual(len(entry["Layers"]), 2)
            self.assertEqual(len(config["rootfs"]["diff_ids"]), 2)


if __name__ == "__main__":
    unittest.main()
