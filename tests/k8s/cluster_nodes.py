"""Makes the namespaces of every node: `python3 -m k8s.cluster_nodes`, inside."""

from k8s import layout, namespaces

if __name__ == "__main__":
    for number in range(1, layout.NODES + 1):
        namespaces.make_node(number)
