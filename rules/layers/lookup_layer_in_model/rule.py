from kerascheck.api import Applies, ExternalInstance, Instance, Rule, Severity, models, names, options_of


class LookupLayerInModel(Rule):
    """A layer that looks up words or categories is part of the trained model.

    ## What it does

    Reports `TextVectorization`, `StringLookup`, `IntegerLookup`, `Hashing` and `HashedCrossing` in a model that `fit`
    trains. The layer may be in the model's list of layers or between its inputs and outputs. It may also be an
    attribute that a model class uses in `call`, even within a `Sequential`. In a class without `call`, `train_step`
    and `compute_loss` count instead, as in the towers of `tensorflow_recommenders` models. The finding is an info,
    once per layer and model, at the line that adds the layer to the model.

    ## Why it costs

    The CPU handles tables and strings. Inside the model, the lookup is part of the training step, and a GPU waits for
    it in every step. Keras 3 also switches XLA off for the whole model: all five layers set `supports_jit = False`. In
    `ds.map` the lookup prepares the next batches while the device trains. The effect on a GPU is unmeasured here. On a
    CPU there is nothing to gain, because both run on the same cores.

    The table shows the epoch time with the layer in the model divided by the time with it in `map`, and in `map`
    followed by `cache` (TensorFlow 2.21, 2 CPU cores, no GPU):

    | | map | map and cache |
    |---|---|---|
    | `TextVectorization`, bag of words | 1.0 | 0.6 |
    | `TextVectorization`, convolution | 0.9 | 1.2 |
    | `StringLookup` | 0.5 | 1.3 |

    The finding is therefore an info. Without a GPU, the change is not worth the effort.

    ## What the runtime does by itself

    TensorFlow places the lookup on the CPU and copies its result to the device, within the step. Only the TensorFlow
    backend supports these layers in a model; with JAX and PyTorch they work in `ds.map` alone.

    ## When it stays silent

    - The layer is applied in `ds.map`, or only adapted.
    - The program assembles the model for export or prediction and does not train it, even if it contains a trained
      model.
    - `keras.layers.Embedding`, `CategoryEncoding`, `Discretization` and `Normalization`, which compute with numbers.
    - A condition decides whether the model contains the layer.

    ## Use instead

    `ds.map(lambda text, label: (vectorize(text), label), num_parallel_calls=tf.data.AUTOTUNE)` for training. For
    inference, wrap the trained model: `keras.Sequential([vectorize, model])` takes strings.

    ## Fix safety

    There is no fix: the model would take numbers instead of strings, and all of its inputs change.

    ## References

    - Keras guide: "Working with preprocessing layers" ("Preprocessing data before the model or inside the model")
    - Keras source: `layers/preprocessing/index_lookup.py`, `text_vectorization.py`, `hashing.py`
    """

    code = "KC212"
    name = "lookup-layer-in-model"
    summary = "lookup layer is part of the trained model"
    severity = Severity.INFO
    applies = Applies(backends={"tensorflow"}, cpu_only=False)
    triggers = ("HashedCrossing", "Hashing", "IntegerLookup", "StringLookup", "TextVectorization")
    evidence_note = "On a CPU both forms run on the same cores; the gain needs a GPU."
    loss_tolerance = 1e-5

    def check(self, module):
        seen = set()
        for model in module.models:
            for layer in model.layers if model.is_trained else ():
                name = names.layers.short_name(layer.name)
                place = models.layer_place(model, layer) if name in self.triggers and layer.certain else None
                if place is not None and place.node not in seen and _is_called(module, model, layer):
                    seen.add(place.node)
                    yield self.finding(
                        place,
                        f"{name} inside the trained model makes the GPU wait in every step; apply it in ds.map.",
                        because="The CPU handles strings and tables; in the input pipeline that happens ahead of the step.",
                        related=(
                            (model, "the model"),
                            *((call, "trained here") for call in (model.fits or model.compiles)[:1]),
                        ),
                    )


def _is_called(module, model, layer):
    """Whether compiled code of a subclassed model calls the layer, or a model that holds it; other models hold their layers."""
    holders = [layer.made.node]
    holders += [
        other.node
        for other in module.models
        if not isinstance(other.value, Instance) and any(inner.made is layer.made for inner in other.layers)
    ]
    return not isinstance(model.value, Instance) or any(
        isinstance(option, ExternalInstance) and option.call is not None and option.call.node in holders
        for call in module.calls.of_methods("__call__")
        if call.path.traced_by() in ("call", "train_step")
        for option in options_of(call.receiver)
    )
