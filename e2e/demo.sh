#!/usr/bin/env bash
# Shows Stowplan at work on a real API server, all of it on loopback.
#
#   e2e/demo.sh [EXAMPLE...]     examples are files or folders; default below
#
# Builds stowplan and the control plane (Go; six minutes when cold), starts the
# control plane in a temporary folder, applies the example, schedules it, prints
# which pod went where with which devices, and stops all that it started.
set -euo pipefail
cd "$(dirname "$0")/.."

examples=("$@")
if [ ${#examples[@]} -eq 0 ]; then
    examples=(docs/examples/numa-aligned-gpus.yaml)
fi
profile=${STOWPLAN_DEMO_PROFILE:-release}

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

command -v go >/dev/null || { echo "demo.sh needs Go to build the control plane" >&2; exit 2; }
say "building"
cargo build --profile "${profile/debug/dev}" --bin stowplan
e2e/controlplane/build.sh
stowplan=target/${profile/dev/debug}/stowplan
controlplane=e2e/controlplane/bin/controlplane

state=$(mktemp -d)
pids=()
stop() {
    # Last started, first stopped; each by its own pid.
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill -TERM "${pids[i]}" 2>/dev/null || true
        wait "${pids[i]}" 2>/dev/null || true
    done
    rm -rf "$state"
}
trap stop EXIT

say "starting etcd, kube-apiserver and the claim controller on loopback"
"$controlplane" up --dir "$state" >"$state/started.json" &
pids+=($!)
until [ -s "$state/started.json" ]; do
    kill -0 "${pids[0]}" 2>/dev/null || { echo "the control plane did not start" >&2; exit 1; }
    sleep 0.1
done
cat "$state/started.json"

say "granting what manifests/rbac.yaml grants, and starting stowplan"
admin=$state/admin.kubeconfig
"$controlplane" apply --kubeconfig "$admin" -f manifests/rbac.yaml
"$stowplan" run --kubeconfig "$state/stowplan.kubeconfig" --scheduler-name stowplan --leader-elect=false \
    2>"$state/stowplan.log" &
pids+=($!)

say "applying ${examples[*]}"
"$controlplane" apply --kubeconfig "$admin" --scheduler-name stowplan --settle 20s "${examples[@]/#/-f=}"

say "which pod went where, with which devices"
"$controlplane" placements --kubeconfig "$admin" --wait 30s

say "what stowplan said"
cat "$state/stowplan.log"
say "stopping"
