#!/usr/bin/env bash
# Writes go.mod and go.sum for one Kubernetes release: ./update-modules.sh v1.37.2
#
# k8s.io/kubernetes requires its staging modules at v0.0.0 and replaces them by
# local folders. Replace lines of a dependency do not count, so this module has
# to replace each of them by the published module of the same release
# (v1.37.2 is published as v0.37.2). Dated pseudo-versions stay as they are.
set -euo pipefail
cd "$(dirname "$0")"

version=${1:?usage: $0 vMAJOR.MINOR.PATCH}
staging=v0.${version#v*.}

upstream=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
go_version=$(sed -n 's/^go //p' "$upstream")

{
    echo "// Written by ./update-modules.sh $version."
    echo "module stowplan.dev/e2e/controlplane"
    echo
    echo "go $go_version"
    echo
    echo "require k8s.io/kubernetes $version"
    echo
    echo "replace ("
    sed -n "s/^\t\(k8s.io\/[a-z-]*\) v0\.0\.0\( .*\)*$/\t\1 => \1 $staging/p" "$upstream"
    echo ")"
} >go.mod
rm -f go.sum
go mod tidy
