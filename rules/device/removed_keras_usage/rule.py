from kerascheck.api import Applies, Rule, Severity, Tally, fixes, program

_Use = program.Keras2Use
_MESSAGES = {
    _Use.RATE_ARGUMENT: "Optimizers of Keras 3 have no argument lr; write learning_rate.",
    _Use.DECAY_ARGUMENT: "Keras 3 ignores decay; pass learning_rate=keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay).",
    _Use.RATE_ASSIGNED: "In Keras 3 this leaves the learning rate as it is; assign to learning_rate.",
    _Use.RATE_READ: "Optimizers of Keras 3 have no lr; write learning_rate.",
    _Use.WEIGHTS_PATH: "Keras 3 saves weights only to names that end in .weights.h5.",
    _Use.MODEL_PATH: "Keras 3 saves models only to names that end in .keras or .h5; export() writes a SavedModel.",
    _Use.WEIGHTS_CHECKPOINT: "Keras 3 saves weights only to names that end in .weights.h5.",
    _Use.MODEL_CHECKPOINT: "Keras 3 saves models here only to names that end in .keras or .h5.",
}
_METHODS = {
    "reset_states": "Models of Keras 3 have no reset_states; call that of each recurrent layer.",
    "predict_classes": "Models of Keras 3 have no predict_classes; write predict(x).argmax(axis=-1).",
    "predict_proba": "Models of Keras 3 have no predict_proba; call predict.",
}
_RAISES = {
    _Use.RATE_READ: "AttributeError",
    _Use.GONE_METHOD: "AttributeError",
}
_SILENT = {
    _Use.DECAY_ARGUMENT: "It warns at the start, and then trains with a constant learning rate.",
    _Use.RATE_ASSIGNED: "The assignment sets a new attribute, and nothing says so.",
}
_TALLY = Tally("use of Keras 2 that Keras 3 refuses or ignores")


class RemovedKerasUsage(Rule):
    """The code uses Keras 2 in a way that Keras 3 refuses or ignores.

    ## What it does

    Reports, for Keras 3:

    - `lr=` of an optimizer, and `decay=` with a positive literal;
    - assignments to `optimizer.lr`, and `backend.set_value(optimizer.lr, ...)` and `get_value`;
    - `save_weights`, `save` and `ModelCheckpoint` with a literal path whose ending Keras 3 refuses;
    - `reset_states`, `predict_classes` and `predict_proba` of a model.

    It is a finding if the settings or requirements allow no version before Keras 3. Otherwise one line for the whole
    run counts it, and `--select KC315` shows it: old code that runs with its original version has no fault.

    ## Why it costs

    Most of these uses raise (Keras 3.15). A refused path raises only when the first epoch ends or when the training is
    over, so the training is lost. Two uses are worse, because they train with another learning rate:

    - `optimizer.lr = 0.1` sets a new attribute of the optimizer. The learning rate stays 0.5, say, and nothing warns.
    - `decay=1e-6` warns once that it "is no longer supported and will be ignored".

    ## What the runtime does by itself

    It raises ValueError for `lr=` and for the paths, and AttributeError for the names. `tf_keras`, which
    `TF_USE_LEGACY_KERAS=1` selects, is Keras 2 and accepts all of them.

    ## When it stays silent

    - The program is for Keras 2: it imports `tf_keras`, sets `TF_USE_LEGACY_KERAS`, or its requirements ask for it.
    - Code under a check of the version, or in a `try` with a handler for the failure.
    - Paths and values of `decay` that are not literals.
    - Optimizers of other libraries.

    ## Use instead

    The message shows it. `InverseTimeDecay(rate, 1, decay)` has the same formula as the old `decay`.

    ## Fix safety

    The fix renames `lr=` to `learning_rate=`. Safe if nothing catches the exception that the constructor raises today.
    The other uses have no fix, because the path or the schedule is a choice.

    ## References

    - Keras guide: "Migrating Keras 2 code to multi-backend Keras 3"
    - Keras source: `optimizers/base_optimizer.py`, `callbacks/model_checkpoint.py`, `saving/saving_api.py`
    """

    code = "KC315"
    name = "removed-keras-usage"
    summary = "Keras 3 refuses or ignores this use of Keras 2"
    severity = Severity.ERROR
    applies = Applies(graph_code=False, keras=">=3")
    speed = False
    proves = ("raises-now",)
    triggers = (
        "optimizer",
        ".save(",
        "save_weights",
        "ModelCheckpoint",
        "reset_states",
        "predict_classes",
        "predict_proba",
    )
    loss_tolerance = None

    def check(self, module):
        if module.program.chooses_legacy_keras:
            return
        for use in program.keras_2_uses(module):
            assumed = use.call.module.target.assumed
            because = _SILENT.get(use.kind) or f"Keras 3 raises {_RAISES.get(use.kind, 'ValueError')}."
            yield self.finding(
                use.place,
                _MESSAGES.get(use.kind) or _METHODS[use.call.attribute],
                because=because + (f" No exact version is required here; {assumed} is assumed." if assumed else ""),
                tally=_TALLY if assumed else None,
                fix=fixes.rename_keyword(use.call, "lr", "learning_rate") if use.kind is _Use.RATE_ARGUMENT else None,
            )
