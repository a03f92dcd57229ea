"""The gallery of lies: trap_test.py caught NAME commits one of them; trap_test.py gallery asks for what there is."""
import json
import os
import subprocess
import sys
import tempfile

TARE = os.environ["TARE"]


def tare(*arguments):
    return subprocess.run([TARE, "trap", *arguments], capture_output=True, text=True, timeout=170)


def caught(name):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trap.json")
        done = tare("run", name, "--json", path)
        print(done.stdout, done.stderr)
        with open(path, encoding="utf-8") as file:
            (trap,) = json.load(file)["traps"]
    assert trap["name"] == name, trap
    assert trap["naive"], "a naive harness prints a number"
    assert trap["caught"] is True, trap
    assert trap["gate"] in trap["expected"].split(", ") or trap["gate"] == "dispatch win", trap
    assert done.returncode == 0, done.returncode
    assert f"caught by: {trap['gate']}" in done.stdout


def gallery():
    listed = tare("list")
    assert listed.returncode == 0
    ids = {line.split()[0] for line in listed.stdout.splitlines()[1:]}
    assert ids == {f"T{i}" for i in range(1, 43)} | {f"C{i}" for i in range(1, 13)}, ids
    on_gpu = tare("run", "persisting-l2")
    assert on_gpu.returncode == 1 and "GPU only" in on_gpu.stderr and "not faked" in on_gpu.stderr, on_gpu
    assert tare("run", "T6").stderr == on_gpu.stderr, "an id is as good as a name"
    unknown = tare("run", "cold-fusion\x1b[31m")
    assert unknown.returncode == 2 and "warm-weights" in unknown.stderr and "\x1b" not in unknown.stderr, unknown
    ambiguous = tare("run", "C10")
    assert ambiguous.returncode == 2 and "row-count" in ambiguous.stderr, ambiguous
    assert tare("run").returncode == 2
    assert tare().returncode == 2
    unwritable = tare("run", "imprecise-reference", "--json", "/nowhere/trap.json")
    assert unwritable.returncode == 2 and "/nowhere/trap.json" in unwritable.stderr, unwritable


if __name__ == "__main__":
    caught(sys.argv[2]) if sys.argv[1] == "caught" else gallery()
