"""Models as mlx-lm has them: from its folders, of a config.json with drawn weights, or made by a function."""

import importlib
import json
import pathlib

import mlx.core as mx
import mlx.nn as nn

SEED = 0  # of drawn weights: the same in every process


def load(name):
    """The model, and its tokenizer or None. `name`: a folder, a config.json, or MODULE:FUNCTION."""
    if ":" in name:
        module, function = name.split(":", 1)
        mx.random.seed(SEED)
        return getattr(importlib.import_module(module), function)(), None
    path = pathlib.Path(name)
    if path.is_dir():
        from mlx_lm import load as load_folder

        return load_folder(name)
    return drawn(json.loads(path.read_text())), None


def drawn(config):
    """A model of mlx-lm's in the configuration's shapes, in bf16; quantised where it says so ("quantization"). With "torch_dtype":
    "float32" the very same numbers, computed with in f32: what a verification can take as its reference."""
    from mlx_lm.utils import _get_classes

    Model, Arguments = _get_classes(config)
    mx.random.seed(SEED)
    # Where a published config is silent: what its class in transformers has.
    model = Model(Arguments.from_dict({"rms_norm_eps": 1e-6, **config}))
    model.set_dtype(mx.bfloat16)
    if "quantization" in config:
        nn.quantize(model, config["quantization"]["group_size"], config["quantization"]["bits"])
    if config.get("torch_dtype") == "float32":
        model.set_dtype(mx.float32)
    model.eval()
    mx.eval(model.parameters())
    return model


def cut_back(cache, tokens):
    """Forgets the last tokens of a context; False where it is of a kind that cannot."""
    if not all(hasattr(one, "is_trimmable") and one.is_trimmable() for one in cache):
        return False
    for one in cache:
        one.trim(tokens)
    return True


def new_cache(model):
    """An empty context for it."""
    if hasattr(model, "make_cache"):
        return model.make_cache()
    from mlx_lm.models.cache import make_prompt_cache

    return make_prompt_cache(model)
