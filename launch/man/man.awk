# man.awk - makes a manual page (man(7)) of what `ddpbench [COMMAND] --help rows`, or a script's --help, prints: blocks that empty
# lines part. Rows of options, which have a tab before each field, become entries; all else stands as it is printed.
#
# Variables: name (of the page), summary (a few words), version, also (the other pages, parted by blanks).

function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text ~ /^[.']/ ? "\\&" text : text
}
function section(title) { print ".SH \"" toupper(roff(title)) "\"" }

# Its fields: name, letter, what a value is called, default, choices, help.
function option(line,    field, value) {
    split(line, field, "\t") # before the first tab there is nothing
    value = field[4] == "" ? "" : " \\fI" roff(field[4]) "\\fR"
    print ".TP\n\\fB" roff("--" field[2]) "\\fR" value (field[3] == "-" ? "" : ", \\fB" roff("-" field[3]) "\\fR" value)
    print roff(field[7]) (field[5] == "" ? "" : " [\\fB" roff(field[5]) "\\fR]")
}

BEGIN {
    RS = ""
    printf ".\\\" Made from the help of the program.\n.TH %s 1 \"\" \"%s\" \"User Commands\"\n", toupper(roff(name)), roff(version)
    section("name")
    print roff(name " - " summary)
}
{
    n = split($0, line, "\n")
    i = 1
    titled = 0
    if (line[1] ~ /^Usage: /) {
        section("synopsis")
        print ".nf"
        for (; line[i] ~ /^(Usage: |       )/; i++) print roff(substr(line[i], 8))
        print ".fi"
    } else if (n > 1 && line[1] ~ /^[A-Z].*:$/) {
        if (line[2] ~ /^\t/ && !options++) section("options")
        if (line[2] ~ /^\t/) print ".SS " roff(substr(line[1], 1, length(line[1]) - 1))
        else section(substr(line[1], 1, length(line[1]) - 1))
        i = 2
        titled = 1
    } else if (line[1] ~ /^Exit status/) {
        section("exit status")
        titled = 1
    }
    if (i <= n && !titled) {
        if (!described++) section("description")
        else print ".PP"
    }
    for (; line[i] ~ /^\t/; i++) option(line[i])
    if (i <= n) {
        print ".nf"
        for (; i <= n; i++) print roff(line[i])
        print ".fi"
    }
}
END {
    section("see also")
    n = split(also, page, " ")
    for (i = 1; i <= n; i++) if (page[i] != name) print "\\fB" roff(page[i]) "\\fR(1)"
}
