#!/usr/bin/python3
"""check_chakra.py - checks the Chakra execution traces PREFIX.RANK.et of a directory by the rules that simulators rely on.

Decodes them with code that protoc makes from SCHEMA, so it needs protoc and Python's protobuf. With --predictions it also
replays the files as a simulator does, from their dependencies and durations alone, and compares them with the predicted steps.
"""
import argparse
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

from google.protobuf.message import DecodeError

from checks import end, result

# the part of the schema that the files use; any other field is a fault
SCHEMA = """
syntax = "proto3";
message Attribute {
  string name = 1;
  oneof value { int32 int32_val = 7; int64 int64_val = 9; uint64 uint64_val = 13; bool bool_val = 27; string string_val = 29; }
}
message Metadata { string version = 1; repeated Attribute attr = 2; }
message Node {
  uint64 id = 1;
  string name = 2;
  uint32 type = 3;
  repeated uint64 ctrl_deps = 4;
  repeated uint64 data_deps = 5;
  uint64 start_time_micros = 6;
  uint64 duration_micros = 7;
  repeated Attribute attr = 10;
}
"""
COMP, COLL = 4, 7
NAMES = {COMP: "COMP_NODE", COLL: "COMM_COLL_NODE"}
ATTRIBUTES = {COMP: {"is_cpu_op": "bool_val", "duration_ns": "uint64_val"}}
ATTRIBUTES[COLL] = {**ATTRIBUTES[COMP], "comm_type": "int64_val", "comm_size": "int64_val", "pg_name": "string_val"}
COLLECTIVES = {0: "all-reduce", 2: "all-gather", 7: "reduce-scatter"}


class Wrong(Exception):
    """A file breaks a rule."""


def require(condition, words):
    if not condition:
        raise Wrong(words)


def import_schema():
    """Returns the module that protoc makes from SCHEMA."""
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "chakra_subset.proto"), "w", encoding="ascii") as file:
            file.write(SCHEMA)
        subprocess.run(["protoc", f"--proto_path={directory}", f"--python_out={directory}", "chakra_subset.proto"], check=True)
        sys.path.insert(0, directory)
        sys.dont_write_bytecode = True
        return __import__("chakra_subset_pb2")


# ---- one file ----

def split(data):
    """Returns the messages of a file, each of which comes after its length, a varint of at most 32 bits."""
    messages, at = [], 0
    while at < len(data):
        length = shift = 0
        while True:
            require(at < len(data) and shift <= 28, "a length is cut off or too long")
            length |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                break
        require(at + length <= len(data), "the last message is cut off")
        messages.append(data[at:at + length])
        at += length
    return messages


def decode(kind, data):
    try:
        message = kind.FromString(data)
    except DecodeError as error:
        raise Wrong(f"a {kind.__name__} cannot be decoded: {error}") from None
    size = message.ByteSize()
    message.DiscardUnknownFields()
    require(message.ByteSize() == size, f"a {kind.__name__} has a field that is not in the schema, or of another type")
    return message


def read(schema, data):
    """Returns the nodes of a file."""
    metadata, *nodes = split(data) or [b""]
    require(decode(schema.Metadata, metadata).version == "0.0.4", "the version is not 0.0.4")
    require(nodes, "there is no node")
    return [decode(schema.Node, node) for node in nodes]


def value_of(node, name):
    attribute = next(a for a in node.attr if a.name == name)
    return getattr(attribute, ATTRIBUTES[node.type][name])


def check_node(node):
    require(node.type in NAMES, f"node {node.id} has type {node.type}")
    require(NAMES[node.type] in node.name, f"node {node.id}, {node.name!r}, is not named by its type, {NAMES[node.type]}")
    found = {a.name: a.WhichOneof("value") for a in node.attr}
    require(len(found) == len(node.attr) and found == ATTRIBUTES[node.type], f"node {node.id} has the attributes {found}")
    if node.type == COLL:
        kind, size = value_of(node, "comm_type"), value_of(node, "comm_size")
        require(not value_of(node, "is_cpu_op"), f"node {node.id}, a collective, is a CPU operation")
        require(kind in COLLECTIVES, f"node {node.id} has comm_type {kind}")
        require(size > 0, f"node {node.id} has comm_size {size}")
        require(value_of(node, "pg_name") == "", f"node {node.id} is a collective of a group")


def check_graph(nodes):
    """Checks ids and dependencies: if each node runs once all its dependencies have run, all nodes run in the end."""
    waiting = {node.id: {*node.ctrl_deps, *node.data_deps} for node in nodes}
    require(len(waiting) == len(nodes), "two nodes have the same id")
    for node, needed in waiting.items():
        require(needed <= waiting.keys(), f"node {node} depends on a node that is not in the file")
    require(any(not needed for needed in waiting.values()), "every node depends on another")
    while waiting:
        free = {node for node, needed in waiting.items() if not needed & waiting.keys()}
        require(free, f"the nodes {sorted(waiting)} depend on each other in a cycle")
        waiting = {node: needed for node, needed in waiting.items() if node not in free}


def check_durations(nodes):
    for kind, name in NAMES.items():
        us = sum(n.duration_micros for n in nodes if n.type == kind)
        ns = sum(value_of(n, "duration_ns") for n in nodes if n.type == kind)
        require(abs(1000 * us - ns) <= 1000, f"the durations of all {name}s are {us} us, but {ns} ns")


def collectives_of(nodes):
    """Returns kinds and sizes of the collectives, whose order must be fixed by their dependencies."""
    found = [node for node in nodes if node.type == COLL]
    for before, node in zip(found, found[1:]):
        require(before.id in node.ctrl_deps, f"the collective {node.id} does not depend on the one before it, {before.id}")
    return [(COLLECTIVES[value_of(n, "comm_type")], value_of(n, "comm_size")) for n in found]


def seconds_of(nodes):
    """Returns how long the nodes take if each begins when all its dependencies have ended."""
    ended = {}
    for node in nodes:
        ended[node.id] = max([ended[id] for id in (*node.ctrl_deps, *node.data_deps)], default=0) + value_of(node, "duration_ns")
    return max(ended.values()) / 1e9


def check_step(nodes, step):
    replayed = seconds_of(nodes)
    require(abs(replayed / step - 1) <= 1e-3, f"replayed by its dependencies it takes {replayed:.6g} s, but its prediction is {step:.6g} s")


# ---- the files of all ranks ----

def check(ranks):
    """Checks the nodes of all ranks. Returns the number of collectives."""
    sequences = []
    for rank, nodes in enumerate(ranks):
        try:
            for node in nodes:
                check_node(node)
            check_graph(nodes)
            check_durations(nodes)
            sequences.append(collectives_of(nodes))
        except Wrong as wrong:
            raise Wrong(f"rank {rank}: {wrong}") from None
    for rank, sequence in enumerate(sequences):
        require(sequence == sequences[0], f"rank {rank} has the collectives {sequence}, but rank 0 {sequences[0]}")
    return len(sequences[0])


def load(directory):
    """Returns the contents of the files of each prefix, in the order of the ranks."""
    found = {}
    for path in glob.glob(os.path.join(glob.escape(directory), "*.et")):
        match = re.fullmatch(r"(.*)\.(0|[1-9]\d*)\.et", os.path.basename(path))
        require(match, f"{path} is not named PREFIX.RANK.et")
        with open(path, "rb") as file:
            found.setdefault(match[1], {})[int(match[2])] = file.read()
    require(found, f"there is no *.et in {directory}")
    for prefix, ranks in found.items():
        require(sorted(ranks) == list(range(len(ranks))), f"{prefix}: there are only files of the ranks {sorted(ranks)}")
    return {prefix: [ranks[r] for r in range(len(ranks))] for prefix, ranks in sorted(found.items())}


def steps_of(path):
    """Returns the predicted seconds of each prefix, from what `ddpbench predict --csv` wrote."""
    with open(path, newline="", encoding="utf-8") as file:
        return {f"{row['implementation'].replace(':', '_')}.{row['ranks']}_ranks": float(row["step"]) for row in csv.DictReader(file)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--predictions", metavar="FILE", help="what `ddpbench predict --csv` wrote: compare with its steps")
    parser.add_argument("directory", help="the directory of the files")
    arguments = parser.parse_args()
    try:
        schema = import_schema()
        found = load(arguments.directory)
        steps = steps_of(arguments.predictions) if arguments.predictions else {}
        require(not steps or steps.keys() == found.keys(), f"predicted are {sorted(steps)}, and exported {sorted(found)}")
    except (Wrong, OSError, KeyError, ValueError, subprocess.CalledProcessError) as wrong:
        result(False, f"Chakra: {wrong}")
        end()
    for prefix, files in found.items():
        try:
            ranks = [read(schema, data) for data in files]
            words = f"{len(files)} ranks, {check(ranks)} collectives of each"
            for nodes in ranks if steps else []:
                check_step(nodes, steps[prefix])
            result(True, f"Chakra, {prefix}: {words}" + (", and the predicted step" if steps else ""))
        except Wrong as wrong:
            result(False, f"Chakra, {prefix}: {wrong}")
    end()


main()
