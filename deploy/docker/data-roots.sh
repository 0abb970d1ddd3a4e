#!/bin/sh
# Collects what the images of PostgreSQL, of Kafka and of everything in one hold, below /roots:
# `shell` is below all three, `postgres`, `kafka` and `all-in-one` come on top of it, and
# `collations` on top of `postgres`, where it is an image by itself.
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
# What deploy/compose/backup.sh runs.
with_libraries /roots/postgres /bin/cp /bin/gzip /bin/mv /bin/sync /usr/bin/cmp
for name in postgres initdb pg_basebackup pg_isready pg_dump psql; do
    with_libraries /roots/postgres "$server/bin/$name"
    ln -s "$server/bin/$name" "/roots/postgres/usr/bin/$name"
done
find "$server/lib" -name '*.so' ! -name 'llvmjit*' | while read -r library; do
    copy "$library" /roots/postgres
done
copy_folder "/usr/share/postgresql/$(basename "$server")" /roots/postgres
rm -r "/roots/postgres/usr/share/postgresql/$(basename "$server")/man"
copy_folder /usr/share/zoneinfo /roots/postgres
copy_folder /usr/lib/locale/C.utf8 /roots/postgres
install -D -m 755 /context/deploy/docker/postgres.sh /roots/postgres/usr/bin/postgres-server
install -d -m 700 -o 10001 -g 10001 /roots/postgres/var/lib/postgresql/data
record_packages /roots/postgres
# ICU's data, a tenth of all-in-one: tests get the root collation, without languages.
icu=$(cd /roots/postgres && find . -name 'libicudata.so.*')
mkdir -p "/roots/collations/$(dirname "$icu")" "/roots/all-in-one/$(dirname "$icu")"
mv "/roots/postgres/$icu" "/roots/collations/$icu"
mkdir -p /tmp/icu/small
(
    cd /tmp/icu
    data=icudt${icu##*.}  # the name of the symbol, and with an l for little-endian of the package
    objcopy -O binary --only-section=.rodata "/roots/collations/$icu" "${data}l.dat"
    icupkg --list "${data}l.dat" | grep -E '/|\.res$|\.cnv$' | grep -vE "^($(echo \
        coll/root.res coll/res_index.res coll/ucadata.icu en.res en_US.res icustd.res icuver.res \
        keyTypeData.res langInfo.res metadata.res numberingSystems.res plurals.res pool.res \
        res_index.res root.res supplementalData.res timezoneTypes.res zoneinfo64.res |
        sed 's/[.]/[.]/g; s/ /|/g'))\$" >removed.txt
    icupkg --remove removed.txt "${data}l.dat" "small/${data}l.dat"
    cp "small/${data}l.dat" icu.dat
    ld -r -b binary -o icu.o icu.dat
    objcopy --redefine-sym "_binary_icu_dat_start=${data}_dat" \
        --strip-symbol _binary_icu_dat_end --strip-symbol _binary_icu_dat_size \
        --rename-section .data=.rodata,alloc,load,readonly,data,contents \
        --set-section-alignment .data=16 icu.o
    ld -shared -soname "$(basename "$icu")" -z noexecstack -o "/roots/all-in-one/$icu" icu.o
)

# Java with the modules that Kafka names, by Debian's jlink.
jdk=$(dirname "$(dirname "$(readlink -f /usr/bin/jlink)")")
java=/roots/kafka/usr/lib/jvm/java
mkdir -p /roots/kafka/usr/share/kafka "$(dirname "$java")"
"$jdk/bin/jlink" --output "$java" --strip-debug --no-header-files --no-man-pages \
    --compress zip-6 --add-modules "$(echo \
        java.base java.logging java.management java.naming java.security.jgss java.security.sasl \
        java.sql java.xml jdk.crypto.ec jdk.management jdk.net jdk.security.auth \
        jdk.security.jgss jdk.unsupported | tr ' ' ,)"
cp -L /etc/ssl/certs/java/cacerts "$java/lib/security/cacerts"
# Java leaves class data unused where this file has another time than when it was written.
touch -d @315532800 "$java/lib/modules"
echo "$jdk/lib/modules" >>"$(list_of /roots/kafka)"
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
rm /roots/kafka/usr/share/kafka/scala-reflect-*.jar  # of Scala's compiler
# Libraries for other machines, in the jars that bring some for each.
case $(dpkg --print-architecture) in
amd64) machine='amd64|x86_64' ;;
arm64) machine='aarch64' ;;
esac
for jar in /roots/kafka/usr/share/kafka/zstd-jni-*.jar \
    /roots/kafka/usr/share/kafka/snappy-java-*.jar /roots/kafka/usr/share/kafka/lz4-java-*.jar; do
    mkdir /tmp/jar
    (
        cd /tmp/jar
        "$jdk/bin/jar" --extract --file "$jar"
        find . -type f | grep -E '\.(so|a|dll|dylib|jnilib)$' | grep -viE "/linux/($machine)/" |
            xargs rm
        find . -type f ! -path ./META-INF/MANIFEST.MF | LC_ALL=C sort >/tmp/files
        "$jdk/bin/jar" --create --file "$jar" --date 1980-01-01T00:00:02Z \
            --manifest META-INF/MANIFEST.MF @/tmp/files
    )
    touch -d @315532800 "$jar"  # as ./dev image has it
    rm -r /tmp/jar
done
install -D -m 755 /context/deploy/docker/kafka.sh /roots/kafka/usr/bin/kafka
install -D -m 755 /context/deploy/docker/kafka-classes.sh \
    /roots/kafka/usr/lib/tempinbox/kafka-classes
install -d -m 700 -o 10001 -g 10001 /roots/kafka/var/lib/kafka/data
record_packages /roots/kafka

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
