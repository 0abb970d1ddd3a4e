#!/bin/bash
# Furnishes the namespaces of one node: network, and folders that must not be shared between nodes.
# Usage: node.sh STATE NAME ADDRESS GATEWAY [POD_NETWORK=VIA ...]
set -euo pipefail
state=$1 name=$2 address=$3 gateway=$4
shift 4

if [ ! -f /run/k8s-node ]; then
    hostname "$name"
    ip link set lo up
    ip addr add "$address/24" dev eth0
    ip link set eth0 up
    ip route add default via "$gateway"
    echo 1 >/proc/sys/net/ipv4/ip_forward
    mount -t tmpfs -o mode=755 tmpfs /run
    mkdir -p /run/lock /run/netns
    for folder in kubelet containerd cni; do
        mkdir -p "/var/lib/$folder" "$state/$name/$folder"
        mount --bind "$state/$name/$folder" "/var/lib/$folder"
    done
    mkdir -p "$state/$name/log"
    mount --bind "$state/$name/log" /var/log
    mount --make-rshared /
    touch /run/k8s-node
fi
for route in "$@"; do ip route replace "${route%=*}" via "${route#*=}"; done
