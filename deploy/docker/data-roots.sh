#!/bin/sh
# Collects what the images of PostgreSQL, of Kafka and of everything in one hold, below /roots:
# `shell` is below all three, `postgres`, `kafka` and `all-in-one` come on top of it.
set -eu
. /context/deploy/docker/collect.sh

# with_libraries ROOT FILE...: programs or libraries, and what they load.
with_libraries() {
    root=$1
    shift
    for file; do
        for part in "$file" $(libraries "$file"); do
            [ -e "/roots/shell$(merged "$part")" ] || copy "$part" "$root"
        done
    done
}

base_root /roots/shell
with_libraries /roots/shell /bin/bash /bin/cat /bin/chmod /bin/chown /bin/mkdir /bin/rm \
    /bin/sleep /bin/touch /usr/bin/base64 /usr/bin/head /usr/bin/test
ln -s bash /roots/shell/usr/bin/sh
certificates /roots/shell
record_packages /roots/shell

# PostgreSQL without LLVM, which would compile long queries at run time and weighs 120 MB.
server=$(echo /usr/lib/postgresql/*)
mkdir -p /roots/postgres/usr/bin
with_libraries /roots/postgres /usr/bin/locale
for name in postgres initdb pg_isready pg_dump psql; do
    with_libraries /roots/postgres "$server/bin/$name"
    ln -s "$server/bin/$name" "/roots/postgres/usr/bin/$name"
done
find "$server/lib" -name '*.so' ! -name 'llvmjit*' | while read -r library; do
    copy "$library" /roots/postgres
done
copy_folder "/usr/share/postgresql/$(basename "$server")" /roots/postgres
copy_folder /usr/share/zoneinfo /roots/postgres
copy_folder /usr/lib/locale/C.utf8 /roots/postgres
install -D -m 755 /context/deploy/docker/postgres.sh /roots/postgres/usr/bin/postgres-server
install -d -m 700 -o 10001 -g 10001 /roots/postgres/var/lib/postgresql/data
record_packages /roots/postgres

java=$(dirname "$(dirname "$(readlink -f /usr/bin/java)")")
mkdir -p /roots/kafka/usr/share/kafka
# -L: Debian's Java has its settings below /etc, by links.
mkdir -p /roots/kafka/usr/lib/jvm
cp -rL --preserve=timestamps "$java" /roots/kafka/usr/lib/jvm/java 2>/dev/null || true  # links to what is not installed
rm -rf /roots/kafka/usr/lib/jvm/java/man /roots/kafka/usr/lib/jvm/java/docs
find "$java" -type f >>"$(list_of /roots/kafka)"
for library in $(find "$java" -name '*.so' -o -path "$java/bin/java"); do
    for part in $(ldd "$library" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p'); do
        case $part in
        "$java"/*) continue ;;
        esac
        [ -e "/roots/shell$(merged "$part")" ] || copy "$part" /roots/kafka
    done
done
# The jars bring libraries of their own for zstd and snappy, which load these by their old names.
for name in libpthread.so.0 libdl.so.2 librt.so.1 libm.so.6 libgcc_s.so.1 libstdc++.so.6; do
    library=$(ldconfig -p | sed -n "s,.* => \(/.*/$name\)\$,\1,p" | head -n 1)
    [ -e "/roots/shell$(merged "$library")" ] || copy "$library" /roots/kafka
done
cp -p /context/kafka/*.jar /roots/kafka/usr/share/kafka/
install -D -m 755 /context/deploy/docker/kafka.sh /roots/kafka/usr/bin/kafka
install -D -m 755 /context/deploy/docker/kafka-classes.sh \
    /roots/kafka/usr/lib/tempinbox/kafka-classes
install -d -m 700 -o 10001 -g 10001 /roots/kafka/var/lib/kafka/data
record_packages /roots/kafka

mkdir -p /roots/all-in-one
for image in service gateway inbox mail-ingest rate-limit webhook-dispatcher tools; do
    cp -an "/roots/$image/." /roots/all-in-one/
done
# What the layers below have already.
(cd /roots/all-in-one && find . -type f) | while read -r file; do
    for below in shell postgres kafka; do
        [ ! -e "/roots/$below/$file" ] || rm -f "/roots/all-in-one/$file"
    done
done
install -D -m 755 /context/deploy/docker/all-in-one.sh /roots/all-in-one/usr/bin/all-in-one
install -d -m 700 -o 10001 -g 10001 /roots/all-in-one/var/lib/tempinbox
