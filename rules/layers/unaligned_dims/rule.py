from kerascheck.api import Rule, Severity, constant, models, names

_WIDTH = {
    names.layers.DENSE: "units",
    names.layers.EMBEDDING: "output_dim",
    **dict.fromkeys(names.layers.layers_where(lambda layer: layer.cudnn), "units"),
}
_LEAST = 32


class UnalignedDims(Rule):
    """Under mixed precision, the width of a layer is not a multiple of 8.

    ## What it does

    Off by default. Reports `Dense`, `LSTM`, `GRU` and `Embedding` layers that a model creates under `mixed_float16` or
    `mixed_bfloat16`. The width must be a literal of 32 or more that is not a multiple of 8. The output layer of the
    model does not count.

    ## Why it costs

    Tensor Cores multiply tiles of 16-bit numbers. According to TensorFlow's guide to GPU performance, they work best
    with dimensions that are multiples of 8. Newer NVIDIA libraries pad other sizes, so the loss may be small. The
    measurement needs a GPU. The loss is unmeasured here, so this rule is off by default.

    ## What the runtime does by itself

    cuBLAS and cuDNN choose a kernel by the shape, and may pad the shape. TensorFlow and Keras do not change the width.

    ## When it stays silent

    - No half-precision policy is active when the layer is created, or the policy is unknown.
    - The output of the model, whose width is the number of classes, and models whose output is unknown.
    - Convolutions, which cuDNN pads; widths below 32; widths that are not literals.
    - A layer with its own `dtype`.

    ## Use instead

    The next multiple of 8: `Dense(104)` instead of `Dense(100)`. A multiple of 64 is even better if it fits.

    ## Fix safety

    There is no fix: another width makes another model, and saved weights do not fit it.

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
    evidence_note = "The gain needs a GPU with Tensor Cores."
    loss_tolerance = None

    def check(self, module):
        seen = set()
        for model in module.models:
            if model.outputs is None:
                continue
            ends = {id(layer.value) for layer in model.outputs}
            for layer in model.layers:
                if (
                    layer.name not in _WIDTH
                    or id(layer.value) in ends
                    or layer.made.node in seen
                    or layer.made.given("dtype") is not None
                ):
                    continue
                width = constant(layer.made.given(_WIDTH[layer.name]))
                policy = (
                    models.policy_at(module, layer.made)
                    if type(width) is int and width >= _LEAST and width % 8
                    else None
                )
                if policy in ("mixed_float16", "mixed_bfloat16"):
                    seen.add(layer.made.node)
                    yield self.finding(
                        layer.made,
                        f"Tensor Cores work best with multiples of 8; use a width of {width + -width % 8} instead of {width}.",
                        because=f"Under the policy {policy}, this layer multiplies 16-bit numbers.",
                    )
