#!/bin/bash
# Backups of production.yaml's PostgreSQL in the folder /backup: base backups, and every WAL segment
# since the oldest of them. Runs in PostgreSQL's image.
#
#   backup.sh take               makes a base backup, and removes those that are no longer kept
#   backup.sh list               says which base backups there are
#   backup.sh restore BASE [MOMENT]
#                                brings a base backup back, and with it everything up to the moment,
#                                such as '2026-11-21 10:30:00+00'; the data before go to /backup
#   backup.sh archive PATH NAME  keeps a WAL segment (archive_command)
#   backup.sh fetch NAME PATH    brings it back (restore_command)
set -euo pipefail

# PostgreSQL's user, where a container of the public image starts as root.
if [[ $EUID == 0 ]] && command -v gosu >/dev/null; then
    exec gosu postgres /bin/bash "$0" "$@"
fi
umask 077
backups=${BACKUP_FOLDER:-/backup}
data=${PGDATA:-/var/lib/postgresql/data}

die() {
    echo "backup: $1" >&2
    exit 1
}

now() {
    TZ=UTC printf '%(%Y%m%dT%H%M%SZ)T' -1
}

# A segment is complete under its name, or not there: PostgreSQL tries again until this succeeds.
archive() {
    local kept=$backups/wal/$2.gz
    mkdir -p "$backups/wal"
    if [[ -e $kept ]]; then
        gzip -dc "$kept" | cmp -s - "$1" || die "$2 is archived already, with other content"
        return
    fi
    gzip -1 -c "$1" >"$backups/wal/.$2"
    sync "$backups/wal/.$2"
    mv "$backups/wal/.$2" "$kept"
    sync "$backups/wal"
}

fetch() {
    [[ -e $backups/wal/$1.gz ]] || exit 1
    gzip -dc "$backups/wal/$1.gz" >"$2"
}

take() {
    local base
    base=base-$(now)
    rm -rf "$backups"/.base-*
    PGPASSWORD=$POSTGRES_PASSWORD pg_basebackup --host 127.0.0.1 --username "$POSTGRES_USER" \
        --pgdata "$backups/.$base" --checkpoint fast --wal-method stream
    mv "$backups/.$base" "$backups/$base"
    sync "$backups"
    prune
    echo "$base"
}

# Removes the base backups past BACKUPS_KEPT, and the WAL from before the oldest that is left.
prune() {
    local bases=("$backups"/base-*) label first segment
    while ((${#bases[@]} > ${BACKUPS_KEPT:-7})); do
        rm -rf "${bases[0]}"
        bases=("${bases[@]:1}")
    done
    label=$(<"${bases[0]}/backup_label")
    [[ $label =~ \(file\ [0-9A-F]{8}([0-9A-F]{16})\) ]] ||
        die "${bases[0]} does not say where it begins"
    first=${BASH_REMATCH[1]}
    for segment in "$backups"/wal/*; do
        # A name is a timeline and a place; a file of a timeline's history has no place, and stays.
        if [[ ${segment##*/} =~ ^[0-9A-F]{8}([0-9A-F]{16}) && ${BASH_REMATCH[1]} < $first ]]; then
            rm -f "$segment"
        fi
    done
}

list() {
    local base
    for base in "$backups"/base-*; do
        [[ ! -d $base ]] || echo "${base##*/}"
    done
}

restore() {
    local base=$backups/$1 moment=${2:-} line
    [[ $1 == base-* && -e $base/backup_label ]] || die "there is no backup $1; there are: $(list)"
    [[ ! $moment || $moment =~ ^[0-9]{4}(-[0-9]{2}){2}\ [0-9:.]+\+00$ ]] ||
        die "a moment is in UTC, such as '2026-11-21 10:30:00+00', not '$moment'"
    [[ ! -e $data/postmaster.pid ]] ||
        die "PostgreSQL runs, or was killed: end it by docker-compose stop postgres"
    local before
    before=$backups/before-$(now)
    if [[ -e $data/PG_VERSION ]]; then
        cp -a "$data" "$before"
        sync
        echo "the data before are in ${before##*/}"
    fi
    rm -rf "${data:?}"/*
    cp -a "$base/." "$data"
    chmod 700 "$data"
    # A backup from after a restore has what that one wrote.
    while IFS= read -r line; do
        [[ $line == recovery_target* || $line == restore_command* ]] || echo "$line"
    done <"$base/postgresql.auto.conf" >"$data/postgresql.auto.conf"
    {
        echo "restore_command = 'bash /scripts/backup.sh fetch %f %p'"
        echo "recovery_target_action = 'promote'"
        [[ ! $moment ]] || echo "recovery_target_time = '$moment'"
    } >>"$data/postgresql.auto.conf"
    : >"$data/recovery.signal"
    sync
    echo "restored: PostgreSQL goes on to ${moment:-the end of the archive} when it starts"
}

case ${1:-} in
archive) archive "$2" "$3" ;;
fetch) fetch "$2" "$3" ;;
take) take ;;
prune) prune ;;
list) list ;;
restore) restore "${2:-}" "${3:-}" ;;
*) die "take, list, restore BASE [MOMENT]" ;;
esac
