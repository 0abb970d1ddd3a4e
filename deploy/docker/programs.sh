#!/bin/sh
# Leaves the built programs in /context/bin and the dashboard's page in /context/dashboard.
# A context that has them already is packed as it is; one with the source is built here.
set -eu
cd /context

if [ -d bin ]; then
    exit 0
fi

apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    ca-certificates git python3
PYTHONPATH=tools python3 -B -c 'from dev import dashboard; dashboard.build()'
./dev build --preset release \
    tempinbox-gateway tempinbox-inbox tempinbox-mail-ingest tempinbox-rate-limit \
    tempinbox-webhook-dispatcher tempinbox-migrate tempinboxctl
mv build/release/bin bin
mv web/dashboard/dist dashboard
