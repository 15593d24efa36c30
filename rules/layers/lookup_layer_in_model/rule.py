from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.models import layer_place
from kerascheck.semantics.values import Instance, Made, options_of


class LookupLayerInModel(Rule):
    """A layer that looks words or categories up is part of the model that is trained.

    ## What it does

    Reports `TextVectorization`, `StringLookup`, `IntegerLookup`, `Hashing` and `HashedCrossing` in a model
    that is trained with `fit`: in its list of layers, on the way from its inputs to its outputs, or held by a class
    and called in `call`, also within a Sequential; where a class has no `call`, in `train_step` and `compute_loss`, as the
    towers of models of `tensorflow_recommenders` are. As an info, one finding for each such layer in each model, where it is put into that.

    ## Why it costs

    Tables and strings are handled by the CPU. In the model, the lookup is part of the training step: a GPU
    waits for it in every step, and XLA is switched off for the whole model in Keras 3 (every one of the five layers says
    `supports_jit = False`). In `ds.map` it is done for the next batches while the device trains. On a GPU that is unmeasured here. On a CPU nothing is
    won by moving it, since both run on the same cores (TensorFlow 2.21, 2 CPU cores, no GPU; time of an epoch with
    the layer in the model against time with it in `map`, and in `map` with `cache` behind):

    | | map | map and cache |
    |---|---|---|
    | `TextVectorization`, bag of words | 1.0 | 0.6 |
    | `TextVectorization`, convolution | 0.9 | 1.2 |
    | `StringLookup` | 0.5 | 1.3 |

    That is why this is an info, and why it is not worth a change where there is no GPU.

    ## What the runtime does by itself

    It places the lookup on the CPU and copies its result to the device, within the step. Only the TensorFlow backend can
    have these layers in a model; with JAX and PyTorch they work in `ds.map` alone.

    ## When it stays silent

    - The layer is applied in `ds.map`, or only adapted.
    - A model put together for export or prediction, which is not trained here, although it holds a trained one.
    - `keras.layers.Embedding`, `CategoryEncoding`, `Discretization` and `Normalization`, which compute with numbers.
    - Scripts that hide the GPU, other backends, and a layer that a condition puts into the model.

    ## Use instead

    `ds.map(lambda text, label: (vectorize(text), label), num_parallel_calls=tf.data.AUTOTUNE)` for the training, and around
    the trained model one for use: `keras.Sequential([vectorize, model])` takes strings.

    ## Fix safety

    There is no fix: the model then takes numbers in place of strings, and everything that is given to it changes.

    ## References

    - Keras guide: "Working with preprocessing layers" ("Preprocessing data before the model or inside the model")
    - Keras source: `layers/preprocessing/index_lookup.py`, `text_vectorization.py`, `hashing.py`
    """

    code = "KC212"
    name = "lookup-layer-in-model"
    summary = "lookup layer is part of the trained model"
    severity = Severity.INFO
    triggers = ("HashedCrossing", "Hashing", "IntegerLookup", "StringLookup", "TextVectorization")
    loss_tolerance = 1e-5

    def check(self, module):
        if module.runtime.backend != "tensorflow" or module.program.pins_cpu:
            return
        seen = set()
        for model in module.models:
            for layer in model.layers if model.is_trained else ():
                name = (layer.name or "").removeprefix("keras.layers.")
                place = layer_place(model, layer) if name in self.triggers and layer.certain else None
                if place is not None and place.node not in seen and _is_called(module, model, layer):
                    seen.add(place.node)
                    yield self.finding(
                        place,
                        f"{name} is part of the model that is trained, so that a GPU waits for the lookup in every step; apply it in ds.map.",
                        because="Strings and tables are handled by the CPU; in the input pipeline that happens ahead of the step.",
                        related=((model, "the model"), *((call, "trained here") for call in (model.fits or model.compiles)[:1])),
                    )


def _is_called(module, model, layer):
    """Whether a model of a class of its own calls the layer, or a model that holds it, in what Keras compiles; others hold what they call."""
    holders = [layer.made.node]
    holders += [other.node for other in module.models if not isinstance(other.value, Instance) and any(inner.made is layer.made for inner in other.layers)]
    return not isinstance(model.value, Instance) or any(
        isinstance(option, Made) and option.call is not None and option.call.node in holders
        for call in module.run.calls
        if call.attribute == "__call__" and call.scope.traced_by() in ("call", "train_step")
        for option in options_of(call.receiver)
    )
