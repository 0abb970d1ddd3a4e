#!/bin/bash
# PostgreSQL, Kafka and the suite in one container, for tests. Ends when it is told to, or with
# exit code 1 when one of them ends. docs/operations/images.md lists the variables.
# With --prepare it makes the schemas and topics and ends: so the image is built with them.
# -m: each process is a group of its own, and takes SIGINT.
set -euo pipefail -m

domain=${TEMPINBOX_DOMAIN:-inbox.example}
email=${TEMPINBOX_EMAIL:-test@example.com}
password=${TEMPINBOX_PASSWORD:-test-password}
# They are this script's: services warn of variables that are no settings of theirs.
unset TEMPINBOX_DOMAIN TEMPINBOX_EMAIL TEMPINBOX_PASSWORD

data=/var/lib/tempinbox
keys=$data/keys
rm -f /tmp/ready
declare -A pids=()

say() {
    printf '{"ts":"%(%Y-%m-%dT%H:%M:%SZ)T","level":"info","service":"%s","msg":"%s"}\n' \
        -1 all-in-one "$1"
}

start() {
    local name=$1
    shift
    "$@" &
    pids[$name]=$!
}

# Ends the processes with these names, if they run, and waits for them.
end() {
    local signal=$1 name
    shift
    for name; do
        [[ -z ${pids[$name]:-} ]] || kill "-$signal" -- "-${pids[$name]}" 2>/dev/null || true
    done
    for name; do
        [[ -z ${pids[$name]:-} ]] || wait "${pids[$name]}" || true
        unset "pids[$name]"
    done
}

# Services first, for they drain into the other two.
services=(gateway mail-ingest webhook-dispatcher inbox rate-limit)
stop() {
    trap '' TERM INT
    rm -f /tmp/ready
    say 'stopping'
    end TERM "${services[@]}"
    end TERM kafka
    end INT postgres
    say 'stopped'
    exit "$1"
}
trap 'stop 0' TERM INT
trap 'say "a step of the start failed"; stop 1' ERR

# until_true SECONDS COMMAND...: the command's success, or the failure of the start.
until_true() {
    local deadline=$((SECONDS + $1)) name
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < deadline)) || { say "not in time: $*"; return 1; }
        for name in "${!pids[@]}"; do
            kill -0 "${pids[$name]}" 2>/dev/null || { say "$name ended"; return 1; }
        done
        sleep 0.2
    done
}

make_keys() {
    umask 077
    mkdir -p "$keys"
    [[ -s $keys/rpc-token ]] || head -c 24 /dev/urandom | base64 >"$keys/rpc-token"
    [[ -s $keys/master-key ]] || echo "test:$(head -c 32 /dev/urandom | base64)" >"$keys/master-key"
    echo "$password" >"$keys/password"
    umask 022
}

# service NAME ADMIN_PORT SETTING=VALUE...; what the user set wins over what is set here.
service() {
    local name=$1 port=$2 setting
    shift 2
    (
        for setting in "TEMPINBOX_ADMIN_LISTEN=0.0.0.0:$port" "$@"; do
            [[ -v ${setting%%=*} ]] || export "$setting"
        done
        exec "/usr/bin/tempinbox-$name"
    ) &
    pids[$name]=$!
}

ready() {
    local port
    for port in 9090 9091 9092 9093 9094; do
        /usr/lib/nagios/plugins/check_http -I 127.0.0.1 -p $port -u /readyz || return 1
    done
}

make_keys
# Small WAL files, for the image holds some.
PGDATA=$data/postgres POSTGRES_USER=tempinbox POSTGRES_PASSWORD=tempinbox \
    POSTGRES_INITDB_ARGS="--wal-segsize=1 --no-sync" \
    start postgres /usr/bin/postgres-server -c listen_addresses=127.0.0.1 -c max_connections=100 \
    -c fsync=off -c synchronous_commit=on -c full_page_writes=off -c shared_buffers=64MB \
    -c min_wal_size=2MB -c max_wal_size=1GB
KAFKA_LOG_DIRS=$data/kafka \
    KAFKA_LISTENERS=PLAINTEXT://127.0.0.1:19092,CONTROLLER://127.0.0.1:19093 \
    KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:19092 \
    KAFKA_CONTROLLER_QUORUM_VOTERS=1@127.0.0.1:19093 KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0 \
    KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS=4 start kafka /usr/bin/kafka

database=TEMPINBOX_DATABASE=postgresql://tempinbox:tempinbox@127.0.0.1:5432/tempinbox
brokers=TEMPINBOX_KAFKA_BROKERS=127.0.0.1:19092
token=TEMPINBOX_RPC_TOKEN_FILE=$keys/rpc-token
master_key=TEMPINBOX_MASTER_KEY_FILE=$keys/master-key
calls=(TEMPINBOX_INBOX_RPC=127.0.0.1:9101 TEMPINBOX_RATE_LIMIT_RPC=127.0.0.1:9102
    TEMPINBOX_WEBHOOK_DISPATCHER_RPC=127.0.0.1:9103)
# Receivers and senders of a test are on its own machine or network, also those with a login, whose
# password comes in the clear (docs/decisions/0033-all-in-one-takes-logins-in-the-clear.md).
private=10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,127.0.0.0/8,fc00::/7,::1/128

ctl() (
    export "$database" "$brokers" "$token" "${calls[@]}"
    exec /usr/bin/tempinboxctl "$@" >/dev/null
)
wait_for_kafka() {
    until_true 600 eval '(exec 3<>/dev/tcp/127.0.0.1/19092)'
}

# Schemas and topics, unless this version has made them: the image has those of its own.
version=$(/usr/bin/tempinboxctl --version)
prepared=$data/prepared
until_true 600 /usr/bin/pg_isready -q -h 127.0.0.1
if [[ ! -e $prepared || $(<"$prepared") != "$version" ]]; then
    (export "$database" && exec /usr/bin/tempinbox-migrate >/dev/null)
    wait_for_kafka
    ctl topics apply /usr/share/tempinbox/kafka/topics.json --partitions 4 --replication 1
    echo "$version" >"$prepared"
fi
if [[ ${1:-} == --prepare ]]; then
    PGPASSWORD=tempinbox /usr/bin/psql --quiet --host 127.0.0.1 --username tempinbox \
        --command 'DROP DATABASE postgres' tempinbox
    rm -r "$keys"
    stop 0
fi
service rate-limit 9091 "$database" "$token" TEMPINBOX_RPC_LISTEN=127.0.0.1:9102
# The others after Kafka: a producer that meets it half started waits seconds before it tries again.
wait_for_kafka
service inbox 9092 "$database" "$brokers" "$token" TEMPINBOX_RPC_LISTEN=127.0.0.1:9101
service webhook-dispatcher 9093 "$database" "$brokers" "$token" "$master_key" \
    TEMPINBOX_RPC_LISTEN=127.0.0.1:9103 TEMPINBOX_WEBHOOK_ALLOW_HTTP=true \
    TEMPINBOX_WEBHOOK_ALLOW_NETWORKS=$private
service mail-ingest 9094 "$database" "$brokers" TEMPINBOX_SMTP_LISTEN=0.0.0.0:2525 \
    TEMPINBOX_HOSTNAME="mx.$domain" TEMPINBOX_EXEMPT_NETWORKS=$private \
    TEMPINBOX_INBOX_RATE_PER_MINUTE=0 TEMPINBOX_SPOOL_DIRECTORY=/tmp/spool \
    TEMPINBOX_SUBMISSION_CLEAR_LISTEN=0.0.0.0:1025 TEMPINBOX_SUBMISSION_CLEAR_NETWORKS=$private \
    TEMPINBOX_CAPTURE_RATE_PER_MINUTE=0
service gateway 9090 "$database" "$brokers" "$token" "$master_key" "${calls[@]}" \
    TEMPINBOX_LISTEN=0.0.0.0:8080 TEMPINBOX_EXEMPT_NETWORKS=$private TEMPINBOX_SIGNUP=open \
    TEMPINBOX_DASHBOARD_FILES=/usr/share/tempinbox/dashboard \
    TEMPINBOX_DOWNLOAD_FILES=/usr/share/tempinbox/downloads \
    TEMPINBOX_CAPTURE_HOST=localhost TEMPINBOX_CAPTURE_CLEAR_PORTS=1025
# Again and again, for they may be done twice: on a busy machine services answer late.
until_true 600 ctl plan set premium --burst-per-second 0
until_true 600 ctl bootstrap --domain "$domain" --email "$email" --plan premium \
    --password-file "$keys/password" --key-file "$data/api-key"
until_true 600 ctl domain set "$domain" --subdomains on
until_true 600 ready
touch /tmp/ready
say 'ready'

# The trap of TERM runs at once only while the shell waits for processes in the background.
wait -n || true
say 'a process ended by itself'
stop 1
