"""Tare's kernels in MLX: what a plan serves on this machine, and nothing else.

    report = tare_mlx.compile(model, "plan.json")
    print(report)
    report.restore()
"""

import mlx.core  # noqa: F401  (its libraries must be there before _core's)

from .serving import Report, compile

__all__ = ["Report", "compile"]
