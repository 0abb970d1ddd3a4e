#!/bin/bash
# Refuses what would work today and hurt later, all of it at once: runs before everything else of
# production.yaml, as the user of the services.
set -euo pipefail

certificates=${1:-/certificates}
refused=()
refuse() {
    refused+=("$1")
}

[[ $MAIL_DOMAIN =~ ^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$ ]] ||
    refuse "MAIL_DOMAIN must be a name such as inbox.example.com, in small letters"
[[ $MAIL_DOMAIN != *.example ]] || refuse "MAIL_DOMAIN is that of the example, $MAIL_DOMAIN"
[[ $ACCOUNT_EMAIL == ?*@?*.?* ]] || refuse "ACCOUNT_EMAIL must be an address"
[[ $ACCOUNT_EMAIL != *@example.com ]] || refuse "ACCOUNT_EMAIL is that of the example"
if [[ $ACCOUNT_PASSWORD == change-me* ]]; then
    refuse "ACCOUNT_PASSWORD is that of the example"
elif ((${#ACCOUNT_PASSWORD} < 12)); then
    refuse "ACCOUNT_PASSWORD must have at least 12 characters"
fi
# It is a part of a URI.
[[ $POSTGRES_PASSWORD =~ ^[A-Za-z0-9]{16,128}$ ]] ||
    refuse "POSTGRES_PASSWORD must be 16 to 128 letters and digits, such as of: openssl rand -hex 24"
[[ $BACKUPS_KEPT =~ ^[1-9][0-9]{0,2}$ ]] || refuse "BACKUPS_KEPT must be a number from 1 to 999"
[[ $SIGNUP == open || $SIGNUP == closed ]] || refuse "SIGNUP must be open or closed"

check_pem() { # FILE WHAT
    local path=$certificates/$1
    if [[ ! -e $path ]]; then
        refuse "CERTIFICATES has no $1"
    elif [[ ! -r $path ]]; then
        refuse "CERTIFICATES: user 10001 may not read $1"
    elif [[ $(cat "$path") != *"-----BEGIN "*"$2-----"* ]]; then
        refuse "CERTIFICATES: $1 has no $2 in PEM"
    fi
}
check_pem fullchain.pem CERTIFICATE
check_pem privkey.pem "PRIVATE KEY"

for line in "${refused[@]}"; do
    echo "refused: $line" >&2
done
((${#refused[@]} == 0))
