#!/bin/sh
# What the chart needs of the official image's entry point: POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, PGDATA.
set -eu
mkdir -p "$PGDATA"
chmod 700 "$PGDATA" || true  # group rights that came with fsGroup
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
    initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=/tmp/password --encoding=UTF8 \
        --locale=C --auth-local=trust --auth-host=scram-sha-256
    rm /tmp/password
    echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
    echo "CREATE DATABASE $POSTGRES_DB;" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA" -c 'listen_addresses=*' -c unix_socket_directories=/var/run/postgresql
