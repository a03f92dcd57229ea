"""Each peer's rule on the example that its authors published: bench/judges/peers decides as they do."""
import json
import math
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/judges"))
import numpy as np
import peers
from peers import criterion, google_benchmark, hyperfine, nanobench, nvbench, tango, triton
from scipy import stats


class Nvbench(unittest.TestCase):
    """testing/stdrel_criterion.cu, testing/entropy_criterion.cu and python/test/test_nvbench_compare_legacy.py of NVIDIA/nvbench."""

    def test_constant_times_finish_after_the_five_samples_that_a_deviation_needs(self):
        self.assertEqual(nvbench.stdrel(np.full(20, 42.0), min_time=0), 5)

    def test_low_noise_finishes(self):
        self.assertEqual(nvbench.stdrel(np.array([100.0] * 4 + [101.0] * 16), max_noise=0.1, min_time=0), 5)

    def test_high_noise_does_not_finish_at_five(self):
        times = np.tile([10.0, 20.0, 30.0, 40.0, 50.0], 4)
        self.assertGreater(nvbench.stdrel(times, max_noise=0.1, min_time=0), 5)

    def test_too_few_samples_do_not_finish(self):
        self.assertFalse(math.isfinite(nvbench.noise_track(np.full(4, 42.0))[-1]))

    def test_noise_that_has_settled_finishes_at_a_multiple_of_sixteen(self):
        count = nvbench.stdrel(np.tile([1.0, 2.0], 400), min_time=0)
        self.assertLess(count, 800)
        self.assertEqual(count % 16, 0)

    def test_entropy_of_a_constant_finishes(self):
        self.assertLessEqual(nvbench.entropy(np.full(6, 42.0)), 6)

    def test_entropy_arch(self):
        arch = np.minimum(np.arange(50.0), 5)
        expected = [0.0, 1.0, 1.5, 2.0, 2.3, 2.5, 2.5, 2.4, 2.2, 2.1, 2.0, 1.9]  # as printed in their comment
        # Theirs is rounded, and log2(3) = 1.58 stands there as 1.5.
        np.testing.assert_allclose(nvbench.entropy_track(arch)[:12], expected, atol=0.1)
        entropies = nvbench.entropy_track(arch)
        self.assertTrue(nvbench.flat_line(entropies, -1.0, 0.3))
        self.assertFalse(nvbench.flat_line(entropies, -1.0, 0.7))
        self.assertFalse(nvbench.flat_line(entropies, -2.0, 0.3))

    def test_windows_of_299_are_looked_at_as_prefixes_are(self):
        random = np.random.default_rng(1)
        times = np.round(random.normal(100, 2, 3000))
        count = nvbench.entropy(times)
        entropies = nvbench.entropy_track(times)
        met = [n for n in range(2, 3001, 2) if nvbench.flat_line(entropies[max(0, n - 299):n], 0.048, 0.36)]
        self.assertEqual(count, met[0])

    @staticmethod
    def timed(mean, noise):
        return np.array([mean * (1 - noise), mean, mean * (1 + noise)])  # that mean, that relative deviation

    def test_compare(self):
        for (ref, ref_noise), (cmp, cmp_noise), verdict in (((1.0, 0.02), (1.01, 0.03), "same"), ((1.0, 0.01), (0.98, 0.01), "faster"),
                                                            ((1.0, 0.01), (1.02, 0.01), "slower")):
            self.assertEqual(nvbench.compare(self.timed(ref, ref_noise), self.timed(cmp, cmp_noise)).verdict, verdict)


@unittest.skipUnless(nvbench.robust_module(), "needs cuda-bench (pip install --no-deps cuda-bench==0.3.0)")
class NvbenchRobust(unittest.TestCase):
    def test_far_apart_and_alike(self):
        random = np.random.default_rng(2)
        times = random.normal(1e-3, 1e-6, 500)
        module = nvbench.robust_module()
        self.assertEqual(nvbench.compare_robust(times, times * 1.1, module).verdict, "slower")
        self.assertEqual(nvbench.compare_robust(times, times * 0.9, module).verdict, "faster")
        self.assertEqual(nvbench.compare_robust(times, times, module).verdict, "same")


@unittest.skipUnless(google_benchmark.report_module(), "needs compare.py (apt-get install libbenchmark-tools)")
class GoogleBenchmark(unittest.TestCase):
    INPUTS = Path(google_benchmark.TOOLS) / "gbench/Inputs"

    def test_compare_py_on_its_own_example(self):
        runs = [json.loads((self.INPUTS / f"test3_run{run}.json").read_text(encoding="utf-8")) for run in (0, 1)]
        report = google_benchmark.report_module().get_difference_report(*runs, utest=True)
        p_values = {row["name"]: (row["utest"]["time_pvalue"], row["utest"]["cpu_pvalue"]) for row in report if row["utest"]}
        # As TestReportDifferenceWithUTest of report.py expects them.
        self.assertAlmostEqual(p_values["BM_Two"][0], 1.0)
        self.assertAlmostEqual(p_values["BM_Two"][1], 2 / 3)
        self.assertAlmostEqual(p_values["short"][0], 0.7670968684102772)
        self.assertAlmostEqual(p_values["short"][1], 0.2)

    def test_nine_against_nine_apart(self):
        apart = [np.arange(9.0), np.arange(9.0) + 100]
        optimal, _, p_value = google_benchmark.report_module().calc_utest(apart, apart)
        self.assertTrue(optimal)
        # U = 0 of 81, by the normal law with continuity, which scipy takes from nine values on.
        z = (81 / 2 - 0.5) / math.sqrt(9 * 9 * 19 / 12)
        self.assertAlmostEqual(p_value, math.erfc(z / math.sqrt(2)))

    def test_the_program_prints_what_the_rule_is_given(self):
        done = subprocess.run([sys.executable, f"{google_benchmark.TOOLS}/compare.py", "--no-color", "benchmarks",
                               self.INPUTS / "test3_run0.json", self.INPUTS / "test3_run1.json"], capture_output=True, text=True)
        self.assertIn("short_pvalue", done.stdout)
        self.assertIn("0.7671", done.stdout)


class Nanobench(unittest.TestCase):
    """src/test/unit_mdape.cpp, unit_compare.cpp of martinus/nanobench."""

    def test_mdape(self):
        for values, expected in (([], 0), ([0] * 5, 0), ([0, 0, 0, 7, 9], 0), ([10, 10, 0, 10, 10], 0), ([0, 10], math.inf),
                                 ([8, 9, 10, 11, 12], 1 / 9)):
            self.assertAlmostEqual(nanobench.mdape(values), expected)

    def test_order_statistics_that_bracket_the_median(self):
        for count, confidence, expected in ((6, 0.95, (0, 5)), (8, 0.95, (0, 7)), (12, 0.95, (2, 9)), (20, 0.95, (5, 14)),
                                            (52, 0.95, (18, 33)), (100, 0.95, (39, 60)), (52, 0.99, (16, 35)), (100, 0.99, (36, 63)),
                                            (5, 0.95, None)):
            self.assertEqual(nanobench.median_indices(count, confidence), expected)


class Criterion(unittest.TestCase):
    """The two reports of the user guide of bheisler/criterion.rs (html_report/Fibonacci), and its tests' mathematics."""

    def test_the_guides_verdicts(self):
        # Iterative: [-0.8476 %, +1.3288 %], p = 0.65: "No change in performance detected."
        self.assertEqual(criterion.verdict_of(0.65, -0.008476, 0.013288), "unknown")
        # Recursive: [-2.2760 %, -0.2236 %], p = 0.02: "Change within noise threshold."
        self.assertEqual(criterion.verdict_of(0.02, -0.022760, -0.002236), "unknown")
        self.assertEqual(criterion.verdict_of(0.02, -0.03, -0.012), "faster")
        self.assertEqual(criterion.verdict_of(0.02, 0.012, 0.03), "slower")

    def test_bootstrapped_p_is_welchs_on_normal_samples(self):
        random = np.random.default_rng(3)
        first, second = random.normal(100, 1, 100), random.normal(100.3, 1, 100)
        expected = stats.ttest_ind(first, second, equal_var=False).pvalue
        # 20,000 resamples: a standard deviation of sqrt(p / 20,000) at most, and the tail is doubled.
        self.assertAlmostEqual(criterion.bootstrapped_p(first, second, random, 20000), expected, delta=8 * math.sqrt(expected / 20000))

    def test_interval_is_that_of_the_ratio_of_means(self):
        random = np.random.default_rng(4)
        first, second = random.normal(100, 1, 100), random.normal(102, 1, 100)
        low, high = criterion.change_interval(second, first, random, 10000)
        error = math.sqrt(2) * 0.01 / math.sqrt(100)  # delta method
        change = second.mean() / first.mean() - 1
        self.assertAlmostEqual((low + high) / 2, change, delta=error / 2)
        self.assertAlmostEqual(high - low, 2 * 1.96 * error, delta=error)

    def test_iterations_fill_the_time(self):
        linear = criterion.iterations(5, 1e-6)  # their guide: [d, 2d, 3d, ... Nd]
        self.assertEqual(linear[1] - linear[0], linear[0])
        self.assertAlmostEqual(linear.sum() * 1e-6, 5, delta=0.01)
        flat = criterion.iterations(2, 1e-3)
        self.assertEqual(set(flat), {20})


class Tango(unittest.TestCase):
    """check_iqr_variance_thresholds and check_outliers_zero_iqr of bazhenov/tango's tango-bench/src/lib.rs."""

    def outliers(self, random):
        return np.concatenate([random.uniform(-1000, -200, 10), random.uniform(200, 1000, 10)])

    def test_outliers_are_cut(self):
        random = np.random.default_rng(5)
        low, high = tango.kept_range(np.concatenate([random.uniform(-50, 50, 20), self.outliers(random)]))
        self.assertGreaterEqual(low, -50)
        self.assertLessEqual(high, 50)

    def test_no_spread_between_quartiles(self):
        random = np.random.default_rng(6)
        low, high = tango.kept_range(np.concatenate([np.zeros(20), self.outliers(random)]))
        self.assertEqual((low, high), (0, 0))

    def test_significant_beyond_one_percent_only(self):
        random = np.random.default_rng(7)
        times = random.normal(1000, 1, 100)
        self.assertEqual(tango.decides(times, random.normal(1030, 1, 100))[0], "slower")
        self.assertEqual(tango.decides(times, random.normal(1005, 1, 100))[0], "unknown")


class Hyperfine(unittest.TestCase):
    def test_the_readmes_table(self):
        fd = (0.232, 0.002)
        for other, relative, deviation in (((2.275, 0.046), 9.79, 0.22), ((1.427, 0.026), 6.14, 0.13)):
            ratio, spread = hyperfine.relative(fd, other)
            self.assertAlmostEqual(ratio, relative, delta=0.03)  # printed from unrounded means
            self.assertAlmostEqual(spread, deviation, delta=0.01)

    def test_their_unit_test(self):
        self.assertEqual(hyperfine.relative((2.0, 0), (3.0, 0))[0], 1.5)
        self.assertEqual(hyperfine.relative((2.0, 0), (5.0, 0))[0], 2.5)


class Triton(unittest.TestCase):
    def test_quantile_is_that_of_torch(self):
        # The example of torch.quantile's documentation, "linear", which testing._quantile restates.
        self.assertAlmostEqual(triton.quantile(np.arange(4.0), 0.6), 1.8)

    def test_repetitions_fill_a_tenth_of_a_second(self):
        timed, _ = triton.do_bench(np.full(5000, 1e-4))
        self.assertAlmostEqual(timed.sum(), triton.REPETITIONS, delta=2e-4)


class EveryRule(unittest.TestCase):
    def test_names_are_unique(self):
        names = [rule.name for rule in peers.RULES]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
