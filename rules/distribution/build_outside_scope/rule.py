from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.distribution import given_models, unentered_scopes, unplaced_in_steps, unplaced_models, unplaced_optimizers
from kerascheck.semantics.places import seen_in


class BuildOutsideScope(Rule):
    """A distribution strategy is made, but the model is built outside of its scope.

    ## What it does

    Reports a model that `fit` trains and that is built outside of `strategy.scope()`, after a strategy for several devices
    was made. A warning; an error where `compile` stands in the scope and the model does not, or is given to the function that makes the
    strategy, which raises, and for an optimizer of
    Keras 3 that is made outside and given to `compile` in the scope, which raises, too. For steps that `strategy.run` runs, their
    optimizer (an error, in Keras 3) and their model (a warning), where no scope holds them. A `strategy.scope()` without `with` is
    reported in the place of the models, as a warning.

    ## Why it costs

    A model belongs to the strategy in whose scope it was built. Built and compiled outside, it trains on one
    device, without a word: the strategy is ignored. Built outside and compiled inside, Keras 3 stops in `fit` with a bare
    `AssertionError`, Keras 2 with "was not created in the distribution strategy scope" (tried with two logical devices on
    TensorFlow 2.21 and 2.12). An optimizer of Keras 3 has variables from the start: made outside, it stops `fit` with "Mixing
    different tf.distribute.Strategy objects", also where there is one device only. Keras 2 makes them in `fit`, and nothing happens.

    In a step under `strategy.run`, such an optimizer stops the first update with the same words, and a model that has its variables before
    the step with "`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope()", with one device
    and with two. A model that makes them in the step trains on one device, and fails on two (TensorFlow 2.21, Keras 3.15).

    ## What the runtime does by itself

    Nothing. `fit` uses the strategy of the model, and the default one has no second device.

    ## When it stays silent

    - The model is built in a scope, also in a function that is called there, or in a `with` that cannot be read.
    - The optimizer is made with `lr=`, which Keras 3 refuses: the program runs under Keras 2, where nothing raises.
    - The model is compiled again before it is trained, with another optimizer.
    - Where the model comes from cannot be seen.
    - The strategy is made later, under a condition, or is `OneDeviceStrategy` or the default.
    - `fit` stands in a scope, or another model of the program does: the program may compare both.
    - Other ways to enter a strategy: `experimental_set_strategy`, an `ExitStack`, parameter servers.
    - Steps under `strategy.run` whose strategy, model or optimizer cannot be seen.
    - Graph code of TensorFlow 1; tests.

    ## Use instead

    Build and compile in the scope; `fit` may stand outside:

        with strategy.scope():
            model = build()
            model.compile("adam", "mse")
        model.fit(dataset)

    ## Fix safety

    There is no fix: optimizers, metrics and checkpoints of the model belong into the scope as well, and the batch size
    then means something else for each device.

    ## References

    - TensorFlow guide: "Distributed training with TensorFlow", section "Use tf.distribute.Strategy with Keras Model.fit"
    - Keras guide: "Multi-GPU distributed training with TensorFlow"
    """

    code = "KC501"
    name = "build-outside-scope"
    summary = "model is built outside the strategy's scope"
    severity = Severity.WARNING
    triggers = ("MirroredStrategy(", ".MirroredStrategy(", ".MultiWorkerMirroredStrategy(", ".TPUStrategy(", "TPUStrategy(")
    loss_tolerance = 1e-4

    def check(self, module):
        unentered = list(unentered_scopes(module))
        for scope in unentered:
            yield self.finding(
                scope,
                "This scope is made and not entered, so nothing belongs to the strategy; write `with strategy.scope():` around what builds the model.",
                because="scope() only gives a context manager back; without `with` the training ignores the strategy and uses one device.",
            )
        for model in () if unentered else unplaced_models(module):
            inside = model.compiled_inside
            yield self.finding(
                seen_in(module, model.made),
                "This model is built outside of the scope of the strategy; build and compile it inside of `with strategy.scope():`.",
                because="It is compiled inside of the scope, so the fit of Keras 3 raises." if inside else "Its fit ignores the strategy and trains on one device.",
                severity=Severity.ERROR if inside else Severity.WARNING,
                related=((model.strategy, "the strategy is made here"), (inside, "compiled here") if inside else (model.fit, "trained here")),
            )
        for compiled, strategy in given_models(module):
            yield self.finding(
                compiled,
                "This model is built before the scope of the strategy, and only compiled inside; build it inside of `with strategy.scope():`, too.",
                because="It is given to the function that makes the strategy, and fit raises for a model that has its variables from outside.",
                severity=Severity.ERROR,
                related=((strategy, "the strategy is made here"),),
            )
        for optimizer, compiled in unplaced_optimizers(module):
            yield self.finding(
                optimizer,
                "This optimizer is made outside of the scope of the strategy; make it inside of `with strategy.scope():`.",
                because="Its variables belong to no strategy and the model to one, so the fit of Keras 3 raises.",
                severity=Severity.ERROR,
                related=((compiled, "given to the model here"),),
            )
        for used in () if unentered else unplaced_in_steps(module):
            what = "optimizer" if used.is_optimizer else "model"
            yield self.finding(
                seen_in(module, used.made),
                f"This {what} is made outside of the scope of the strategy that runs its steps; make it inside of `with strategy.scope():`.",
                because=f"Its variables belong to no strategy, so that the first update {'raises' if used.is_optimizer else 'raises where the model is built already, and on several devices'}.",
                severity=Severity.ERROR if used.is_optimizer else Severity.WARNING,
                related=((used.run, "its steps run here"),),
            )
