#!/bin/bash
# PostgreSQL, set up by the variables of the public image that compose.yaml uses:
# POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, POSTGRES_INITDB_ARGS and PGDATA. More arguments go
# to the server.
set -euo pipefail

export PATH=/usr/bin
export PGDATA=${PGDATA:-/var/lib/postgresql/data}
user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}

# The database is made in a folder of its own and moved, PG_VERSION last: a start that was cut off
# goes on here, and nothing is deleted that another image or a restore left in PGDATA.
making=$PGDATA/.making made=$PGDATA/.made
if [[ ! -e $PGDATA/PG_VERSION ]]; then
    mkdir -p "$PGDATA"
    chmod 700 "$PGDATA"
    if [[ ! -e $made ]]; then
        : "${POSTGRES_PASSWORD:?POSTGRES_PASSWORD is not set}"
        read -ra more <<<"${POSTGRES_INITDB_ARGS:-}"
        rm -rf "$making"
        initdb "${more[@]}" --pgdata="$making" --username="$user" \
            --pwfile=<(echo "$POSTGRES_PASSWORD") --auth-local=trust --auth-host=scram-sha-256 \
            --encoding=UTF8 --locale=C.UTF-8 >/dev/null
        echo 'host all all all scram-sha-256' >>"$making/pg_hba.conf"
        if [[ $database != postgres ]]; then
            echo "CREATE DATABASE \"$database\"" |
                postgres --single -D "$making" postgres >/dev/null
        fi
        mv "$making" "$made"
    fi
    for path in "$made"/*; do
        [[ $path == */PG_VERSION ]] || mv "$path" "$PGDATA/"
    done
    mv "$made/PG_VERSION" "$PGDATA/"
fi
rm -rf "$made"
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
