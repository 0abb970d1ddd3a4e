# Shell functions that copy files of Debian packages, with what they need, into a root filesystem.

# The shared libraries that a program loads, one path a line; fails when one is missing.
libraries() {
    found=$(ldd "$1")
    case $found in
    *'not found'*) echo "$1: $found" >&2; return 1 ;;
    esac
    echo "$found" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p'
}

# Debian's /lib is a link to /usr/lib; in a root filesystem a file has one path.
merged() {
    case $1 in
    /usr/*) echo "$1" ;;
    /lib/* | /lib64/* | /bin/* | /sbin/*) echo "/usr$1" ;;
    *) echo "$1" ;;
    esac
}

# The list of what a root filesystem got from Debian packages.
list_of() {
    echo "/tmp/files-$(basename "$1")"
}

# copy FILE ROOT: a file, or what a link stands for, under the name it was asked for by.
copy() {
    to=$2$(merged "$1")
    mkdir -p "$(dirname "$to")"
    cp -pL "$1" "$to"
    echo "$1" >>"$(list_of "$2")"
}

# copy_folder FOLDER ROOT: a folder with all that is in it.
copy_folder() {
    mkdir -p "$2$(dirname "$1")"
    cp -a "$1" "$2$(dirname "$1")/"
    find "$1" -type f >>"$(list_of "$2")"
}

# Folders, links, and who the programs run as.
base_root() {
    mkdir -p "$1/etc" "$1/tmp" "$1/usr/bin" "$1/usr/lib" "$1/usr/lib64" "$1/usr/sbin"
    chmod 1777 "$1/tmp"
    for folder in bin lib lib64 sbin; do
        ln -s "usr/$folder" "$1/$folder"
    done
    echo 'root:x:0:0:root:/root:/usr/sbin/nologin
tempinbox:x:10001:10001:tempinbox:/nonexistent:/usr/sbin/nologin' >"$1/etc/passwd"
    echo 'root:x:0:
tempinbox:x:10001:' >"$1/etc/group"
    echo 'passwd: files
group: files
hosts: files dns' >"$1/etc/nsswitch.conf"
    copy /etc/os-release "$1"
}

# The certificate authorities where OpenSSL and libcurl look for them, and OpenSSL's settings.
certificates() {
    copy /etc/ssl/certs/ca-certificates.crt "$1"
    copy /etc/ssl/openssl.cnf "$1"
    echo /usr/share/doc/ca-certificates/copyright >>"$(list_of "$1")"
    mkdir -p "$1/usr/lib/ssl"
    ln -s /etc/ssl/certs "$1/usr/lib/ssl/certs"
    ln -s /etc/ssl/openssl.cnf "$1/usr/lib/ssl/openssl.cnf"
    ln -s /etc/ssl/certs/ca-certificates.crt "$1/usr/lib/ssl/cert.pem"
}

converts_charsets() {
    objdump -T "$1" | grep -qw iconv_open
}

# Says which packages the files come from, where scanners of images look for it, with the
# copyright file of each.
record_packages() {
    packages=/tmp/packages
    if [ ! -e $packages.owners ]; then
        for list in /var/lib/dpkg/info/*.list; do
            package=$(basename "$list" .list)
            sed "s,^/lib,/usr/lib,; s,^/bin/,/usr/bin/,; s,\$, ${package%%:*}," "$list"
        done | sort >$packages.owners
    fi
    mkdir -p "$1/var/lib/dpkg/status.d"
    touch "$(list_of "$1")"
    sort -u "$(list_of "$1")" | while read -r file; do
        merged "$file"
        merged "$(readlink -f "$file")"
    done | sort -u | join - $packages.owners | cut -d ' ' -f 2 | sort -u | while read -r package; do
        dpkg-query -s "$package" >"$1/var/lib/dpkg/status.d/$package"
        copyright=/usr/share/doc/$package/copyright
        mkdir -p "$1$(dirname "$copyright")"
        cp -L "$copyright" "$1$copyright"
    done
}
