# slurmconf.sh - the configuration of slurm.sh: what its keys are, what each may be, and the file that holds them.
# Read by slurm.sh, which defines slurm_says(), need_slurm(), check_names() and job_options(), and sets program.
# shellcheck shell=bash disable=SC2154 # what slurm.sh sets

# In the order in which they are written. Their options have - for _.
keys=(partition account time gpus_per_node tasks_per_node cpus_per_task constraint qos mpi modules exclusive)
declare -A conf=() # KEY: value; '' is Slurm's own default

# allowed KEY: a pattern for its values, and the words for that; both on lines of their own.
allowed() {
    case $1 in
    account | qos) echo "[A-Za-z0-9_.@+-]{0,99}" && echo "a name of letters, digits and _ . @ + -, or nothing" ;;
    partition) echo "[A-Za-z0-9_.+-]{0,99}" && echo "a name of letters, digits and _ . + -, or nothing: Slurm's default" ;;
    time)
        echo "[1-9][0-9]{0,5}|[0-9]{1,4}:[0-5][0-9]:[0-5][0-9]|[0-9]{1,3}-[0-9]{1,2}(:[0-5][0-9]){0,2}"
        echo "minutes such as 30, or H:MM:SS, or DAYS-HH:MM:SS"
        ;;
    gpus_per_node) echo "[0-9]{1,3}" && echo "a number from 0 to 999" ;;
    tasks_per_node) echo "[1-9][0-9]{0,3}" && echo "a number from 1 to 9999" ;;
    cpus_per_task) echo "([1-9][0-9]{0,3})?" && echo "a number from 1 to 9999, or nothing: as Slurm shares them" ;;
    constraint) echo "[]A-Za-z0-9_.,:&|*()@+[-]{0,200}" && echo "features such as a100 or 'haswell&ssd', or nothing" ;;
    mpi) echo "pmi2|pmix" && echo "pmi2 or pmix" ;;
    modules)
        echo "([A-Za-z0-9._/+-]+( [A-Za-z0-9._/+-]+)*)?"
        echo "names such as 'mpich/4.0 cuda', of letters, digits and . _ / + -, parted by one blank each; or nothing"
        ;;
    exclusive) echo "yes|no" && echo "yes or no" ;;
    esac
}

# check_value KEY VALUE: prints what is wrong with it.
check_value() {
    local pattern words
    { read -r pattern && read -r words; } < <(allowed "$1")
    [[ $2 =~ ^($pattern)$ && ($1 != time || $2 == *[1-9]*) ]] || echo "expected $words"
}

# read_configuration FILE: sets conf. Nothing in the file is run.
read_configuration() {
    local line key value why n=0 text
    [ -e "$1" ] || usage_error "there is no configuration $1; make one: launch/slurm.sh configure"
    read_text "the configuration" "$1"
    conf=([partition]='' [account]='' [time]=60 [gpus_per_node]=0 [tasks_per_node]=1 [cpus_per_task]='' [constraint]=''
        [qos]='' [mpi]=pmi2 [modules]='' [exclusive]=yes)
    declare -A seen=()
    while IFS= read -r line || [ -n "$line" ]; do
        n=$((n + 1))
        [[ $line != '#'* && -n $line ]] || continue
        key=${line%%=*} value=${line#*=}
        [[ $line == *=* && " ${keys[*]} " == *" $key "* && $key != *" "* ]] ||
            usage_error "$1, line $n: '$line' is none of KEY=value with a KEY of: ${keys[*]}"
        [ -z "${seen[$key]:-}" ] || usage_error "$1, line $n: $key is there twice"
        seen[$key]=1
        why=$(check_value "$key" "$value")
        [ -z "$why" ] || usage_error "$1, line $n: $key '$value': $why"
        conf[$key]=$value
    done <<<"$text"
}

# partition_facts PARTITION: sets of_partition: its name, how many nodes it has, and the CPUs and GPUs of the smallest node.
# '' is the default one.
partition_facts() {
    local words only=()
    [ -z "$1" ] || only=(-p "$1")
    words=$(timeout 60 sinfo -h "${only[@]}" -o '%P %D %c %G' 2>&1) || slurm_says "$words"
    words=$(awk -v all="$1" '
        all == "" && $1 !~ /[*]$/ { next }
        {
            sub(/[*]$/, "", $1)
            gpus = 0
            if (match($4, /gpu:([^:,(]*:)?[0-9]+/)) {
                gpus = substr($4, RSTART, RLENGTH)
                sub(/.*:/, "", gpus)
            }
            name = $1
            nodes += $2
            if (cpus == "" || $3 + 0 < cpus) cpus = $3 + 0
            if (fewest == "" || gpus + 0 < fewest) fewest = gpus + 0
        }
        END { if (nodes) print name, nodes, cpus, fewest }' <<<"$words")
    [ -n "$words" ] ||
        usage_error "partition '$1': Slurm has none of that name; it has: $(timeout 60 sinfo -h -o %R | sort -u | paste -sd ' ')"
    read -r -a of_partition <<<"$words"
}

# What the program's MPI is started by: pmi2 or pmix; nothing if that cannot be seen.
program_mpi() {
    local libraries
    libraries=$(ldd "$program" 2>/dev/null) || return 0
    if grep -qE 'libopen-(rte|pal)|libpmix' <<<"$libraries"; then
        echo pmix
    elif grep -q libmpi <<<"$libraries"; then
        echo pmi2
    fi
}

# The same, as far as this Slurm has it.
usual_mpi() {
    local known wanted other=pmix
    known=$(timeout 60 srun --mpi=list 2>&1)
    wanted=$(program_mpi)
    wanted=${wanted:-pmi2}
    [ "$wanted" = pmi2 ] || other=pmi2
    grep -qw "$wanted" <<<"$known" || ! grep -qw "$other" <<<"$known" || wanted=$other
    echo "$wanted"
}

# usual KEY: what is taken where nothing is given; some follow from those before.
usual() {
    case $1 in
    partition) echo "${of_partition[0]}" ;;
    time) echo 60 ;;
    gpus_per_node) echo "${of_partition[3]}" ;;
    tasks_per_node) [ "${conf[gpus_per_node]}" = 0 ] && echo 1 || echo "${conf[gpus_per_node]}" ;;
    cpus_per_task)
        local share=$((of_partition[2] / conf[tasks_per_node]))
        [ $share = 0 ] || [ "${conf[exclusive]:-yes}" = no ] || echo $share
        ;;
    mpi) usual_mpi ;;
    exclusive) echo yes ;;
    esac
}

write_configuration() {
    local key
    echo "# Of launch/slurm.sh; configure makes it anew. Nothing after = is Slurm's own default."
    for key in "${keys[@]}"; do
        echo "$key=${conf[$key]}"
    done
}

# configure FILE: conf holds what was given as options.
configure() {
    local key words options
    check_replaceable "$1" '# Of launch/slurm.sh;'
    need_slurm
    check_names
    partition_facts "${conf[partition]:-}"
    for key in "${keys[@]}"; do
        [ -n "${conf[$key]+given}" ] || conf[$key]=$(usual "$key")
    done
    [ "${conf[gpus_per_node]}" -le "${of_partition[3]}" ] ||
        usage_error "--gpus-per-node ${conf[gpus_per_node]}: a node of partition ${of_partition[0]} has ${of_partition[3]}"
    words=$(timeout 60 srun --mpi=list 2>&1) || slurm_says "$words"
    grep -qw "${conf[mpi]}" <<<"$words" ||
        usage_error "--mpi ${conf[mpi]}: srun --mpi=list does not name it"
    words=$(program_mpi)
    [ "${words:-${conf[mpi]}}" = "${conf[mpi]}" ] ||
        say "--mpi ${conf[mpi]}: $program is of an MPI that is usually started by $words;" \
            "see whether a first job has all of its ranks"
    words=$(mkdir -p "$(dirname "$1")" 2>&1) || die "cannot make the directory $(dirname "$1"): ${words##*: }"
    words=$(write_file "$1" write_configuration 2>&1) || die "cannot write $1: ${words##*: }"
    cat "$1"
    options=()
    job_options 1 "${conf[gpus_per_node]}"
    words=$(timeout 60 sbatch --test-only "${options[@]}" --wrap true 2>&1) ||
        say "Slurm would refuse such a job now: $words"
    say "configured: $1"
}
