from kerascheck.api import Applies, Rule, Severity, graph


class ManualAccumulation(Rule):
    """Gradients are summed by hand over several steps, which the optimizers of Keras 3 do themselves.

    ## What it does

    Reports `apply_gradients` in a loop that computes gradients in every iteration, under an `if` with `%`, or under an
    `if` on a counter that it resets (`if count == k: ...; count = 0`).

    ## Why it costs

    Such code is easy to get wrong. The sums must be cleared, divided by the number of steps, applied at the end of the
    epoch, and kept in variables so that the step can be compiled. No difference in speed is claimed; it was not
    measured.

    ## What the runtime does by itself

    With `gradient_accumulation_steps=k`, a Keras 3 optimizer keeps the sums in its own variables and adds to them in
    each `apply_gradients`. In every k-th call it updates the weights with their mean. Keras 2 has no such argument and
    raises.

    ## When it stays silent

    - The gradients are computed under the same condition, for example where a network is trained in every fifth step
      only.
    - The condition does not count iterations: a flag that is passed in, or the last batch.
    - The code is a test.

    ## Use instead

    `keras.optimizers.Adam(1e-3, gradient_accumulation_steps=4)`, and `apply_gradients` in every step. It works with
    `fit`, too. Gradients are averaged: where yours are summed, multiply the learning rate for optimizers such as SGD.

    ## Fix safety

    There is no fix: several statements have to go, and a sum becomes a mean.

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
