"""What the tests of serving in llama.cpp share: its programs, a small model, a plan, and a model's host."""
import os
import pathlib
import re
import struct
import subprocess
import tempfile

DEPS = pathlib.Path(os.environ["TARE_DEPS"])
BIN = DEPS / "llama.cpp" / "bin"
GEMMA = DEPS / "models" / "gemma-3-270m-q4_k_m.gguf"
GGML = "ggml " + (DEPS / "ggml/lib/libggml-base.so.0").resolve().name.split(".so.")[1]
# Built as it is, llama-completion loads out-of-tree back ends only where an option names a device or a buffer; this
# one matches no tensor.
LOADS = ["-ot", "^$=CPU"]
# Of the small model, by projection.
SHAPES = {"q": "256x256", "k": "256x128", "v": "256x128", "o": "256x256", "gate": "256x512", "up": "256x512", "down": "512x256",
          "lm_head": "256x320"}
# One of each type that is served; ggml keeps q, o and down in a layout of its own where the processor has one.
MIXED = {"q": "q4_k", "k": "q8_0", "v": "bf16", "o": "q4_0", "gate": "q5_0", "up": "q6_k", "down": "q4_k", "lm_head": "q8_0"}


def small_model(folder, types=None):
    """A model whose weights have these types, by projection; others are bf16."""
    path = pathlib.Path(folder) / "small.gguf"
    named = [f"{projection}={kind}" for projection, kind in (types or {}).items()]
    subprocess.run([os.environ["TARE_SYNTHETIC_MODEL"], path, *named], check=True)
    return path


def decisions(types, rows):
    """Of a plan that serves the small model at these row counts."""
    return sorted({f"{types.get(name, 'bf16')}:{shape}:{count}" for name, shape in SHAPES.items() for count in rows})


def plan(folder, *decisions, title=GGML, threads=0, **pretended):
    """`pretended`: processor or kernels, of another machine or build."""
    path = pathlib.Path(folder) / "plan.json"
    variables = {f"TARE_SYNTHETIC_{name.upper()}": value for name, value in pretended.items()}
    subprocess.run([os.environ["TARE_SYNTHETIC_PLAN"], path, "ggml", title, str(threads), *decisions], check=True,
                   env=os.environ | variables)
    return path


def environment(plan=None, backend=True):
    names = ("TARE_PLAN", "TARE_LOG", "GGML_BACKEND_PATH")
    variables = {name: value for name, value in os.environ.items() if name not in names}
    if backend:
        variables |= {"GGML_BACKEND_PATH": os.environ["TARE_BACKEND"], "TARE_LOG": "1"}
    if plan is not None:
        variables["TARE_PLAN"] = str(plan)
    return variables


def run(program, *arguments, plan=None, backend=True):
    return subprocess.run([BIN / program, *map(str, arguments)], capture_output=True, text=True, timeout=900,
                          env=environment(plan, backend), stdin=subprocess.DEVNULL, errors="replace")


def said(process):
    return [line for line in process.stderr.splitlines() if line.startswith("tare: ")]


def served(lines):
    """How many products, by what they were: {"q8_0 640x262144, 1 row": 12}."""
    found = (re.match(r"tare:   served (\d+) times: (.*)", line) for line in lines)
    return {match[2]: int(match[1]) for match in found if match}


class Host:
    """llama-host, spoken to as src/serve/model_host.h does."""

    def __init__(self, model, plan=None, threads=0, context=2048, sequences=1):
        command = [os.environ["TARE_LLAMA_HOST"], model, threads or os.cpu_count(), context, sequences]
        self.log = tempfile.TemporaryFile()  # a pipe that nobody reads fills up
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, env=environment(plan, plan is not None))
        self.answer()

    def answer(self):
        header = self.process.stdout.read(8)
        if len(header) < 8:
            raise RuntimeError("\n".join(self.said()[-60:]))
        size = struct.unpack("<Q", header)[0]
        text = self.process.stdout.read(size & ~(1 << 63))
        if size >> 63:
            raise RuntimeError(text.decode())
        return text

    def ask(self, request):
        self.process.stdin.write(request.encode() + b"\n")
        self.process.stdin.flush()
        return self.answer()

    def logits(self, tokens, rows):
        return self.ask(f"logits {rows} {' '.join(map(str, tokens))}")

    def end(self):
        """Ends it: (exit code, what it said)."""
        self.process.stdin.close()
        code = self.process.wait(timeout=120)
        self.process.stdout.close()
        lines = self.said()
        self.log.close()
        return code, lines

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace").splitlines()
