"""Eight-bit weights and activations for inference on CPUs: twice as fast, a third of the size.

Affine quantisation after training (Jacob et al., 2018; Krishnamoorthi, 2018): batch normalisation
folded into the convolutions, weights by output channel and symmetric, activations by tensor with
ranges seen on samples, and biases that make up for what rounding shifts. Weights keep to seven
bits, so that processors without VNNI, which add pairs of products in 16 bits, compute the same.
"""

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import fx, nn
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval

from training.common import layers

TAIL = 1e-4  # share of an activation's values that may lie beyond its range, at each end
CORRECTING = 6  # batches of samples that biases are put right by
OPSET = 17


class Activation(nn.Module):
    """Passes a tensor through and notes its range; once fixed, rounds it to 256 levels of that
    range."""

    def __init__(self):
        super().__init__()
        self.low, self.high, self.scale, self.zero = 0.0, 1e-3, None, 0

    def forward(self, x):
        if self.scale is None:
            values = x.flatten()
            values = values[:: max(1, values.numel() // 200000)]
            self.low = min(self.low, float(torch.quantile(values, TAIL)))
            self.high = max(self.high, float(torch.quantile(values, 1 - TAIL)))
            return x
        return torch.fake_quantize_per_tensor_affine(x, self.scale, self.zero, 0, 255)

    def fix(self):
        self.scale = (self.high - self.low) / 255
        self.zero = round(-self.low / self.scale)


class Convolution(nn.Module):
    """A convolution whose weights are rounded, each output channel on its own scale."""

    def __init__(self, conv):
        super().__init__()
        self.conv = conv
        self.register_buffer(
            "scale",
            conv.weight.detach().abs().amax((1, 2, 3)).clamp(min=1e-6) / layers.WEIGHT_LEVELS,
        )
        self.register_buffer("zero", torch.zeros(conv.out_channels, dtype=torch.int32))

    def forward(self, x):
        c = self.conv
        weight = torch.fake_quantize_per_channel_affine(
            c.weight, self.scale, self.zero, 0, -128, 127
        )
        return F.conv2d(x, weight, c.bias, c.stride, c.padding, c.dilation)


class Tracer(fx.Tracer):
    def is_leaf_module(self, module, name):
        return isinstance(module, Convolution) or super().is_leaf_module(module, name)


def quantise(model, samples):
    """The model (in eval mode; it is changed) as a module that computes with rounded numbers.

    samples: its inputs, a tuple for each batch, that show the ranges of the activations.
    """
    fold(model)
    names = [name for name, module in model.named_modules() if isinstance(module, nn.Conv2d)]
    wanted = channel_means(model, names, samples[:CORRECTING])
    names = [name for name in names if torch.is_tensor(wanted[name])]  # those that the answer needs
    for name in names:
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, Convolution(model.get_submodule(name)))
    graph = fx.GraphModule(model, Tracer().trace(model))
    activations = put_activations(graph)
    with torch.no_grad():
        for batch in samples:
            graph(*batch)
    for activation in activations:
        activation.fix()
    correct_biases(graph.eval(), names, wanted, samples)
    return graph


@torch.no_grad()
def channel_means(model, names, samples):
    """The mean of each channel that the named layers give, over the samples."""
    sums = {name: 0 for name in names}

    def note(name):
        def hook(_, __, output):
            sums[name] = sums[name] + output.mean((0, 2, 3))

        return hook

    hooks = [model.get_submodule(name).register_forward_hook(note(name)) for name in names]
    for batch in samples:
        model(*batch)
    for hook in hooks:
        hook.remove()
    return {name: value / len(samples) for name, value in sums.items()}


@torch.no_grad()
def correct_biases(graph, names, wanted, samples, at_once=8):
    """Rounding shifts what a layer gives in the mean; its bias takes that back (Nagel et al.,
    2019). Some layers are put right at a time, from the first on, since each sees what those before
    it give."""
    for i in range(0, len(names), at_once):
        part = names[i : i + at_once]
        for name, mean in channel_means(graph, part, samples[:CORRECTING]).items():
            conv = graph.get_submodule(name).conv
            shift = wanted[name] - mean
            conv.bias = nn.Parameter(
                shift if conv.bias is None else conv.bias + shift, requires_grad=False
            )


def fold(module):
    """Folds every batch normalisation into the convolution before it."""
    for child in module.children():
        fold(child)
    if isinstance(module, nn.Sequential):
        layers = list(module.named_children())
        for (name, conv), (other, norm) in zip(layers, layers[1:]):
            if isinstance(conv, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                setattr(module, name, fuse_conv_bn_eval(conv, norm))
                setattr(module, other, nn.Identity())


def put_activations(graph):
    """Rounds what every layer hands on: after ReLUs, and after what no ReLU follows."""
    modules = dict(graph.named_modules())
    layer = lambda node: modules[node.target] if node.op == "call_module" else None
    relu = lambda node: node.target is F.relu or isinstance(layer(node), nn.ReLU)
    named = lambda node, *names: getattr(node.target, "__name__", node.target) in names

    def users(node):
        for user in node.users:
            yield from users(user) if isinstance(layer(user), nn.Identity) else [user]

    def computed(node):
        if named(node, "add", "sub", "mean"):
            return feeds(node)
        return isinstance(layer(node), Convolution)

    def feeds(node):
        """Whether a convolution computes with what comes of it."""
        return any(isinstance(layer(user), Convolution) or feeds(user) for user in node.users)

    made = []
    for node in list(graph.graph.nodes):
        if not relu(node) and (not computed(node) or any(relu(u) for u in users(node))):
            continue
        made.append(Activation())
        name = f"activation{len(made)}"
        graph.add_module(name, made[-1])
        with graph.graph.inserting_after(node):
            rounded = graph.graph.call_module(name, (node,))
        node.replace_all_uses_with(rounded)
        rounded.args = (node,)
    graph.recompile()
    return made


def to_onnx(model, path, example, inputs, outputs, dynamic=None, integers=()):
    """Writes a model, whose quantised parts get their weights as 8-bit integers. example: a tuple
    of its inputs; inputs, outputs: their names; integers: those of them that are to be bytes as the
    network computes with them, the channels of a pixel together. Returns what these bytes mean:
    their scale, and the byte that is zero."""
    torch.onnx.export(
        model,
        example,
        str(path),
        opset_version=OPSET,
        do_constant_folding=False,
        input_names=inputs,
        output_names=outputs,
        dynamic_axes=dynamic,
        dynamo=False,
    )
    written = onnx.load(str(path))
    store_integers(written.graph)
    enlarge_integers(written.graph)
    meaning = {
        name: (take_integers if name in inputs else give_integers)(written.graph, name)
        for name in integers
    }
    drop_unused(written.graph)
    onnx.save(written, str(path))
    return meaning


def value(graph, name):
    """The constant of that name."""
    for i in graph.initializer:
        if i.name == name:
            return numpy_helper.to_array(i)
    node = next(n for n in graph.node if name in n.output)
    if node.op_type == "Constant":
        return numpy_helper.to_array(node.attribute[0].t)
    return value(graph, node.input[0])  # of the same value as another type, or by another name


def drop_unused(graph):
    used, kept = {o.name for o in graph.output}, []
    for node in reversed(graph.node):
        if used.intersection(node.output):
            kept.append(node)
            used.update(node.input)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    kept = [i for i in graph.initializer if i.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    del graph.value_info[:]


def store_integers(graph):
    """Replaces weights that are rounded at run time by the integers that come of it."""
    known = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    known |= {
        n.output[0]: numpy_helper.to_array(n.attribute[0].t)
        for n in graph.node
        if n.op_type == "Constant"
    }
    for node in [n for n in graph.node if n.op_type == "QuantizeLinear" and n.input[0] in known]:
        weight, scale = known[node.input[0]], known[node.input[1]]
        integers = np.round(weight / scale.reshape(-1, *[1] * (weight.ndim - 1))).astype(np.int8)
        graph.initializer.append(numpy_helper.from_array(integers, node.output[0]))
        graph.node.remove(node)
    drop_unused(graph)


CHANNELS_LAST, CHANNELS_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]


def enlarge_integers(graph):
    """Has what is enlarged by repeating values enlarged as integers, which comes to the same. What
    follows is then between rounded values, too, so that ONNX Runtime computes it in eight bits."""
    made = {name: n for n in graph.node for name in n.output}
    for resize in [n for n in graph.node if n.op_type == "Resize"]:
        source = made.get(resize.input[0])
        nearest = any(a.name == "mode" and a.s == b"nearest" for a in resize.attribute)
        if not nearest or source is None or source.op_type != "DequantizeLinear":
            continue
        twice = Chain(graph, resize.name, source.input[0])
        twice.add("Transpose", perm=CHANNELS_LAST)  # 1, height, width, channels
        twice.add("Unsqueeze", [3])
        twice.double(3)  # 1, height, width, 2, channels
        twice.add("Unsqueeze", [2])
        twice.double(2)  # 1, height, 2, width, 2, channels
        twice.add("Reshape", [0, -1, 1, 0, 0, 0])  # 0: as it was
        twice.add("Reshape", [0, 0, -1, 1, 1, 0])
        twice.add("Squeeze", [3, 4])
        twice.add("Transpose", perm=CHANNELS_FIRST)
        twice.add("DequantizeLinear", also=source.input[1:])
        twice.end(resize)


class Chain:
    """Nodes that each take what the one before them gives."""

    def __init__(self, graph, name, first):
        self.graph, self.name, self.last, self.nodes = graph, name, first, []

    def add(self, kind, shape=None, also=(), **attributes):
        """shape: what a node that changes the shape is told of it."""
        name = f"{self.name}/{len(self.nodes)}"
        if shape is not None:
            told = numpy_helper.from_array(np.array(shape, np.int64), f"{name}/shape")
            self.graph.initializer.append(told)
            also = [told.name]
        node = helper.make_node(kind, [self.last, *also], [name], name, **attributes)
        self.nodes.append(node)
        self.last = name

    def double(self, axis):
        """Repeats what lies along an axis: so it is copied, which takes ONNX Runtime a quarter of
        the time of its Resize."""
        self.add("Concat", also=[self.last], axis=axis)

    def end(self, node):
        """Puts the chain in the place of a node, whose output its own becomes."""
        self.nodes[-1].output[0] = node.output[0]
        at = list(self.graph.node).index(node)
        for i, made in enumerate(self.nodes):
            self.graph.node.insert(at + 1 + i, made)
        self.graph.node.remove(node)


def take_integers(graph, name):
    """Has an input of floats, less a constant, come as the bytes that they are rounded to."""
    rounding = next(
        n for n in graph.node if n.op_type == "QuantizeLinear" and name in sources(graph, n)
    )
    return pass_integers(graph, graph.input, name, rounding, name, CHANNELS_FIRST)


def give_integers(graph, name):
    """Has an output of rounded floats go out as bytes."""
    made = {output: n for n in graph.node for output in n.output}
    floats = made[name]
    return pass_integers(graph, graph.output, name, floats, floats.input[0], CHANNELS_LAST)


def pass_integers(graph, ports, name, node, first, order):
    """Has bytes come in or go out, in another order of their axes, where a node rounds or takes
    rounded numbers; ports: the graph's inputs or outputs; first: what the bytes come from."""
    passed = Chain(graph, f"{name}/bytes", first)
    passed.add("Transpose", perm=order)
    passed.end(node)
    be_bytes(next(port for port in ports if port.name == name))
    return meaning_of(graph, node)


def sources(graph, node):
    """What a node takes, and what that is made of."""
    made = {output: n for n in graph.node for output in n.output}
    before = made.get(node.input[0])
    return [*node.input, *(before.input if before is not None else [])]


def be_bytes(described):
    n, channels, height, width = (
        d.dim_param or d.dim_value for d in described.type.tensor_type.shape.dim
    )
    shape = [n, height, width, channels]
    described.CopyFrom(helper.make_tensor_value_info(described.name, TensorProto.UINT8, shape))


def meaning_of(graph, node):
    """Of the bytes that a node makes or reads."""
    scale, zero = (value(graph, name) for name in node.input[1:3])
    return {"scale": float(scale), "zero": int(zero)}
