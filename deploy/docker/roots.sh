#!/bin/sh
# Collects the root filesystem of each image below /roots.
# `service` holds what all programs share; the others hold what comes on top of it.
set -eu
. /context/deploy/docker/collect.sh

services='gateway inbox mail-ingest rate-limit webhook-dispatcher'
programs_of() {
    case $1 in
    tools) echo tempinboxctl tempinbox-migrate ;;
    *) echo "tempinbox-$1" ;;
    esac
}

# The libraries that every program loads go into `service`.
health=/usr/lib/nagios/plugins/check_http
count=0
for image in $services tools; do
    for program in $(programs_of $image); do
        libraries "/context/bin/$program"
        count=$((count + 1))
    done
done >/tmp/uses  # not into a pipe, which would hide a library that is missing
shared=$(sort /tmp/uses | uniq -c | awk -v all="$count" '$1 == all { print $2 }')

base_root /roots/service
for file in $shared $health $(libraries $health); do
    copy "$file" /roots/service
done
certificates /roots/service

for image in $services tools; do
    root=/roots/$image
    mkdir -p "$root"
    for program in $(programs_of $image); do
        install -D "/context/bin/$program" "$root/usr/bin/$program"
        strip "$root/usr/bin/$program"
        for library in $(libraries "/context/bin/$program"); do
            [ -e "/roots/service$(merged "$library")" ] || copy "$library" "$root"
        done
        # Mail comes in many charsets, and glibc converts each by a file of its own.
        if converts_charsets "/context/bin/$program"; then
            copy_folder "$(dirname "$(find /usr/lib -name gconv-modules)")" "$root"
        fi
    done
done

mkdir -p /roots/gateway/usr/share/tempinbox
cp -r /context/dashboard /roots/gateway/usr/share/tempinbox/dashboard
cp -r /context/downloads /roots/gateway/usr/share/tempinbox/downloads
install -D -m 644 /context/deploy/kafka/topics.json \
    /roots/tools/usr/share/tempinbox/kafka/topics.json

for root in /roots/*; do
    record_packages "$root"
done
