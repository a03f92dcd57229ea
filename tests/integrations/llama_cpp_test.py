# Unmodified programs of llama.cpp with libggml-tare.so in them: what is served is right, and what is not is left alone.
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

DEPS = pathlib.Path(os.environ["TARE_DEPS"])
BIN = DEPS / "llama.cpp" / "bin"
MODEL = DEPS / "models" / "gemma-3-270m-q4_k_m.gguf"
GGML = "ggml " + (DEPS / "ggml/lib/libggml-base.so.0").resolve().name.split(".so.")[1]
TYPES = ["bf16", "q8_0", "q4_0", "q5_0", "q4_k", "q6_k"]
# Shapes of test-backend-ops' own list, k x n : rows.
SHAPES = [f"256x16:{rows}" for rows in range(1, 10)] + ["256x16:16", "4096x16:1", "4096x16:8", "2112x32:509", "2880x2880:32"]
SHAPES += [f"1024x4096:{rows}" for rows in (1, 2, 4, 8)] + [f"4096x1023:{rows}" for rows in (1, 2, 4, 8)]
# Built like this, llama-completion loads out-of-tree back ends only where an option names a device or a buffer; this
# one matches no tensor.
LOADS = ["-ot", "^$=CPU"]
HEAD = "q8_0:640x262144:1"  # of the model


def plan(folder, *decisions, title=GGML, threads=0):
    path = pathlib.Path(folder) / "plan.json"
    subprocess.run([os.environ["TARE_SYNTHETIC_PLAN"], path, "ggml", title, str(threads), *decisions], check=True)
    return path


def run(program, *arguments, plan=None, backend=True):
    names = ("TARE_PLAN", "TARE_LOG", "GGML_BACKEND_PATH")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    if backend:
        environment |= {"GGML_BACKEND_PATH": os.environ["TARE_BACKEND"], "TARE_LOG": "1"}
    if plan is not None:
        environment["TARE_PLAN"] = str(plan)
    return subprocess.run([BIN / program, *map(str, arguments)], capture_output=True, text=True, timeout=900,
                          env=environment, stdin=subprocess.DEVNULL, errors="replace")


def complete(**options):
    return run("llama-completion", *LOADS, "-m", MODEL, "-p", "The capital of France is", "-n", 12, "--temp", 0, "-no-cnv",
               "--no-warmup", **options)


def said(process):
    return [line for line in process.stderr.splitlines() if line.startswith("tare: ")]


class Operators(unittest.TestCase):
    """ggml's own comparison of a back end with the processor's."""

    def test_every_product_that_is_served_is_right(self):
        with tempfile.TemporaryDirectory() as folder:
            # That program gives its back ends half of the processors.
            path = plan(folder, *[f"{kind}:{shape}" for kind in TYPES for shape in SHAPES],
                        threads=max(1, os.cpu_count() // 2))
            done = run("test-backend-ops", "test", "-o", "MUL_MAT", "-b", "Tare", plan=path)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
        self.assertEqual(done.returncode, 0, plain[-2000:])
        self.assertNotIn("FAIL", plain)
        passed = [line for line in plain.splitlines() if line.rstrip().endswith(": OK")]
        for kind in TYPES:
            self.assertTrue(any(f"type_a={kind}" in line.lower() for line in passed), kind)
        self.assertGreater(len(passed), 60)


class Refusals(unittest.TestCase):
    """Whatever is wrong with a plan: one line, and nothing else happens."""

    @classmethod
    def setUpClass(cls):
        cls.plain = complete(backend=False).stdout if MODEL.exists() else None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def refused(self, path, expected):
        done = run("llama-bench", "--list-devices", plan=path)
        self.assertEqual(done.returncode, 0)
        lines = said(done)
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("tare: nothing is served: "), lines)
        self.assertRegex(lines[0], expected)
        if MODEL.exists():
            self.assertEqual(complete(plan=path).stdout, self.plain)

    def edited(self, edit):
        path = plan(self.folder.name, HEAD)
        path.write_text(edit(path.read_text()))
        return path

    def test_no_plan(self):
        self.refused(None, "TARE_PLAN names no plan")

    def test_a_plan_that_is_not_there(self):
        self.refused("/nowhere/plan.json", "no such file")

    def test_a_plan_cut_short(self):
        self.refused(self.edited(lambda text: text[: len(text) // 2]), "cut short")

    def test_a_flipped_bit(self):
        self.refused(self.edited(lambda text: text.replace('"rows": 1', '"rows": 3')), "changed or damaged")

    def test_a_newer_schema(self):
        self.refused(self.edited(lambda text: text.replace("tare.plan/1", "tare.plan/2")), "tare.plan/2")

    def test_another_version_of_the_library(self):
        self.refused(plan(self.folder.name, HEAD, title="ggml 9.9.9"), "made with ggml 9.9.9, and this is ggml")

    def test_another_machine(self):
        path = plan(self.folder.name, HEAD)
        held = json.loads(path.read_text())
        self.assertEqual(held["schema"], "tare.plan/1")
        # Another number of processors: what a process is allowed to use is looked at.
        if os.cpu_count() < 2:
            self.skipTest("one processor")
        done = subprocess.run(["taskset", "-c", "0", BIN / "llama-bench", "--list-devices"], capture_output=True, text=True,
                              env=os.environ | {"GGML_BACKEND_PATH": os.environ["TARE_BACKEND"], "TARE_PLAN": str(path)})
        self.assertRegex(said(done)[0], "nothing is served: the plan .* does not hold here: it was made on")


@unittest.skipUnless(MODEL.exists(), "scripts/real-models was not called")
class Model(unittest.TestCase):
    def test_the_head_of_a_real_model_is_served(self):
        with tempfile.TemporaryDirectory() as folder:
            done = complete(plan=plan(folder, HEAD))
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("France", done.stdout)
        lines = said(done)
        self.assertTrue(any("served 12 times: q8_0 640x262144, 1 row" in line for line in lines), lines)
        self.assertTrue(any(re.search(r"1 matrices packed beside the model's: 178\.\d MB", line) for line in lines), lines)

    def test_another_number_of_threads_is_served_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = plan(folder, HEAD)
            done = run("llama-completion", *LOADS, "-m", MODEL, "-p", "One", "-n", 4, "--temp", 0, "-no-cnv", "-t", 1, "-tb", 1,
                       "--no-warmup", plan=path)
        self.assertTrue(any("the plan is for" in line for line in said(done)), said(done))

    def test_a_whole_model_is_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            path = plan(folder, HEAD)
            prompts = pathlib.Path(folder) / "prompts"
            prompts.write_text("The capital of France\n")
            done = subprocess.run([os.environ["TARE"], "verify-model", MODEL, "--plan", path, "--rows", "1", "--prompts", prompts],
                                  capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Prompts are not served: nothing differs there. What is served differs first in the head.
        self.assertRegex(done.stdout, r"whole +\d+ +0 ")
        self.assertRegex(done.stdout, r"The first projection that differs is token_embd.weight")


if __name__ == "__main__":
    unittest.main()
