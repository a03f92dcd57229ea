# Unmodified programs of llama.cpp with libggml-tare.so in them: what is served is right, and what is not is left alone.
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

import llama
from llama import GEMMA, GGML, LOADS, MIXED, plan, run, said

# Shapes of test-backend-ops' own list, k x n : rows.
TYPES = ["bf16", "q8_0", "q4_0", "q5_0", "q4_k", "q6_k"]
SHAPES = [f"256x16:{rows}" for rows in range(1, 10)] + ["256x16:16", "4096x16:1", "4096x16:8", "2112x32:509", "2880x2880:32"]
SHAPES += [f"1024x4096:{rows}" for rows in (1, 2, 4, 8)] + [f"4096x1023:{rows}" for rows in (1, 2, 4, 8)]
HEAD = "q8_0:640x262144:1"  # of Gemma 3 270M
PROMPT = [1, *range(40, 80)]


def complete(model, **options):
    """At times that program ends before its log thread has written (1 run in 25 on one day, 1 in 2 to 5 in 6 on another, also
    without this back end): then its times are missing, or what it answered, which follows the prompt."""
    for _ in range(100):
        done = run("llama-completion", *LOADS, "-m", model, "-p", "The capital of France is", "-n", 12, "--temp", 0, "-no-cnv",
                   "--no-warmup", **options)
        answered = not done.stdout.rstrip("\n").endswith("is")
        if done.returncode != 0 or ("eval time" in done.stderr and answered):
            break
    return done


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


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def model_and_plan(self, types, rows):
        return llama.small_model(self.folder, types), plan(self.folder, *llama.decisions(types, rows))


class Refusals(WithFolder):
    """Whatever is wrong with a plan: one line, nothing is served, and the output is what it was."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.model = llama.small_model(folder.name, MIXED)
        cls.plain = complete(cls.model, backend=False).stdout

    def refused(self, path, expected):
        done = complete(self.model, plan=path)
        self.assertEqual(done.returncode, 0)
        lines = said(done)
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("tare: nothing is served: "), lines)
        self.assertRegex(lines[0], expected)
        self.assertEqual(done.stdout, self.plain)
        self.assertNotEqual(self.plain.strip(), "")

    def made(self, **how):
        return plan(self.folder, *llama.decisions(MIXED, [1]), **how)

    def edited(self, edit):
        path = self.made()
        path.write_bytes(edit(path.read_bytes()))
        return path

    def test_no_plan(self):
        self.refused(None, "TARE_PLAN names no plan")

    def test_a_plan_that_is_not_there(self):
        self.refused("/nowhere/plan.json", "no such file")

    def test_a_plan_cut_short(self):
        self.refused(self.edited(lambda text: text[: len(text) // 2]), "cut short")

    def test_an_empty_plan(self):
        self.refused(self.edited(lambda text: b""), "cut short")

    def test_an_edited_row_count(self):
        self.refused(self.edited(lambda text: text.replace(b'"rows": 1', b'"rows": 3')), "changed or damaged")

    def test_one_flipped_bit(self):
        def flipped(text):
            at = text.index(b"serve")
            return text[:at] + bytes([text[at] ^ 1]) + text[at + 1:]
        self.refused(self.edited(flipped), "changed or damaged")

    def test_a_newer_schema(self):
        self.refused(self.edited(lambda text: text.replace(b"tare.plan/1", b"tare.plan/2")), "tare.plan/2")

    def test_another_version_of_the_library(self):
        self.refused(self.made(title="ggml 9.9.9"), "made with ggml 9.9.9, and this is ggml")

    def test_another_machine(self):
        path = self.made(processor="an abacus")
        self.assertEqual(json.loads(path.read_text())["keys"]["processor"], "an abacus")
        self.refused(path, "made on another processor: an abacus, and this is")

    def test_fewer_processors(self):
        if os.cpu_count() < 2:
            self.skipTest("one processor")
        done = subprocess.run(["taskset", "-c", "0", llama.BIN / "llama-bench", "--list-devices"], capture_output=True, text=True,
                              env=llama.environment(self.made()))
        self.assertRegex(said(done)[0], "nothing is served: the plan .* does not hold here: it was made on")

    def test_other_kernels(self):
        # It holds for the machine, and nothing in it is of these kernels.
        done = complete(self.model, plan=self.made(kernels="Tare 0.0.1 (kernels 0000)"))
        self.assertTrue(said(done)[1].startswith("tare: 0 products served"), said(done))
        self.assertTrue(any("it was weighed with Tare 0.0.1 (kernels 0000), and this is" in line for line in said(done)))
        self.assertEqual(done.stdout, self.plain)

    def test_another_number_of_threads(self):
        done = run("llama-completion", *LOADS, "-m", self.model, "-p", "One", "-n", 4, "--temp", 0, "-no-cnv", "-t", 1, "-tb", 1,
                   "--no-warmup", plan=self.made(threads=0))
        if os.cpu_count() < 2:
            self.skipTest("one processor")
        self.assertTrue(any("the plan is for" in line for line in said(done)), said(done))
        self.assertEqual(llama.served(said(done)), {})


class Rows(WithFolder):
    """A decision is of one row count: what the plan serves at one of them leaves the others as they were."""

    def logits(self, model, path, rows):
        host = llama.Host(model, path)
        found = [host.logits(PROMPT, count) for count in rows]
        code, lines = host.end()
        self.assertEqual(code, 0)
        return found, lines

    def test_each_row_count_by_itself(self):
        counts = [1, 2, 4, 8, 16, 32, len(PROMPT)]
        model = llama.small_model(self.folder, MIXED)
        plain, _ = self.logits(model, None, counts)
        for served in (1, 2, 8, 32):
            with self.subTest(rows=served):
                path = plan(self.folder, *llama.decisions(MIXED, [served]))
                found, lines = self.logits(model, path, counts)
                # 41 tokens so many at a time: where the rest has the row count that is served, it is served.
                touched = [count == served or len(PROMPT) % count == served for count in counts]
                self.assertEqual([a != b for a, b in zip(plain, found)], touched)
                words = {name.split(", ")[1] for name in llama.served(lines)}
                self.assertEqual(words, {f"{served} row" + "s" * (served > 1)})

    def test_several_sequences_are_rows(self):
        model, path = self.model_and_plan(MIXED, [4])
        host = llama.Host(model, path, sequences=4)
        host.ask("begin 5 4")
        host.ask("time 4 10 0")
        _, lines = host.end()
        self.assertEqual(llama.served(lines)["q8_0 256x320, 4 rows"], 10)

    def test_profiles_name_every_product(self):
        model, path = self.model_and_plan(MIXED, [1])
        host = llama.Host(model, path)
        lines = host.ask("profile 4 1 3 0").decode().splitlines()
        self.assertEqual(len(lines), 3 * 15)
        self.assertRegex(lines[0], r"^blk.0.attn_[qkv].weight 256 \d+ 1 q\w+ 0\.\d+$")
        host.end()


class LayoutsOfGgml(WithFolder):
    """Matrices that ggml keeps in a layout of its own: at the row counts that are left they stay in it."""

    def test_what_is_left_has_the_bits_that_it_had(self):
        types = {name: "q4_k" for name in llama.SHAPES} | {"o": "q4_0"}
        model, path = self.model_and_plan(types, [1])
        plain = llama.Host(model)
        ours = llama.Host(model, path)
        for rows in (2, 4, len(PROMPT)):  # 41 = 20 * 2 + 1: all but the last token
            same = (len(PROMPT) - len(PROMPT) % rows) * 320 * 4
            self.assertEqual(plain.logits(PROMPT, rows)[:same], ours.logits(PROMPT, rows)[:same], rows)
        self.assertNotEqual(plain.logits(PROMPT, 1), ours.logits(PROMPT, 1))
        plain.end()
        _, lines = ours.end()
        self.assertGreater(llama.served(lines)["q4_k 256x512, 1 row"], 100)
        if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
            self.skipTest("ggml has no layout of its own for these types here")
        self.assertTrue(any("15 matrices also in ggml's own layout" in line for line in lines), lines)


class Verbs(WithFolder):
    """tare verify-model and tare weigh-model."""

    def tare(self, *arguments):
        return subprocess.run([os.environ["TARE"], *map(str, arguments)], capture_output=True, text=True, timeout=600)

    def verified(self, model, path, *arguments):
        prompts = pathlib.Path(self.folder) / "prompts"
        prompts.write_text("The capital of France\n")
        record = pathlib.Path(self.folder) / "verified.json"
        done = self.tare("verify-model", model, "--plan", path, "--prompts", prompts, "--json", record, *arguments)
        return done, json.loads(record.read_text())

    def test_bf16_with_the_bits_of_ggml(self):
        if "avx512_bf16" not in pathlib.Path("/proc/cpuinfo").read_text():
            self.skipTest("ggml adds in another order on this processor")
        model, path = self.model_and_plan({}, [1, 2, 8, 29])
        done, record = self.verified(model, path, "--rows", "1,2,8")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual([one["differing"] for one in record["evaluations"]], [0, 0, 0, 0])
        self.assertEqual(record["verdict"], "All logits have the same bits.")

    def test_other_bits_where_ggmls_were_promised(self):
        model = llama.small_model(self.folder)
        path = plan(self.folder, *[one + ":tare-panel" for one in llama.decisions({}, [1])])
        done, record = self.verified(model, path, "--rows", "1")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("promises the incumbent's bits", record["verdict"])
        self.assertEqual(record["evaluations"][1]["differing"], 0)
        self.assertEqual(record["first_difference"]["weights"], "blk.0.attn_q.weight")

    def test_bits_that_were_accepted(self):
        model, path = self.model_and_plan(MIXED, [1])
        done, record = self.verified(model, path, "--rows", "1")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertGreater(record["evaluations"][0]["differing"], 0)
        self.assertEqual(record["evaluations"][1]["differing"], 0)

    def test_tokens_are_weighed_and_replayed(self):
        model, path = self.model_and_plan(MIXED, [1, 2])
        record = pathlib.Path(self.folder) / "weighed.jsonl"
        done = self.tare("weigh-model", model, "--plan", path, "--rows", "1,2", "--prompt", "8", "--seconds", "0.2", "--json", record)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        for line in (r"^decode +1 ", r"^decode +2 ", r"^prompt +8 ", "15 of 15 products are served", "inside llama.cpp"):
            self.assertRegex(done.stdout, re.compile(line, re.MULTILINE))
        lines = [json.loads(line) for line in record.read_text().splitlines()]
        rows = [line for line in lines if line["kind"] == "row"]
        self.assertEqual([(row["projection"], row["rows"]) for row in rows], [("decode", 1), ("decode", 2), ("prompt", 8)])
        for row in rows:  # where a round has several batches, short stretches tell what a region costs beside them
            purposes = {"round", "long"} | ({"slice-one", "slice-many"} if row["projection"] == "decode" else set())
            self.assertEqual(set(row["weighing"]["regions"]["purpose"]), purposes)
        replayed = self.tare("replay", record)
        self.assertIn(replayed.returncode, (0, 1), replayed.stderr)
        self.assertEqual(replayed.stderr, "")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Programs(WithFolder):
    """The programs that people run, as they are."""

    def test_the_server(self):
        model, path = self.model_and_plan(MIXED, [1])
        port = free_port()
        log = open(pathlib.Path(self.folder) / "server.log", "w+", encoding="utf-8", errors="replace")
        server = subprocess.Popen([llama.BIN / "llama-server", *LOADS, "-m", model, "--port", str(port), "--no-warmup", "-c", "512",
                                   "-t", str(os.cpu_count()), "-np", "1"],
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=llama.environment(path))
        try:
            answer = self.completion(server, f"http://127.0.0.1:{port}")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)
        self.assertEqual(answer["tokens_predicted"], 10)
        log.seek(0)
        lines = log.read().splitlines()
        log.close()
        self.assertGreaterEqual(llama.served(lines).get("q8_0 256x320, 1 row", 0), 9, lines[-40:])

    def completion(self, server, address):
        body = json.dumps({"prompt": "The capital of France is", "n_predict": 10, "temperature": 0, "ignore_eos": True}).encode()
        request = urllib.request.Request(address + "/completion", body, {"Content-Type": "application/json"})
        for _ in range(600):
            self.assertIsNone(server.poll())
            try:
                return json.load(urllib.request.urlopen(request, timeout=60))
            except OSError:  # it does not listen yet, or loads the model
                time.sleep(0.1)
        self.fail("the server does not answer")

    def test_the_command_line(self):
        model, path = self.model_and_plan(MIXED, [1])
        done = run("llama-cli", *LOADS, "-m", model, "-p", "One", "-n", 8, "--temp", 0, "--no-warmup", "-st", "-t", os.cpu_count(), plan=path)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertGreaterEqual(llama.served(said(done)).get("q8_0 256x320, 1 row", 0), 7, done.stderr[-3000:])


@unittest.skipUnless(GEMMA.exists(), "scripts/real-models was not called")
class RealModel(WithFolder):
    def test_its_head_is_served(self):
        done = complete(GEMMA, plan=plan(self.folder, HEAD))
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("France", done.stdout)
        lines = said(done)
        self.assertEqual(llama.served(lines), {"q8_0 640x262144, 1 row": 12})
        self.assertTrue(any(re.search(r"1 matrices packed beside the model's: 178\.\d MB", line) for line in lines), lines)


if __name__ == "__main__":
    unittest.main()
