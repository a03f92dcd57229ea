"""A model's layers: which of them are products with a matrix that a kernel knows, and how others stand in for them.

A layer that is served keeps its place, its parameters and its type's methods; its class becomes a subclass that asks its
stands first. What no stand takes (other row counts, other types, weights that were exchanged since, weights that are
traced) the layer does itself, as ever.
"""

from dataclasses import dataclass, field

import mlx.core as mx
import mlx.nn as nn

from . import _core

# The method that is the product, by the class that defines it. An embedding is one when it is also the head.
METHODS = {nn.Linear: "__call__", nn.QuantizedLinear: "__call__", nn.Embedding: "as_linear",
           nn.QuantizedEmbedding: "as_linear"}


def method_of(layer):
    """The name of the method that multiplies, or None. A class that has a method of its own is something else."""
    own = getattr(type(layer), "_tare_base", type(layer))
    for base, name in METHODS.items():
        if issubclass(own, base) and getattr(own, name) is getattr(base, name):
            return name
    return None


def arrays_of(layer):
    """weight, scales, biases, bias; None where it has none."""
    return tuple(layer.get(name) for name in ("weight", "scales", "biases", "bias"))


def type_of(layer):
    """The name of the weights' type, as Tare writes it; None where no kernel takes it."""
    weight, scales, biases, bias = arrays_of(layer)
    if bias is not None and bias.dtype != mx.bfloat16:
        return None
    if scales is None:
        return "bf16" if weight.dtype == mx.bfloat16 else None
    known = getattr(layer, "mode", "affine") == "affine" and layer.group_size == 64 and layer.bits in (4, 8)
    return f"mlx-int{layer.bits}-g64" if known and biases is not None and scales.dtype == mx.bfloat16 else None


@dataclass
class Product:
    """One layer of a model that multiplies with a matrix."""

    name: str
    layer: nn.Module
    type: str
    k: int
    n: int

    @property
    def has_bias(self):
        return "bias" in self.layer


def product_of(name, layer):
    type = type_of(layer) if method_of(layer) else None
    if type is None:
        return None
    weight, scales, _, _ = arrays_of(layer)
    k = weight.shape[1] if scales is None else scales.shape[1] * 64
    return Product(name, layer, type, k, weight.shape[0])


# ---- other classes for layers --------------------------------------------------------------------------------------------

def _replace(layer, make):
    """Gives the layer a subclass of its own class, whose product is make(the old one)."""
    base, name = type(layer), method_of(layer)
    layer.__class__ = type(base.__name__, (base,), {name: make(getattr(base, name)), "_tare_base": base})


def _put_back(layer):
    layer.__class__ = layer._tare_base


def stand_in(layer, stand, index):
    """From now on `stand` is asked before the layer's own product, and before those that stood in earlier."""
    stands = layer.__dict__.get("_tare_stands")
    if stands is not None:
        stands.insert(0, (stand, index))
        return
    stands = [(stand, index)]

    def served(own):
        def product(self, x):
            for one, place in stands:
                y = one(place, x, self)
                if y is not None:
                    return y
            return own(self, x)

        return product

    _replace(layer, served)
    object.__setattr__(layer, "_tare_stands", stands)


def stand_down(layer, stand):
    stands = layer.__dict__["_tare_stands"]
    stands[:] = [one for one in stands if one[0] is not stand]
    if not stands:
        _put_back(layer)
        del layer.__dict__["_tare_stands"]


@dataclass
class Call:
    product: Product
    x: mx.array
    y: mx.array


def _unwatched(own, layer, x):
    return own(layer, x)


class Watch:
    """Within it, every product of the model is noted in the order of calls. Nothing else changes.

    Served ones are watched, too: y is what the model went on with. `run(own, layer, x)`: what calls them.
    """

    def __init__(self, model, run=_unwatched):
        self.calls, self.run = [], run
        self.products = [one for name, layer in model.named_modules() if (one := product_of(name, layer))]

    def __enter__(self):
        for product in self.products:
            self._watch(product)
        return self

    def __exit__(self, *_):
        for product in self.products:
            product.layer.__class__ = product.layer.__class__.__mro__[1]

    def _watch(self, product):
        base, name = type(product.layer), method_of(product.layer)
        own = getattr(base, name)

        def watched(layer, x):
            y = self.run(own, layer, x)
            self.calls.append(Call(product, x, y))
            return y

        product.layer.__class__ = type(base.__name__, (base,), {name: watched})


# ---- parts ---------------------------------------------------------------------------------------------------------------

@dataclass
class Part:
    """What is served or left as one: a product, or several that are given the same x, as one matrix."""

    products: list
    served: list  # of the plan: row counts, arms and equalities
    stand: object = None
    bytes: int = 0
    reason: str = ""  # why it was left

    @property
    def name(self):
        return "+".join(one.name for one in self.products)

    @property
    def rows(self):
        return [one.rows for one in self.served]

    @property
    def keeps_bits(self):
        """Whether the plan promises the incumbent's bits at every row count."""
        return all(one.equality in ("incumbent", "one-row") for one in self.served)

    def pack(self, engine):
        arrays = [arrays_of(one.layer) for one in self.products]
        together = [mx.concatenate(list(kind)) if kind[0] is not None else None for kind in list(zip(*arrays))[:3]]
        self.stand = _core.Stand([one.n for one in self.products])
        for one in self.products:
            self.stand.expect(one.layer)
        for arm in {one.arm for one in self.served}:
            matrix = engine.pack(arm, self.products[0].type, *together)
            self.bytes += matrix.bytes
            for one in self.served:
                if one.arm == arm:
                    self.stand.serve(one.rows, matrix)

    def put_in(self):
        for index, product in enumerate(self.products):
            stand_in(product.layer, self.stand, index)

    def take_out(self):
        for product in self.products:
            stand_down(product.layer, self.stand)


def groups_of(calls):
    """Products that were given the very same array, in the order of calls: those of one type, with a bias all or none."""
    groups = {}
    for call in calls:
        key = (_core.identity(call.x), call.product.type, call.product.k, call.product.has_bias)
        group = groups.setdefault(key, [])
        if call.product not in group:
            group.append(call.product)
    return [group for group in groups.values() if len(group) > 1]


def parts_of(calls, plan, engine):
    """What the plan serves of the products that were called; those side by side come last, so that they are asked first."""
    def part(products):
        n = sum(one.n for one in products)
        served = [one for one in plan.served(products[0].type, products[0].k, n) if engine.has(one.arm, products[0].type)]
        return Part(products, served)

    single = {id(call.product): [call.product] for call in calls}
    parts = [part(products) for products in [*single.values(), *groups_of(calls)]]
    return [one for one in parts if one.served]
