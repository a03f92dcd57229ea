"""Bad input: one clear sentence that names what and where, and exit code 2."""
import json
import os
import re
import tempfile
import unittest

import tare


class BadInput(unittest.TestCase):
    def refuse(self, *arguments, says, verb="headroom"):
        done = tare.run(verb, *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        sentence = done.stderr.strip()
        self.assertRegex(sentence, says)
        self.assertNotIn("fault of Tare", sentence)

    def refuse_config(self, text, says):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "config.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.refuse("--model", path, says=says)

    def config(self, **changes):
        config = dict(model_type="qwen2", hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                      num_attention_heads=4, num_key_value_heads=2, vocab_size=100)
        config.update(changes)
        return json.dumps(config)

    def test_rows(self):
        self.refuse("--shape", "64x64", "--rows", "0", says="rows")
        self.refuse("--shape", "64x64", "--rows", "1000000000", says="rows")
        self.refuse("--shape", "64x64", "--rows", "-3", says="rows")

    def test_shapes(self):
        for shape in ["", "64", "0x64", "64x0", "-1x64", "64x64x64", "axb", "99999999999999999999x2"]:
            self.refuse("--shape", shape, says=".")

    def test_traffic_and_ring(self):
        self.refuse("--shape", "64x64", "--traffic", "-1", says="traffic")
        self.refuse("--shape", "64x64", "--traffic", "nan", says="traffic")
        self.refuse("--shape", "64x64", "--ring", "0", says="ring")
        self.refuse("--shape", "64x64", "--scout", "0", says="scout")

    def test_weights_and_activations(self):
        self.refuse("--shape", "256x64", "--weights", "q9", says="--weights q9: must be one of bf16, .*q4_k")
        self.refuse("--shape", "100x64", "--weights", "q4_k", says="blocks of 256 along k, and k is 100")
        self.refuse("--shape", "256x64", "--activations", "int3", says="activations")

    def test_threads(self):
        self.refuse("--shape", "64x64", "--threads", "5000", says="threads")

    def test_configs(self):
        self.refuse("--model", "/does/not/exist.json", says="/does/not/exist.json")
        self.refuse_config("", says="config.json")
        self.refuse_config("{\"model_type\": \"qwen2\", ", says="config.json")
        self.refuse_config("certainly not JSON", says="config.json")
        self.refuse_config(self.config(hidden_size="many"), says="hidden_size")
        self.refuse_config(self.config(hidden_size=0), says="hidden_size")
        self.refuse_config(self.config(hidden_size=-64), says="hidden_size")
        self.refuse_config(self.config(num_attention_heads=1e30), says="num_attention_heads")
        self.refuse_config(self.config(model_type="abacus"), says="abacus")

    def test_a_projection_the_model_lacks(self):
        self.refuse("--projections", "nose", says="nose")
        self.refuse("--shape", "64x64", "--projections", "q", says="--projections .*--model")

    def test_an_arm_that_nobody_knows(self):
        for verb, options in dict(headroom=["--candidate", "--incumbent"], prove=["--candidate", "--incumbent"],
                                  reveal=["--candidate"]).items():
            for option in options:
                with self.subTest(f"{verb} {option}"):
                    self.refuse("--shape", "64x64", option, "nobody", verb=verb, says=f"{option} nobody: .*tare-panel")
        self.refuse("--arm", "nobody", verb="calibrate", says="--arm nobody: .*tare-panel")

    def test_times_that_are_none(self):
        for verb in ["headroom", "prove", "reveal"]:
            for patience in ["0", "-1", "nan", "1e300"]:
                with self.subTest(f"{verb} {patience}"):
                    self.refuse("--shape", "64x64", "--patience=" + patience, verb=verb, says="--patience ")
        self.refuse("--shape", "64x64", "--seconds-per-row", "0", says="--seconds-per-row 0: more than 0")

    def test_more_memory_than_there_is(self):
        for verb in ["prove", "reveal"]:
            done = tare.run(verb, "--shape", "740000x740000", "--rows", "1")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"Not enough memory to {verb} 740000×740000: .* copies of the weights need ")

    def test_a_plan_that_cannot_be_written_is_not_weighed(self):
        self.refuse("--shape", "64x64", "-o", "/does/not/exist/plan.json", verb="plan", says="/does/not/exist/plan.json")

    def test_what_was_called_wrongly_keeps_the_older_file(self):
        for verb in ["headroom", "prove", "reveal"]:
            with self.subTest(verb), tempfile.NamedTemporaryFile("w+") as file:
                file.write("older")
                file.flush()
                self.refuse("--shape", "64x64", "--candidate", "nobody", "--json", file.name, verb=verb, says="nobody")
                file.seek(0)
                self.assertEqual(file.read(), "older")

    def test_a_device_in_place_of_a_recorded_file(self):
        for arguments in (["replay", "/dev/zero"], ["calibrate", "--read", "/dev/zero"], ["plan", "check", "/dev/null"]):
            done = tare.run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(arguments[-1], done.stderr)

    def test_a_plugin_that_is_not_there(self):
        self.refuse("--shape", "64x64", "--arm", "/does/not/exist.so", says="exist.so: no such file .*/does/not/exist.so")

    def test_a_plugin_that_is_no_library(self):
        self.refuse("--shape", "64x64", "--arm", __file__, says="cannot load")

    def test_a_results_file_that_cannot_be_written(self):
        self.refuse("--shape", "64x64", "--json", "/does/not/exist/results.jsonl", says="/does/not/exist")

    def test_unknown_verbs_and_options(self):
        self.assertEqual(tare.run("sing").returncode, 2)
        self.assertEqual(tare.run("headroom", "--loud").returncode, 2)
        self.assertEqual(tare.run().returncode, 2)

    def test_replay(self):
        done = tare.run("replay", "/does/not/exist.jsonl")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/does/not/exist.jsonl", done.stderr)

    def test_arm_host_is_not_for_people(self):
        done = tare.run("arm-host")
        self.assertEqual(done.returncode, 2)
        self.assertIn("by hand", done.stderr)


class Help(unittest.TestCase):
    def verbs_below(self, *verbs):
        """Every verb and part of a verb, by the program's own help."""
        done = tare.run(*verbs, "--help")
        self.assertEqual(done.returncode, 0)
        _, _, rest = done.stdout.partition("Subcommands:\n")
        for name in re.findall(r"(?m)^  ([a-z-]+) ", rest.partition("\n\n")[0]):
            yield [*verbs, name]
            yield from self.verbs_below(*verbs, name)

    def test_every_verb_has_examples_and_exit_codes(self):
        verbs = list(self.verbs_below())
        self.assertIn(["headroom"], verbs)
        self.assertIn(["plan", "check"], verbs)
        for verb in verbs:
            with self.subTest(verb):
                done = tare.run(*verb, "--help")
                self.assertEqual(done.returncode, 0)
                self.assertRegex(done.stdout, r"(?m)^Examples:\n  tare " + verb[0])
                self.assertRegex(done.stdout, r"(?m)^Exit codes: .*\b0 ")


if __name__ == "__main__":
    unittest.main()
