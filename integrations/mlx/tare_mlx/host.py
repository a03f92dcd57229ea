"""A model in a process of its own, for tare verify-model and tare weigh-model (src/serve/model_host.h).

usage: python -m tare_mlx.host MODEL THREADS CONTEXT SEQUENCES, with TARE_PLAN naming a plan or not. A request a line; an answer is
eight bytes of its length (the top bit: it is an error's sentence) and the bytes.
"""

import array
import hashlib
import os
import resource
import struct
import sys
import time

import mlx.core as mx

from .layers import Watch, groups_of
from .models import cut_back, load, new_cache
from .serving import compile

FAILED = 1 << 63


def some_tokens(count, vocabulary):
    """Ordinary tokens, the same in every process."""
    drawn, state = [], 12345
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        drawn.append((1000 + (state >> 33) % (vocabulary // 2)) % vocabulary)
    return drawn


def f32_bytes(values):
    values = values.astype(mx.float32)
    mx.eval(values)
    return bytes(memoryview(values))


class Host:
    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model, tokenizer
        self.width = model(mx.array([[0]])).shape[-1]
        self.began = None  # of begin(): its arguments
        self.begin(0, 1)

    def vocabulary(self):
        return struct.pack("<Q", self.width)

    def tokens(self, text):
        """Of a model without a tokenizer, bytes are tokens."""
        ids = self.tokenizer.encode(text) if self.tokenizer else [1 + byte % (self.width - 1) for byte in text.encode()]
        return array.array("i", ids).tobytes()

    def _chunks(self, rows, tokens):
        """Logits of a context that begins empty, so many tokens at a time."""
        cache = new_cache(self.model)
        for at in range(0, len(tokens), rows):
            yield self.model(mx.array([tokens[at : at + rows]]), cache=cache)[0]

    def logits(self, rows, *tokens):
        return b"".join(f32_bytes(logits) for logits in self._chunks(rows, tokens))

    def _watched(self, rows, tokens):
        with Watch(self.model) as watch:
            for logits in self._chunks(rows, tokens):
                mx.eval(logits)
        return watch.calls

    def trace(self, rows, *tokens):
        digest = lambda y: hashlib.blake2b(f32_bytes(y), digest_size=8).hexdigest()  # noqa: E731
        return self._lines([(call, digest(call.y)) for call in self._watched(rows, tokens)])

    def output(self, index, rows, *tokens):
        return f32_bytes(self._watched(rows, tokens)[index].y)

    @staticmethod
    def _lines(calls):
        together = {id(product): sum(one.n for one in group) for group in groups_of([call for call, _ in calls]) for product in group}
        lines = [f"{call.product.name} {call.product.k} {call.product.n} {call.x.size // call.product.k} "
                 f"{call.product.type} {last} {together.get(id(call.product), 0)}\n" for call, last in calls]
        return "".join(lines).encode()

    # ---- batches: the next token of each of `rows` sequences, or prompts of so many tokens, each in an empty context

    def begin(self, before, sequences):
        """A context of so many tokens: the last one's again where it was of as many, since a prompt takes a processor seconds."""
        if self.began != (before, sequences) or not cut_back(self.cache, self.decoded):
            self._begin_anew(before, sequences)
        self.began, self.decoded, self.next = (before, sequences), 0, self.first
        return b""

    def _begin_anew(self, before, sequences):
        self.cache = new_cache(self.model)
        self.first = mx.array([[token] for token in some_tokens(sequences, self.width)])
        if before > 0:
            prompt = mx.array([some_tokens(before, self.width)] * sequences)
            self.first = self._likeliest(self.model(prompt, cache=self.cache))
        mx.eval(self.first)

    @staticmethod
    def _likeliest(logits):
        return mx.argmax(logits[:, -1:], axis=-1)

    def _decode(self, count):
        """As mlx-lm does it: the next step's graph is built while this one's runs."""
        for _ in range(count):
            following = self._likeliest(self.model(self.next, cache=self.cache))
            mx.async_eval(following)
            mx.eval(self.next)
            self.next = following
        mx.eval(self.next)
        self.decoded += count

    def _prompts(self, rows, count):
        for _ in range(count):
            mx.eval(self.model(mx.array([some_tokens(rows, self.width)]), cache=new_cache(self.model))[:, -1])

    def _run(self, rows, count, anew):
        if anew:
            self._prompts(rows, count)
        else:
            self._decode(count)

    def time(self, rows, count, anew):
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        self._run(rows, count, anew)
        seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return struct.pack("<4d", seconds, processor, after.ru_minflt - before.ru_minflt, after.ru_nivcsw - before.ru_nivcsw)

    def profile(self, before, rows, count, anew):
        """Each product evaluated by itself."""
        seconds = []

        def timed(own, layer, x):
            mx.eval(x)
            start = time.perf_counter()
            y = own(layer, x)
            mx.eval(y)
            seconds.append(time.perf_counter() - start)
            return y

        self.begin(before, 1 if anew else rows)
        with Watch(self.model, timed) as watch:
            self._run(rows, count, anew)
        return self._lines([(call, f"{one:.9f}") for call, one in zip(watch.calls, seconds)])


VERBS = {"vocabulary", "logits", "trace", "output", "begin", "time", "profile"}


def respond(host, line):
    verb, _, rest = line.partition(" ")
    if verb == "tokens":
        return host.tokens(rest)
    if verb not in VERBS:
        raise ValueError(f"no such request: {line[:60]}")
    return getattr(host, verb)(*map(int, rest.split()))


def stay_on_one_processor():
    """The thread that drives a GPU, on the same processor in every host, of which one works at a time: on an H200's host each
    processor is fast for some seconds and slow for others (4.5 and 7.3 ms a token), and hosts elsewhere cannot be paired."""
    if mx.default_device() == mx.gpu and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints, answers stay whole

    def answer(data, flag=0):
        out.write(struct.pack("<Q", len(data) | flag) + data)
        out.flush()

    try:
        model, tokenizer = load(sys.argv[1])
        plan = os.environ.get("TARE_PLAN")
        # Of the plan's own row counts alone: verify-model compares the rest.
        report = compile(model, plan, lengths=()) if plan else None
        if report is not None and os.environ.get("TARE_LOG"):
            print(f"tare: {report}", file=sys.stderr)
        host = Host(model, tokenizer)
        stay_on_one_processor()
    except Exception as error:
        answer(str(error).encode(), FAILED)
        return 1
    answer(b"ready")
    for line in sys.stdin:
        try:
            answer(respond(host, line.rstrip("\n")))
        except Exception as error:
            answer(str(error).encode(), FAILED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
