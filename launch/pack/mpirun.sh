#!/bin/sh
# mpirun - runs MPICH's mpirun with only its own libraries on the path that ranks inherit. Its proxy is next to it.
root=$(cd "${0%/*}/.." && pwd)
export LD_LIBRARY_PATH="$root/lib/hydra${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/programs/hydra/mpirun" "$@"
