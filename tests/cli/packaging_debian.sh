#!/usr/bin/env bash
# packaging_debian.sh - packaging/debian fits the sources; tests/packages/debian.sh builds and uses the packages.
set -euo pipefail

# shellcheck source=tests/support/cli.sh
. "$(dirname "$0")/../support/cli.sh"

is "the package has the version of the sources" "$(sed -nE '1s/^ddpbench \((.*)-[^-]*\) .*/\1/p' "$root/packaging/debian/changelog")" \
    "$(head -n 1 "$root/bench/VERSION")"
is "the package has the licence of the sources" "$(sed -n '/^ Permission/,$s/^ [.]\{0,1\}//p' "$root/packaging/debian/copyright")" \
    "$(sed -n '/^Permission/,$p' "$root/LICENSE")"
exit "$failed"
