#!/bin/bash
# PostgreSQL, set up by the variables of the public image that compose.yaml uses:
# POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, POSTGRES_INITDB_ARGS and PGDATA. More arguments go
# to the server.
set -euo pipefail

export PATH=/usr/bin
export PGDATA=${PGDATA:-/var/lib/postgresql/data}
user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}

# `initialized` comes last: a start that was cut off begins anew.
if [[ ! -e $PGDATA/initialized ]]; then
    mkdir -p "$PGDATA"
    rm -rf "${PGDATA:?}"/*
    chmod 700 "$PGDATA"
    : "${POSTGRES_PASSWORD:?POSTGRES_PASSWORD is not set}"
    read -ra more <<<"${POSTGRES_INITDB_ARGS:-}"
    initdb "${more[@]}" --username="$user" --pwfile=<(echo "$POSTGRES_PASSWORD") \
        --auth-local=trust --auth-host=scram-sha-256 \
        --encoding=UTF8 --locale=C.UTF-8 >/dev/null
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    if [[ $database != postgres ]]; then
        echo "CREATE DATABASE \"$database\"" | postgres --single -D "$PGDATA" postgres >/dev/null
    fi
    touch "$PGDATA/initialized"
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
