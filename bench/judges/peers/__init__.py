"""How others decide whether one arm is faster than another: one function a rule, one file a peer.

Each takes a window (traces.py) and returns a Claim. Where a peer's own program can be had it decides; else its published
rule is restated here, with where it was published. tests/bench_judges holds each against its published example.
Ratios are candidate time / incumbent time: below 1 the candidate is faster."""
from dataclasses import dataclass

import numpy as np

from . import by_hand, criterion, google_benchmark, hyperfine, nanobench, nvbench, tango, triton


@dataclass(frozen=True)
class Rule:
    name: str
    order: str  # "sequential" or "interleaved"
    kind: str  # "own program" or "published rule": who decides
    decide: object
    source: str
    missing: object = lambda: None  # says what to install where the peer's program is absent


def lacks(module, advice):
    return lambda: None if module() is not None else advice


RULES = [
    Rule("nvbench stdrel, compare", "sequential", "published rule", nvbench.stdrel_rule,
         "NVIDIA/nvbench stdrel_criterion.cxx, nvbench_compare.py"),
    Rule("nvbench entropy, compare", "sequential", "published rule", nvbench.entropy_rule,
         "NVIDIA/nvbench entropy_criterion.cxx, nvbench_compare.py"),
    Rule("nvbench stdrel, compare-robust", "sequential", "own program", nvbench.robust_rule, "cuda-bench 0.3.0",
         lacks(nvbench.robust_module, "pip install --no-deps cuda-bench==0.3.0")),
    Rule("Google Benchmark U test", "sequential", "own program", google_benchmark.utest_rule, "libbenchmark-tools 1.7.1, compare.py",
         lacks(google_benchmark.report_module, "apt-get install libbenchmark-tools")),
    Rule("nanobench relative, err%", "sequential", "published rule", nanobench.relative_rule, "martinus/nanobench nanobench.h"),
    Rule("nanobench compare()", "interleaved", "published rule", nanobench.compare_rule, "martinus/nanobench nanobench.h"),
    Rule("criterion.rs", "sequential", "published rule", criterion.rule, "bheisler/criterion.rs src/analysis/compare.rs"),
    Rule("tango", "interleaved", "published rule", tango.rule, "bazhenov/tango tango-bench/src/lib.rs"),
    Rule("hyperfine, Welch", "sequential", "published rule", hyperfine.welch_rule, "sharkdp/hyperfine scripts/welch_ttest.py"),
    Rule("hyperfine, x ± y times", "sequential", "published rule", hyperfine.relative_rule,
         "sharkdp/hyperfine src/benchmark/relative_speed.rs"),
    Rule("Triton do_bench, mean", "sequential", "published rule", triton.do_bench_rule(np.mean), "triton 3.4.0 testing.py"),
    Rule("Triton do_bench, median", "sequential", "published rule",
         triton.do_bench_rule(lambda times: triton.quantile(times, 0.5)), "triton 3.4.0 testing.py"),
    Rule("median of five", "sequential", "published rule", by_hand.of_five(np.median), "common practice"),
    Rule("minimum of five", "sequential", "published rule", by_hand.of_five(np.min), "common practice"),
]
