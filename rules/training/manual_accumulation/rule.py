from kerascheck.api import Applies, Rule, Severity, graph


class ManualAccumulation(Rule):
    """Code sums gradients by hand over several steps; Keras 3 optimizers can do this themselves.

    ## What it does

    Reports a conditional `apply_gradients` in a loop that computes gradients in every iteration. The condition is an
    `if` with `%`, an `if` on a counter that it resets (`if count == k: ...; count = 0`), or an `if` that compares the
    loop variable with literal numbers.

    ## Why it costs

    Such code is easy to get wrong. It must clear the sums, divide them by the number of steps, and apply them at the
    end of the epoch. To compile the step, it must also keep the sums in variables. We claim no difference in speed and
    have not measured one.

    ## What the runtime does by itself

    With `gradient_accumulation_steps=k`, a Keras 3 optimizer keeps the sums in its own variables and adds to them in
    each `apply_gradients`. In every k-th call, the optimizer updates the weights with the mean. Keras 2 has no such
    argument and raises.

    ## When it stays silent

    - The code also computes the gradients under the condition, for example if it trains a network only in every fifth
      step.
    - The condition does not count iterations: a flag parameter, or the last batch.
    - The code is a test.

    ## Use instead

    `keras.optimizers.Adam(1e-3, gradient_accumulation_steps=4)`, and `apply_gradients` in every step. This works with
    `fit`, too. The optimizer averages gradients. If your code sums them, multiply the learning rate for optimizers
    such as SGD.

    ## Fix safety

    There is no fix: you have to remove several statements, and a sum becomes a mean.

    ## References

    - Keras API: `keras.optimizers.Optimizer` (`gradient_accumulation_steps`)
    - Keras source: `optimizers/base_optimizer.py`
    """

    code = "KC413"
    name = "manual-accumulation"
    summary = "gradients are accumulated by hand"
    severity = Severity.INFO
    applies = Applies(graph_code=False, keras=">=3")
    triggers = ("apply_gradients",)
    loss_tolerance = 1e-5

    def check(self, module):
        for update, gradient, branch in graph.rare_updates(module):
            yield self.finding(
                update,
                "Gradients are accumulated by hand; pass gradient_accumulation_steps to the optimizer and apply them every step.",
                because="They are computed in every iteration and applied once in several; Keras 3 optimizers can accumulate them.",
                related=((gradient, "computed in every iteration"), (branch, "applied under this condition")),
            )
