from kerascheck.api import Applies, Rule, Severity, program


class BuildOutsideScope(Rule):
    """A program creates a distribution strategy, but builds the model outside its scope.

    ## What it does

    Reports, as a warning, a model that `fit` trains if the program builds it outside `strategy.scope()`, after
    creating a strategy for several devices. The finding is an error in two cases that raise:

    - the program compiles the model inside the scope, or passes it to the function that creates the strategy;
    - the program creates an optimizer of Keras 3 outside and passes it to `compile` inside the scope.

    For steps under `strategy.run`, the rule reports the optimizer (an error, in Keras 3) and the model (a warning) if
    the program creates them outside any scope. Instead of the models, it reports a `strategy.scope()` without `with`,
    as a warning.

    ## Why it costs

    A model belongs to the strategy whose scope is active when the program builds it. Built and compiled outside, it
    trains on one device and silently ignores the strategy. If the model is built outside and compiled inside, Keras 3
    raises a bare `AssertionError` in `fit`. Keras 2 raises "was not created in the distribution strategy scope"
    (tested with two logical devices on TensorFlow 2.21 and 2.12). An optimizer of Keras 3 has variables from the
    start. If it is created outside, `fit` raises "Mixing different tf.distribute.Strategy objects", even with one
    device. Keras 2 creates the variables in `fit`, which causes no error.

    In a step under `strategy.run`, such an optimizer raises the same message in the first update. A model with
    variables from before the step raises "`colocate_vars_with` must only be passed a variable created in this
    tf.distribute.Strategy.scope()". This happens with one device and with two. A model that creates its variables in
    the step trains on one device, and fails on two (TensorFlow 2.21, Keras 3.15).

    ## What the runtime does by itself

    Nothing. `fit` uses the strategy of the model, and the default strategy has no second device.

    ## When it stays silent

    - The program builds the model in a scope, in a function called there, or in a `with` that the rule cannot resolve.
    - The optimizer has an `lr=` argument, which Keras 3 rejects. The program runs under Keras 2, where nothing raises.
    - The program compiles the model again with another optimizer before it trains the model.
    - The origin of the model is not visible.
    - The program creates the strategy later or under a condition, or the strategy is `OneDeviceStrategy` or the
      default.
    - `fit` is in a scope, or another model of the program is: the program may compare both.
    - The program enters a strategy in another way: `experimental_set_strategy`, an `ExitStack`, parameter servers.
    - The strategy, the model or the optimizer of a step under `strategy.run` is not visible.
    - Tests.

    ## Use instead

    Build and compile in the scope; `fit` may be outside:

        with strategy.scope():
            model = build()
            model.compile("adam", "mse")
        model.fit(dataset)

    ## Fix safety

    There is no fix: optimizers, metrics and checkpoints of the model belong in the scope as well. The batch size per
    device then changes, too.

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
    evidence_note = "The gain needs several GPUs."
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
