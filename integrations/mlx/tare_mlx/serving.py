"""tare_mlx.compile: what a plan serves takes the places of a model's layers, once the model's logits were compared."""

import sys
import time

import mlx.core as mx

from . import _core
from .layers import Watch, parts_of
from .logits import LENGTHS, Errors, all_logits, default_prompts, differing, exact_logits, is_finite, logits_of


class Report:
    """What compile() did. False when nothing was replaced."""

    def __init__(self, why=""):
        self.why = why  # one line, where nothing is served
        self.kept, self.left = [], []  # parts
        self.seconds = {}  # to find (the model's own logits, too), to pack, to compare
        self.differing = None  # logits with other bits than before, of `elements`; None: nothing was compared
        self.elements = 0
        self.errors = None  # against f32: before, with the plan; None where all bits are equal by the plan

    def __bool__(self):
        return bool(self.kept)

    @property
    def packed_bytes(self):
        return sum(part.bytes for part in self.kept)

    @property
    def dispatches(self):
        """Products that were served so far."""
        return sum(part.stand.served for part in self.kept)

    def restore(self):
        """Everything is as it was before compile(). Again does nothing."""
        for part in reversed(self.kept):
            part.take_out()
        self.kept, self.why = [], "restored"

    def __str__(self):
        if not self and not self.left:
            return f"nothing is served: {self.why}"
        lines = [f"{len(self.kept)} parts are served, {len(self.left)} were left"]
        if self:
            lines.append(f"it cost {self.packed_bytes / 1e6:.1f} MB beside the model's own, and {sum(self.seconds.values()):.1f} s: "
                         + ", ".join(f"{self.seconds[one]:.2f} to {one}" for one in ("find", "pack", "compare")))
            lines.append(f"logits: {self.differing} of {self.elements} differ")
        if self.errors:
            lines.append("against f32: rms {:.4g} before, {:.4g} with the plan; max {:.4g}, {:.4g}".format(
                self.errors[0].rms, self.errors[1].rms, self.errors[0].max, self.errors[1].max))
        lines += [f"  left {part.name}: {part.reason}" for part in self.left]
        return "\n".join(lines)


def _device():
    return "gpu" if mx.default_device() == mx.gpu else "cpu"


def _nothing(why):
    print(f"tare: nothing is served: {why}", file=sys.stderr)
    return Report(why)


class _Comparing:
    """Puts parts in as long as the logits allow it."""

    def __init__(self, model, prompts, before):
        self.model, self.prompts, self.before = model, prompts, before
        self.exact, self.bound = None, None

    def settle(self, parts, rule, report):
        """Keeps those that pass: all at once, or else by halves."""
        if not parts:
            return
        for part in parts:
            part.put_in()
        reason = rule(all_logits(self.model, self.prompts))
        if not reason:
            report.kept += parts
            return
        for part in reversed(parts):
            part.take_out()
        if len(parts) == 1:
            parts[0].reason = reason
            report.left += parts
            return
        half = len(parts) // 2
        self.settle(parts[:half], rule, report)
        self.settle(parts[half:], rule, report)

    def equal_bits(self, after):
        if not is_finite(after):
            return "with it, logits are NaN or infinite"
        count = differing(self.before, after)
        return f"with it, {count} logits have other bits" if count else ""

    def not_worse(self, after):
        if not is_finite(after):
            return "with it, logits are NaN or infinite"
        if self.exact is None:
            self.exact = exact_logits(self.model, self.prompts)
            self.bound = Errors.of(self.before, self.exact).not_worse()
        errors = Errors.of(after, self.exact)
        if errors.within(self.bound):
            return ""
        return (f"with it, logits are farther from f32: rms {errors.rms:.4g}, where {self.bound.rms:.4g} is no worse, max "
                f"{errors.max:.4g}, where {self.bound.max:.4g} is")


def _packed(parts, engine, report):
    """Those for which there was memory, and a kernel that takes their shape."""
    packed = []
    for part in parts:
        try:
            part.pack(engine)
            packed.append(part)
        except Exception as error:  # whatever it is, the model goes on without this part
            part.reason = str(error)
            report.left.append(part)
    return packed


def compile(model, plan, prompts=None, lengths=LENGTHS):
    """Serves `model` (mlx.nn.Module: tokens [1, length] to logits) by `plan` (a file that `tare plan` wrote).

    Logits of `prompts` (lists of tokens; default: drawn ones of `lengths` and of every row count of the plan) are compared
    before anything stays replaced. Parts that the plan serves at the equality 'incumbent' or 'one-row' must leave every bit of
    them; others must leave their errors against f32 no worse. Parts that do not are left, one by one.
    """
    try:
        engine = _core.engine(_device(), _core.threads_of_plan(str(plan)))
        held = _core.Plan(str(plan), _device(), engine.library)
    except Exception as error:
        return _nothing(str(error))
    report, start = Report(), time.perf_counter()
    with Watch(model) as watch:
        vocabulary = logits_of(model, [0]).shape[-1]
    parts = parts_of(watch.calls, held, engine)
    if not parts:
        return _nothing(f"the plan '{plan}' serves none of this model's {len(watch.calls)} products")
    prompts = prompts or default_prompts(vocabulary, {rows for part in parts for rows in part.rows}, lengths)
    before = all_logits(model, prompts)
    if not is_finite(before):
        return _nothing("the model's own logits are NaN or infinite")
    found = time.perf_counter()
    parts = _packed(parts, engine, report)
    packed = time.perf_counter()
    comparing = _Comparing(model, prompts, before)
    comparing.settle([part for part in parts if part.keeps_bits], comparing.equal_bits, report)
    comparing.settle([part for part in parts if not part.keeps_bits], comparing.not_worse, report)
    _conclude(report, model, prompts, comparing)
    report.seconds = {"find": found - start, "pack": packed - found, "compare": time.perf_counter() - packed}
    if not report:
        report.why = f"none of {len(report.left)} parts passed: {report.left[0].name}: {report.left[0].reason}"
        print(f"tare: nothing is served: {report.why}", file=sys.stderr)
    return report


def _conclude(report, model, prompts, comparing):
    if not report:
        return
    after = all_logits(model, prompts)
    report.differing, report.elements = differing(comparing.before, after), sum(one.size for one in after)
    if comparing.exact is not None:
        report.errors = (Errors.of(comparing.before, comparing.exact), Errors.of(after, comparing.exact))
