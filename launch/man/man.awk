# man.awk - makes a manual page (man(7)) of what `ddpbench [COMMAND] --help rows`, or a script's --help, prints.
#
# Variables: name (of the page), summary (a few words), version, also (the other pages, parted by blanks). What it reads
# are blocks, parted by empty lines: "Usage: ", paragraphs, and blocks under a heading that ends with a colon: rows of options, each field behind a tab; "  word   text", which may go
# on in lines that are indented further; or anything else that is indented, which is kept as it stands.

function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/) text = "\\&" text
    return text
}
function bold(text) { return text == "" ? "" : "\\fB" roff(text) "\\fR" }
function sentence(text) { return roff(text (text ~ /[.:]$/ ? "" : ".")) }

function section(title) {
    if (title == now) return
    now = title
    print ".SH " (title ~ / / ? "\"" title "\"" : title)
    fresh = 1
}
function paragraph() {
    if (!fresh) print ".PP"
    fresh = 0
}

# A row of an option table: name, letter, what a value is called, default, choices, help.
function row(line,    field, value, known, i, n) {
    split(line, field, "\t") # before the first tab there is nothing
    value = field[4] == "" ? "" : " \\fI" roff(field[4]) "\\fR"
    print ".TP\n" bold("--" field[2]) value (field[3] == "-" ? "" : ", " bold("-" field[3]) value)
    print sentence(field[7])
    n = split(field[6], known, "|")
    for (i = 1; i <= n && index(field[7], known[i]); i++) continue
    if (i <= n) print "Known: " roff(with_commas(field[6])) "."
    if (field[5] != "") print "Default: " bold(field[5]) "."
    runs = runs || field[2] == "threads"
    files = files || field[2] == "output"
}

function with_commas(text) { gsub(/\|/, ", ", text); return text }

# The lines of a block from the ith on.
function body(line, i, n,    kept, tag) {
    for (; i <= n; i++) {
        if (line[i] ~ /^  --[a-z]+$/) line[i] = line[i] "  prints this, and stops"
        tag = line[i] ~ /^  ? ?[^ ]/ && gsub(/[^ ]   *[^ ]/, "&", line[i]) == 1 ? 1 : tag && line[i] ~ /^    / ? 2 : 0
        if (kept && (tag || line[i] !~ /^ /)) {
            print ".fi"
            kept = 0
        }
        if (line[i] ~ /^\t/) {
            row(line[i])
        } else if (tag == 1) {
            fresh = 0
            match(line[i], /[^ ]   *[^ ]/)
            print ".TP\n" bold(substr(line[i], 3, RSTART - 2))
            print roff(substr(line[i], RSTART + RLENGTH - 1))
        } else if (tag == 2 || line[i] !~ /^ /) {
            if (line[i] ~ /^Exit status/) section("EXIT STATUS")
            if (!tag && line[i - 1] ~ /^ |^Usage|:$/) paragraph()
            sub(/^ */, "", line[i])
            if (sub(/^Exit status[,:] */, "", line[i])) line[i] = toupper(substr(line[i], 1, 1)) substr(line[i], 2)
            print roff(line[i])
        } else {
            if (!kept) {
                paragraph()
                print ".nf"
            }
            kept = 1
            print roff(line[i])
        }
    }
    if (kept) print ".fi"
    fresh = 0
}

# A command of the program: its page, in a list of its own behind the description.
function command_line(line,    gap, words) {
    match(line, /   +/)
    gap = substr(line, RSTART + RLENGTH)
    sub(/;.*/, "", gap)
    match(line, /ddpbench [a-z]+/)
    words = substr(line, RSTART + 9, RLENGTH - 9)
    commands = commands ".TP\n" bold(words) "\n" sentence(gap) " See " bold(name "-" words) "(1).\n"
}

function usage(line, n,    i) {
    section("SYNOPSIS")
    sub(/^Usage: /, "       ", line[1])
    for (i = 1; i <= n && line[i] ~ /^       /; i++) {
        line[i] = substr(line[i], 8)
        if (line[i] ~ /; has a --help$/) {
            command_line(line[i])
            continue
        }
        print (i > 1 ? ".br\n" : "") roff(line[i])
    }
    if (i > n) return
    section(line[i] ~ /^  -/ ? "OPTIONS" : line[i] ~ /^  / ? "COMMANDS" : "DESCRIPTION")
    line[i - 1] = "Usage"
    body(line, i, n)
}

BEGIN {
    RS = ""
    printf ".\\\" Made from the help of the program.\n.TH %s 1 \"\" \"%s\" \"User Commands\"\n", toupper(roff(name)), roff(version)
    section("NAME")
    print roff(name " - " summary)
}
{ n = split($0, line, "\n") }
line[1] ~ /^Usage: / { usage(line, n); next }
now == "SYNOPSIS" { section("DESCRIPTION") }
commands != "" && line[1] ~ /:$/ {
    section("COMMANDS")
    printf "%s", commands
    commands = ""
}
n > 1 && line[1] ~ /^[A-Z][^\t]*:$/ && line[2] ~ /^[ \t]/ {
    title = substr(line[1], 1, length(line[1]) - 1)
    if (line[2] ~ /^\t/ || title == "Help") {
        section("OPTIONS")
        if (title != "Options") print ".SS " roff(title)
    } else if (title ~ /^Exit status, t/) {
        section("EXIT STATUS")
        print roff("T" substr(line[1], 15))
    } else {
        match(title, /^[A-Za-z]+/)
        section(toupper(substr(title, 1, RLENGTH)))
        if (title ~ /[ ,;]/) print (fresh ? "" : ".PP\n") roff(line[1])
    }
    fresh = 0
    body(line, 2, n)
    next
}
{
    if (now != "DESCRIPTION" || !fresh) {
        if (line[1] !~ /^Exit status/) paragraph()
    }
    body(line, 1, n)
}
END {
    if (files) {
        section("FILES")
        print "A run leaves a directory, \\fIresults/TIME\\fR[\\fI\\-LABEL\\fR] unless " bold("--output") " names another, with"
        print ".TP\n\\fIrun.json\\fR\nwhat was run, where and with what;"
        print ".TP\n\\fIsummary.json\\fR, \\fIsummary.csv\\fR, \\fIsummary.txt\\fR\nevery figure, the figures as a table, and what was printed;"
        print ".TP\n\\fIrank_R_metrics.jsonl\\fR\na line for each step, or each size, of rank R;"
        print ".TP\n\\fI*.svg\\fR\npictures, of a command that draws some."
    }
    if (runs) {
        section("ENVIRONMENT")
        print ".TP\n" bold("OMP_NUM_THREADS") "\nThreads of a rank, unless " bold("--threads") " says otherwise."
        print ".TP\n" bold("DDPBENCH_LINK") "\nA name for what joins the ranks, which is kept in \\fIrun.json\\fR and shown with a sweep."
    }
    section("SEE ALSO")
    n = split(also, page, " ")
    for (i = 1; i <= n; i++) print bold(page[i]) "(1)" (i < n ? "," : "")
}
