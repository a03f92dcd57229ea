"""Plugins that crash, hang, lie or misbehave: each costs its own row, with a sentence, and not the run."""
import os
import unittest

import tare

SHAPE = ["--shape", "96x64", "--rows", "2"]


def path(name):
    return os.path.join(tare.PLUGINS, name + ".so")


class Plugins(unittest.TestCase):
    def row_of(self, name):
        # One incumbent, so that what is refused does not hang on which was the fastest this time.
        done, lines = tare.headroom(*SHAPE, "--incumbent", "onednn", "--arm", path(name))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertTrue(done.stdout.isprintable() or "\x1b" not in done.stdout)
        rows = tare.rows(lines)
        self.assertEqual(len(rows), 1)
        return done, rows[0]

    def test_the_example(self):
        done, lines = tare.headroom(*SHAPE, "--arm", tare.EXAMPLE)
        row = tare.rows(lines)[0]
        self.assertIsNone(row["weighing"]["failure"])
        self.assertEqual(row["weighing"]["proof"]["class_mismatch"], 0)
        self.assertLess(row["weighing"]["proof"]["candidate_error_max"], 0.51)

    def test_an_arm_of_the_first_abi_is_asked_for_no_bias(self):
        _, row = self.row_of("older_abi")
        self.assertIsNone(row["weighing"]["failure"])
        done = tare.run("headroom", *tare.QUICK, *SHAPE, "--bias", "--incumbent", "onednn", "--arm", path("older_abi"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("knows no bias", done.stdout + done.stderr)

    def test_not_loadable(self):
        for name, says in dict(no_symbol="tare_arm_v1", other_abi="ABI", no_arms="no arm", endless_arms="NULL",
                               null_functions="enqueue", null_name="no name", crash_at_load="crashed",
                               crash_in_open="in open", hang_in_open="hangs", refuses_open="refuses_open",
                               claims_to_be_a_limit="limit").items():
            with self.subTest(name):
                done = tare.run("headroom", *tare.QUICK, *SHAPE, "--arm", path(name))
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertIn(says, done.stderr)

    def test_failures_cost_the_row_and_name_the_call(self):
        for name, says in dict(refuses="refuses", crash_in_prepare="in prepare", crash_in_bind="in bind",
                               abort_in_bind="in bind", crash_in_enqueue="in enqueue", crash_in_fence="in fence", crash_in_destroy="in destroy",
                               exit_in_enqueue="exit code 0", fails_in_enqueue="enqueue() failed",
                               fails_in_fence="fence() failed", hang_in_prepare="hangs", hang_in_enqueue="hangs",
                               hang_in_fence="hangs", spin_in_enqueue="hangs", null_executor="no executor",
                               silent_failure="no reason", throws="", writes_x="crashed",
                               leaves_denormals_off="floating-point", leaves_rounding_changed="floating-point",
                               unterminated_reason="").items():
            with self.subTest(name):
                done, row = self.row_of(name)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(row["verdict"], "refused")
                self.assertIsNotNone(row["weighing"]["failure"])
                self.assertIn(says, row["weighing"]["failure"])

    def test_wrong_numbers_are_refused(self):
        for name, gates in dict(wrong_zeros=["precision"], wrong_memoised=["precision", "output"],
                                half_the_sum=["precision"], wrong_slot=["precision", "output"], returns_nan=["output"],
                                never_writes=["output"], stale_after_four=["output", "precision"], wrong_later=["output"],
                                writes_past_end=["output"], writes_before_start=["output"],
                                is_the_incumbent=["identity"], more_threads=["threads"]).items():
            with self.subTest(name):
                done, row = self.row_of(name)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(row["verdict"], "refused")
                self.assertTrue(set(gates) & set(tare.failed_gates(row)), tare.failed_gates(row))

    def test_one_wrong_bit_is_seen(self):
        for name in ["wrong_one_element", "wrong_in_one_slot"]:
            with self.subTest(name):
                _, row = self.row_of(name)
                self.assertEqual(row["bits"], "differ")

    def test_what_a_region_must_not_do(self):
        for name in ["allocates_per_call", "compiles_per_call"]:
            with self.subTest(name):
                _, row = self.row_of(name)
                self.assertIn("faults", tare.failed_gates(row))

    def test_misbehaviour_that_must_not_show(self):
        for name in ["honest", "garbage_output", "long_names", "unprintable_record", "unterminated_record",
                     "sleeping_thread", "leaves_a_child", "own_clock_symbol"]:
            with self.subTest(name):
                done, row = self.row_of(name)
                self.assertIsNone(row["weighing"]["failure"])
                self.assertNotIn("\x1b", done.stdout)
                self.assertNotIn("output", tare.failed_gates(row))

    def test_the_other_rows_are_still_weighed(self):
        done, lines = tare.headroom("--shape", "96x64", "--shape", "64x96", "--rows", "1,2", "--arm",
                                    path("crash_in_enqueue"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(tare.rows(lines)), 4)
        self.assertTrue(all("enqueue" in row["weighing"]["failure"] for row in tare.rows(lines)))


if __name__ == "__main__":
    unittest.main()
