#!/bin/sh
# Starts what the tests need beside the program: PostgreSQL and Redis on spare ports of this machine, with nothing
# kept. Installs from Debian what is missing (as root), with the clients that examples/ are for and the browser that
# the front page is tried in. Run again, it finds all of it running; "services.sh stop" ends them.
set -eu

home=${UNINK_TEST_SERVICES:-/tmp/unink-services}
postgres_port=55432
redis_port=56379

missing=
[ -n "$(ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || missing=postgresql
for package in redis-server curl jq python3 nodejs chromium; do
    command -v "${package%js}" >/dev/null || missing="$missing $package" # nodejs brings node
done
if [ -n "$missing" ]; then
    apt-get update -qq
    # Debian would start a cluster of its own on the usual port; nobody here asked for one.
    mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
bin=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb | tail -n 1)")

mkdir -p "$home"
as_postgres() { "$@"; }
if [ "$(id -u)" = 0 ]; then # PostgreSQL will not run as root
    chown postgres "$home"
    as_postgres() { runuser -u postgres -- "$@"; }
fi
cd "$home"
if [ "${1:-start}" = stop ]; then
    redis-cli -p $redis_port shutdown nosave 2>/dev/null || true
    as_postgres "$bin/pg_ctl" -D "$home/postgres" -w -m fast stop >/dev/null 2>&1 || true
    exit
fi
if [ ! -f "$home/postgres/PG_VERSION" ]; then
    as_postgres "$bin/initdb" -D "$home/postgres" -U unink --auth=trust --encoding=UTF8 --no-sync >/dev/null
fi
if ! as_postgres "$bin/pg_ctl" -D "$home/postgres" status >/dev/null; then
    as_postgres "$bin/pg_ctl" -D "$home/postgres" -w -t 60 -l "$home/postgres.log" \
        -o "-p $postgres_port -h 127.0.0.1 -k $home -c fsync=off -c full_page_writes=off -c max_connections=300" start >/dev/null
fi
if ! redis-cli -p $redis_port ping >/dev/null 2>&1; then
    redis-server --port $redis_port --bind 127.0.0.1 --save '' --appendonly no --daemonize yes \
        --dir "$home" --logfile "$home/redis.log" >/dev/null
fi
echo "PostgreSQL on 127.0.0.1:$postgres_port, Redis on 127.0.0.1:$redis_port"
