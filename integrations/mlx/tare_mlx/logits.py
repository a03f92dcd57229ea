"""A model's logits, and how two sets of them differ."""

from dataclasses import dataclass
import math

import mlx.core as mx
from mlx.utils import tree_map

# Whole prompts of these lengths, and of each row count that a plan serves.
LENGTHS = (1, 2, 8, 32, 48)
ONE_TOKEN_PROMPTS = 8
MOST_TOKENS = 512


def default_prompts(vocabulary, served_rows, lengths=LENGTHS):
    """Tokens drawn evenly, always the same ones: some prompts of one, and one of each length and each row count."""
    lengths = sorted({1, *lengths, *(rows for rows in served_rows if rows <= MOST_TOKENS)})
    lengths = [1] * (ONE_TOKEN_PROMPTS - 1) + lengths
    state = 12345

    def draw():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % vocabulary

    return [[draw() for _ in range(length)] for length in lengths]


def logits_of(model, tokens):
    """[tokens, vocabulary] in f32, evaluated."""
    logits = model(mx.array([tokens]))[0].astype(mx.float32)
    mx.eval(logits)
    return logits


def all_logits(model, prompts):
    return [logits_of(model, tokens) for tokens in prompts]


def exact_logits(model, prompts):
    """Of the same model with all its numbers in f32, which it has for the time of this call."""
    own = model.parameters()
    widen = lambda array: array.astype(mx.float32) if mx.issubdtype(array.dtype, mx.floating) else array  # noqa: E731
    model.update(tree_map(widen, own))
    try:
        return all_logits(model, prompts)
    finally:
        model.update(own)


def is_finite(logits):
    return all(mx.all(mx.isfinite(one)).item() for one in logits)


def differing(before, after):
    """Elements with other bits."""
    same = lambda a, b: a.view(mx.uint32) != b.view(mx.uint32)  # noqa: E731
    return sum(mx.sum(same(a, b)).item() for a, b in zip(before, after))


@dataclass
class Errors:
    """Against exact logits, over tokens: those of one token have one hidden state in common, so a token is one draw."""

    rms: float
    max: float
    tokens: int

    @staticmethod
    def of(logits, exact):
        squares, most, tokens = [], 0.0, 0
        for ours, theirs in zip(logits, exact):
            error = ours - theirs
            squares += mx.mean(mx.square(error), axis=-1).tolist()
            most = max(most, mx.max(mx.abs(error)).item())
            tokens += error.shape[0]
        return Errors(math.sqrt(sum(squares) / max(1, len(squares))), most, tokens)

    def not_worse(self):
        """The largest errors of another that are not worse: the rule of a kernel's proof (`bounded`), a token a draw."""
        return Errors(self.rms * (1 + 3 / math.sqrt(self.tokens)), 1.25 * self.max, self.tokens)

    def within(self, bound):
        return self.rms <= bound.rms and self.max <= bound.max  # a NaN fails
