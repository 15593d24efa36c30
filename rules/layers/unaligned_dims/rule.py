from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.values import constant

_WIDTH = {
    "keras.layers.Dense": (0, "units"),
    "keras.layers.Embedding": (1, "output_dim"),
    "keras.layers.GRU": (0, "units"),
    "keras.layers.LSTM": (0, "units"),
}
_LEAST = 32


class UnalignedDims(Rule):
    """Under mixed precision the width of a layer is no multiple of 8.

    ## What it does

    Off until it is selected. Reports `Dense`, `LSTM`, `GRU` and `Embedding` layers of a model whose width is a literal of 32 or
    more that 8 does not divide, where they are made under `mixed_float16` or `mixed_bfloat16` and are not the output of the model.

    ## Why it costs

    Tensor Cores multiply tiles of 16-bit numbers. According to the guide of TensorFlow to the performance of GPUs,
    dimensions that are multiples of 8 use them best. Newer libraries of NVIDIA pad what does not fit, so that
    the loss may be small. It needs a GPU and is unmeasured here, which is why this rule is off by default.

    ## What the runtime does by itself

    cuBLAS and cuDNN choose among their kernels by the shape, and may pad it. TensorFlow and Keras change no width.

    ## When it stays silent

    - No half-precision policy holds when the layer is made, or it is not known which one.
    - The output of the model, whose width is the number of classes, and models of which the output is not known.
    - Convolutions, which cuDNN pads; widths below 32; widths that are not literals.
    - A layer with a `dtype` of its own.

    ## Use instead

    The next multiple of 8: `Dense(104)` in place of `Dense(100)`. 64 where it fits is better still.

    ## Fix safety

    There is no fix: another width is another model, and weights that were saved do not fit it.

    ## References

    - TensorFlow guide: "Optimize TensorFlow GPU performance with the TensorFlow Profiler"
    - TensorFlow guide: "Mixed precision"
    """

    code = "KC213"
    name = "unaligned-dims"
    summary = "layer width is not a multiple of 8"
    severity = Severity.INFO
    on_by_default = False
    triggers = ("mixed_float16", "mixed_bfloat16")
    loss_tolerance = None

    def check(self, module):
        seen = set()
        for model in module.models:
            if model.outputs is None:
                continue
            ends = {id(layer.value) for layer in model.outputs}
            for layer in model.layers:
                if layer.name not in _WIDTH or id(layer.value) in ends or layer.made.node in seen or layer.made.argument(None, "dtype") is not None:
                    continue
                width = constant(layer.made.argument(*_WIDTH[layer.name]))
                policy = module.program.policy_at(layer.made) if type(width) is int and width >= _LEAST and width % 8 else None
                if policy in ("mixed_float16", "mixed_bfloat16"):
                    seen.add(layer.made.node)
                    yield self.finding(
                        layer.made,
                        f"The width {width} is no multiple of 8, which Tensor Cores work with best; {width + -width % 8} is the next one.",
                        because=f"The policy is {policy}, so that this layer multiplies 16-bit numbers.",
                    )
