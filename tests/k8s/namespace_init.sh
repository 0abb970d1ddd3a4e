#!/bin/bash
# The first process of the cluster's PID namespace: owns its network and its mounts, reaps what is orphaned.
# When it is killed, the kernel ends every process, pod, mount, cable and nftables rule of the cluster with it.
# Usage: namespace_init.sh STATE NETWORK SERVICE_NETWORK
set -euo pipefail
state=$1 network=$2 services=$3

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/netns

# The kubelet insists on writing these settings of the whole machine: it gets files of its own.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    name=${setting%%=*}
    file=$state/sysctl/$name
    mkdir -p "$(dirname "$file")"
    echo "${setting#*=}" >"$file"
    mount --bind "$file" "/proc/sys/$name"
done

printf '127.0.0.1 localhost\n%s.1 host.cluster\n' "$network" >"$state/hosts"
mount --bind "$state/hosts" /etc/hosts
# Names of the cluster resolve beside the nodes too.
printf 'search svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:3\n' >"$state/resolv.conf"
mount --bind "$state/resolv.conf" /etc/resolv.conf

ip link set lo up
ip link add kbr0 type bridge
ip addr add "$network.1/24" dev kbr0
ip link set kbr0 up
echo 1 >/proc/sys/net/ipv4/ip_forward
# Addresses of Services lead through the first node, whose kube-proxy translates them.
ip route add "$services" via "$network.11"

touch "$state/namespace_init.ready"
trap 'exit 0' TERM
while :; do sleep 3600 & wait $! || true; done
