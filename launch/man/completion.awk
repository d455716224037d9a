# completion.awk - makes the tables of the completion for bash (completion.bash) of what `ddpbench [COMMAND] --help rows`
# prints, a file for each command with command=NAME before it; and of --help of the scripts, with script=NAME before it.

function add(command, option) {
    if (!(command in options)) order[++n] = command
    options[command] = options[command] " " option
}

/^\t/ { # name, letter, what a value is called, default, choices, help
    split($0, field, "\t")
    add(command, "--" field[2])
    words = field[6]
    gsub(/\|/, " ", words)
    if (field[4] == "IMPLEMENTATIONS") words = "$implementations"
    letter = field[3] == "-" ? "" : " | " command ":-" field[3]
    if (words != "") values = values "    " command ":--" field[2] letter ") echo \"" words "\" ;;\n"
}
script == "" && match($0, /^       .*ddpbench [a-z]+ .*; has a --help$/) {
    split(substr($0, index($0, "ddpbench ")), part, " ")
    commands = commands " " part[2]
}
/^[^ ]/ { listing = script == "" && /^Implementations:/ }
listing && /^  [a-z]/ && index(names " ", " " $1 " ") == 0 { names = names " " $1 }
script != "" && match($0, /^  (-[a-z], )?--[a-z][a-z-]*/) {
    word = substr($0, RSTART, RLENGTH)
    sub(/.* /, "", word)
    add(script, word)
}
script != "" && /^  [a-z]+ / { add(script, $1) }

END {
    print "# Completion for ddpbench and its scripts, made from their help, for bash; zsh reads it by bashcompinit."
    print "_ddpbench_options() {\n    case $1 in"
    for (i = 1; i <= n; i++)
        printf "    '%s') echo '%s%s' ;;\n", order[i], substr(options[order[i]], 2), \
            order[i] ~ /-/ ? "" : " --help --version" (order[i] == "" ? commands : "")
    print "    esac\n}\n_ddpbench_values() {\n    local implementations='all" names "'\n    case $1 in"
    printf "%s    *:--help) echo all ;;\n    esac\n}\n", values
}
