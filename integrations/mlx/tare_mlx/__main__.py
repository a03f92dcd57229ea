"""python -m tare_mlx verify MODEL --plan PLAN: the model's logits with the plan and without.
python -m tare_mlx weigh MODEL --plan PLAN: its tokens per second with the plan and without.

MODEL is a folder of mlx-lm's, a config.json (drawn weights), or MODULE:FUNCTION. Everything after it goes to tare verify-model
and tare weigh-model, which drive MLX in processes of this Python: --rows, --prompt, --seconds, --json ...
"""

import os
import pathlib
import shutil
import sys

VERBS = {"verify": "verify-model", "weigh": "weigh-model"}


def program():
    """The program that this package came with, or one on the PATH."""
    beside = pathlib.Path(__file__).resolve().parents[3].parent / "bin" / "tare"
    return os.environ.get("TARE") or (str(beside) if beside.exists() else shutil.which("tare"))


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in VERBS:
        sys.exit(__doc__)
    tare = program()
    if tare is None:
        sys.exit("tare_mlx: there is no program 'tare' on the PATH; name it: TARE=build/release/bin/tare")
    here = str(pathlib.Path(__file__).resolve().parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    os.execv(tare, [tare, VERBS[sys.argv[1]], sys.argv[2], "--engine", "mlx", "--python", sys.executable, *sys.argv[3:]])


if __name__ == "__main__":
    main()
