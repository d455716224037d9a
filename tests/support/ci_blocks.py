"""Writes the scripts of a CI file as shells run them: variables.sh, and a script for each step, in order.

Usage: ci_blocks.py FILE FOLDER. FILE is a workflow of GitHub, whose steps have shells of their own, or a job of GitLab, where one
shell runs all. Ends with status 77 if there is no YAML library.
"""
import sys

try:
    from yaml import safe_load as load
except ImportError:
    try:
        from ruamel.yaml import YAML
        load = YAML(typ="safe").load
    except ImportError:
        sys.exit(77)

file, folder = sys.argv[1:]
with open(file, encoding="utf-8") as text:
    document = load(text)
if "jobs" in document:
    job = document["jobs"]["gate"]
    variables = job["env"]
    blocks = [step["run"] for step in job["steps"] if "run" in step]
else:
    job = document["ddpbench"]
    variables = job["variables"]
    blocks = ["\n".join(job["before_script"] + job["script"])]
with open(f"{folder}/variables.sh", "w", encoding="utf-8") as out:
    out.writelines(f'export {name}="${{{name}-{value}}}"\n' for name, value in variables.items())
for number, block in enumerate(blocks):
    with open(f"{folder}/step{number}.sh", "w", encoding="utf-8") as out:
        out.write(block + "\n")
