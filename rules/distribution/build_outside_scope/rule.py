from kerascheck.api import Applies, Rule, Severity, program


class BuildOutsideScope(Rule):
    """A distribution strategy is created, but the model is built outside its scope.

    ## What it does

    Reports a model that `fit` trains and that is built outside `strategy.scope()`, after a strategy for several
    devices was created. It is a warning. It is an error in two cases, which raise: the model is compiled inside the
    scope or passed to the function that creates the strategy, or an optimizer of Keras 3 is created outside and
    passed to `compile` inside the scope. For steps under `strategy.run`, it reports their optimizer (an error, in
    Keras 3) and their model (a warning) where no scope holds them. A `strategy.scope()` without `with` is reported
    instead of the models, as a warning.

    ## Why it costs

    A model belongs to the strategy in whose scope it was built. Built and compiled outside, it trains on one device
    and silently ignores the strategy. Built outside and compiled inside, Keras 3 stops in `fit` with a bare
    `AssertionError`, Keras 2 with "was not created in the distribution strategy scope" (tried with two logical
    devices on TensorFlow 2.21 and 2.12). An optimizer of Keras 3 has variables from the start: created outside, it
    stops `fit` with "Mixing different tf.distribute.Strategy objects", even with one device. Keras 2 creates them in
    `fit`, where nothing happens.

    In a step under `strategy.run`, such an optimizer stops the first update with the same message. A model that has its
    variables before the step stops it with "`colocate_vars_with` must only be passed a variable created in this
    tf.distribute.Strategy.scope()", with one device and with two. A model that creates them in the step trains on one
    device, and fails on two (TensorFlow 2.21, Keras 3.15).

    ## What the runtime does by itself

    Nothing. `fit` uses the strategy of the model, and the default strategy has no second device.

    ## When it stays silent

    - The model is built in a scope, also in a function that is called there, or in a `with` that cannot be read.
    - The optimizer is created with `lr=`, which Keras 3 rejects: the program runs under Keras 2, where nothing raises.
    - The model is compiled again before it is trained, with another optimizer.
    - The origin of the model is not visible.
    - The strategy is created later or under a condition, or is `OneDeviceStrategy` or the default.
    - `fit` stands in a scope, or another model of the program does: the program may compare both.
    - The program enters a strategy in another way: `experimental_set_strategy`, an `ExitStack`, parameter servers.
    - The strategy, the model or the optimizer of a step under `strategy.run` is not visible.
    - Tests.

    ## Use instead

    Build and compile in the scope; `fit` may stand outside:

        with strategy.scope():
            model = build()
            model.compile("adam", "mse")
        model.fit(dataset)

    ## Fix safety

    There is no fix: optimizers, metrics and checkpoints of the model belong into the scope as well, and the batch size
    then changes its meaning for each device.

    ## References

    - TensorFlow guide: "Distributed training with TensorFlow", section "Use tf.distribute.Strategy with Keras
      Model.fit"
    - Keras guide: "Multi-GPU distributed training with TensorFlow"
    """

    code = "KC501"
    name = "build-outside-scope"
    summary = "model is built outside the strategy's scope"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (
        "MirroredStrategy(",
        ".MirroredStrategy(",
        ".MultiWorkerMirroredStrategy(",
        ".TPUStrategy(",
        "TPUStrategy(",
    )
    loss_tolerance = 1e-4

    def check(self, module):
        unentered = list(program.unentered_scopes(module))
        for path in unentered:
            yield self.finding(
                path,
                "scope() without `with` has no effect; build the model inside `with strategy.scope():`.",
                because="scope() only returns a context manager; without `with` the training ignores the strategy and uses one device.",
            )
        for model in () if unentered else program.unplaced_models(module):
            inside = model.compiled_inside
            yield self.finding(
                program.place_in_module(module, model.made),
                "This model is built outside the strategy's scope; build and compile it in `with strategy.scope():`.",
                because="It is compiled inside the scope, so fit of Keras 3 raises."
                if inside
                else "Its fit ignores the strategy and trains on one device.",
                severity=Severity.ERROR if inside else Severity.WARNING,
                related=(
                    (model.strategy, "the strategy is created here"),
                    (inside, "compiled here") if inside else (model.fit, "trained here"),
                ),
            )
        for compiled, strategy in program.given_models(module):
            yield self.finding(
                compiled,
                "Only compile runs in the strategy's scope; build the model in `with strategy.scope():`, too.",
                because="The model is passed to the function that creates the strategy; fit raises for variables created outside its scope.",
                severity=Severity.ERROR,
                related=((strategy, "the strategy is created here"),),
            )
        for optimizer, compiled in program.unplaced_optimizers(module):
            yield self.finding(
                optimizer,
                "This optimizer is created outside the strategy's scope; create it in `with strategy.scope():`.",
                because="Its variables belong to no strategy but the model's do, so fit of Keras 3 raises.",
                severity=Severity.ERROR,
                related=((compiled, "passed to the model here"),),
            )
        for used in () if unentered else program.unplaced_in_steps(module):
            what = "optimizer" if used.is_optimizer else "model"
            yield self.finding(
                program.place_in_module(module, used.made),
                f"This {what} is created outside the scope of the strategy that runs it; create it in `with strategy.scope():`.",
                because=f"Its variables belong to no strategy, so the first update raises{'' if used.is_optimizer else ' on several devices, or if the model is already built'}.",
                severity=Severity.ERROR if used.is_optimizer else Severity.WARNING,
                related=((used.run, "its steps run here"),),
            )
