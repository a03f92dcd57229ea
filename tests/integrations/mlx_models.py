# A small decoder of the structure that mlx-lm gives Qwen2, with drawn weights.
import mlx.core as mx
import mlx.nn as nn

DIM, HIDDEN, HEADS, KV_HEADS, VOCABULARY, LAYERS = 256, 768, 4, 2, 640, 2


class Cache:
    """Keys and values of a context, as mlx-lm's."""

    def __init__(self):
        self.offset, self.keys, self.values = 0, None, None

    def update_and_fetch(self, keys, values):
        if self.keys is not None:
            keys, values = mx.concatenate([self.keys, keys], axis=2), mx.concatenate([self.values, values], axis=2)
        self.keys, self.values, self.offset = keys, values, keys.shape[2]
        return keys, values


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        each = DIM // HEADS
        self.q_proj = nn.Linear(DIM, DIM, bias=True)
        self.k_proj = nn.Linear(DIM, each * KV_HEADS, bias=True)
        self.v_proj = nn.Linear(DIM, each * KV_HEADS, bias=True)
        self.o_proj = nn.Linear(DIM, DIM, bias=False)
        self.rope = nn.RoPE(each)

    def __call__(self, x, cache):
        batch, length, _ = x.shape
        heads = lambda y, count: y.reshape(batch, length, count, -1).transpose(0, 2, 1, 3)  # noqa: E731
        q, k, v = heads(self.q_proj(x), HEADS), heads(self.k_proj(x), KV_HEADS), heads(self.v_proj(x), KV_HEADS)
        mask = "causal" if length > 1 else None
        q, k = self.rope(q, offset=cache.offset), self.rope(k, offset=cache.offset)
        k, v = cache.update_and_fetch(k, v)
        y = mx.fast.scaled_dot_product_attention(q, k, v, scale=(DIM // HEADS) ** -0.5, mask=mask)
        return self.o_proj(y.transpose(0, 2, 1, 3).reshape(batch, length, -1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = Attention()
        self.norm = nn.RMSNorm(DIM)
        self.gate_proj = nn.Linear(DIM, HIDDEN, bias=False)
        self.up_proj = nn.Linear(DIM, HIDDEN, bias=False)
        self.down_proj = nn.Linear(HIDDEN, DIM, bias=False)

    def __call__(self, x, cache):
        x = x + self.self_attn(x, cache)
        h = self.norm(x)
        return x + self.down_proj(nn.silu(self.gate_proj(h)) * self.up_proj(h))


class Decoder(nn.Module):
    """With the embedding as its head, or with one of its own."""

    def __init__(self, tied=True):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, DIM)
        self.layers = [Block() for _ in range(LAYERS)]
        if not tied:
            self.lm_head = nn.Linear(DIM, VOCABULARY, bias=False)

    def make_cache(self):
        return [Cache() for _ in self.layers]

    def __call__(self, tokens, cache=None):
        x = self.embed_tokens(tokens)
        for layer, own in zip(self.layers, cache or self.make_cache()):
            x = layer(x, own)
        return self.lm_head(x) if "lm_head" in self else self.embed_tokens.as_linear(x)


def decoder(tied=True, bits=None, seed=7):
    mx.random.seed(seed)
    model = Decoder(tied)
    model.set_dtype(mx.bfloat16)
    if bits:
        nn.quantize(model, group_size=64, bits=bits)
    mx.eval(model.parameters())
    return model
