#!/bin/sh
# Two network namespaces joined by a virtual cable: answers probes in one, probes from the other.
#   two_namespaces.sh HALMARK FILE      (in a user namespace of its own: unshare --user --map-root-user --net --mount)
# Ends with 77 where this machine lets nobody make them.
set -eu
halmark=$1 file=$2
ip link set lo up || exit 77
unshare --net sleep 120 >/dev/null 2>&1 &
other=$!
trap 'kill $other $answering 2>/dev/null || true' EXIT
answering=$other
# Until the other process has its namespace.
for _ in $(seq 100); do
  [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ] && break
  sleep 0.1
done
ip link add hm0 type veth peer name hm1 netns $other || exit 77
ip addr add 10.77.0.1/24 dev hm0 && ip link set hm0 up
in_other() { nsenter --target $other --net -- "$@"; }
in_other ip addr add 10.77.0.2/24 dev hm1
in_other ip link set hm1 up
# Not by the function: $! would be a shell that leaves its child behind.
nsenter --target $other --net -- "$halmark" fabric probe --listen 10.77.0.2:7777 >/dev/null 2>&1 &
answering=$!
# Until it listens at that port (1E61).
for _ in $(seq 200); do
  grep -q ':1E61 00000000:0000 0A' /proc/$other/net/tcp && break
  sleep 0.1
done
"$halmark" fabric probe --peer 10.77.0.2:7777 --id two-namespaces --out "$file" --json
