"""Runs the tare program for the tests beside this file."""
import json
import os
import subprocess
import tempfile

TARE = os.environ["TARE"]
PLUGINS = os.environ["TARE_PLUGIN_DIR"]
EXAMPLE = os.environ["TARE_EXAMPLE_PLUGIN"]

# A table in a second or two: a ring and regions far too small to believe, which is fine for what is tested here.
QUICK = ["--ring", "4e6", "--traffic", "4e5", "--seconds-per-row", "0.2", "--patience", "3"]


# What a machine may have set that makes the program warn on stderr: tests that want a warning set it themselves.
HOBBLING = ["OPENBLAS_CORETYPE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ONEDNN_VERBOSE", "DNNL_VERBOSE"]


def run(*arguments, env=None, timeout=120, **options):
    environment = {name: value for name, value in os.environ.items() if name not in HOBBLING} | (env or {})
    return subprocess.run([TARE, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          env=environment, **options)


def run_with_file(*arguments, **options):
    """A run with its results file: (completed process, list of JSON objects)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.jsonl")
        done = run(*arguments, "--json", path, **options)
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        return done, lines


def headroom(*arguments, **options):
    """A quick one, unless the arguments say otherwise: (completed process, list of JSON objects)."""
    quick = [word for name, value in zip(QUICK[::2], QUICK[1::2]) if name not in arguments for word in (name, value)]
    return run_with_file("headroom", *quick, *arguments, **options)


def rows(lines):
    return [line for line in lines if line["kind"] == "row"]


def failed_gates(row):
    return [gate["gate"] for gate in row["judgement"]["gates"] if not gate["passed"]]
