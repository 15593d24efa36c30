import libcst as cst

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.fixes import rename_method
from kerascheck.semantics.loops import SHORT_LOOP
from kerascheck.semantics.places import seen_in
from kerascheck.semantics.predictions import evaluated_batches, repeated_predictions


class PredictInLoop(Rule):
    """`model.predict` is called for one item or one batch at a time.

    ## What it does

    Reports `predict` of a Keras model inside a loop or a comprehension, or in a function that a loop
    calls, where the loop variable, or another name that each turn binds anew, reaches the argument and
    picks one item or one batch; in a loop whose turns call `step` of a game or simulation, or `train_on_batch`, or draw what is predicted; and in a
    comprehension over a `range` that predicts the same few rows again and again, as for dropout that stays on. And `evaluate` of the
    batch that the same turn gives to `train_on_batch`, or that a loop takes from a dataset or loader. A warning in a script that trains, an info in one that only applies a
    model, also where another imports it.

    ## Why it costs

    `predict` is made for a whole data set. Each call builds a data adapter, a dataset and its
    optimised graph, and an iterator, runs the callbacks, and throws all of it away: about 0.1 s,
    whatever the size of the model. For 128 single items a loop took 168 times as long as one
    `predict` over the array. A loop of 40 single items with `predict` took so many times as long as one with
    the others (2 CPU cores, TensorFlow 2.21, Keras 3.15, no GPU; median of three; the first call is counted for texts only):

    | | `predict_on_batch(x)` | `model(x, training=False)` |
    |---|---|---|
    | two dense layers | 139 | 62 |
    | two convolutions, 64x64 pixels | 71 | 13 |
    | two LSTMs over 60 steps | 14 | 0.4 |
    | an embedding and a dense layer, texts that grow | 37 | 27 |
    | an embedding and a GRU, texts that grow | 10 | 1.2 |

    A model that is called outside of a `tf.function` runs its operations one by one, and those of a recurrent layer in a
    Python loop over the steps; `predict_on_batch` runs the function that is compiled for `predict`.
    `verbose=0` hides the progress bar and keeps that cost. A single `predict` of the whole
    validation set in each epoch is cheap by comparison and not what this rule is about.

    ## What the runtime does by itself

    The compiled step of the model is kept between calls. All the rest is made anew each time.

    ## When it stays silent

    - Loops over models, folds, files or datasets, where each call gets a whole array or dataset. A loop inside of one over models is
      reported where each call is written to get one item, as `row[None]`, and one over batches around it where it calls `train_on_batch` too.
    - Whole arrays that a dictionary names, as in `for split, x in data.items()`.
    - A whole array that does not depend on the loop, as once per epoch, and a part of all its examples: `images[:, top:bottom]`.
    - Loops of at most 10 turns in total, as `take(1)`, literal ranges and slices tell, or a `break` under no condition.
    - Loops that plot with Matplotlib, also on axes of which the origin is not seen, or wait for `input` or `cv2.waitKey()` in every turn and under no condition: they are for people; and loops over what is `uploaded`. Under a condition on a key that is pressed.
    - Loops whose turns also train for several epochs, with a generator, or on the same data each time: beside that a `predict` is short. Not
      where they train on a single example.
    - As an info, not a warning, where a turn measures the predict with a clock, for one pass over the batches of a dataset or loader, or over items that fill one batch after the other, for at most 100 turns in total, which take ten seconds, and in scripts that train nothing.
    - What a clock measures in every turn and nothing uses.
    - Once in several turns, as under `if step % 100 == 0`, but not for a batch that is full, as under `if (i + 1) % batch_size == 0`.
    - `steps` of more than one, or such a `batch_size`, is given: each call then predicts more than a batch. A `while` loop of a script that trains nothing is reported for all
      that: it takes what a camera or a user gives; and a loop that calls `train_on_batch` too, whose turns handle a batch.
    - Keras 2.3 and older, a package of its own, whose `predict` makes no dataset: where a turn predicts a batch, or needs the last, and as an info for what remains.
    - The session of a TensorFlow 1 graph, and code with placeholders, estimators or
      `disable_eager_execution`; not for the functions beside it that load or run a saved graph they are given.
    - `predict` of scikit-learn and other classes that are not Keras models; tests.
    - Per-item functions that no loop calls.

    ## Use instead

    One `predict` over all items, before the loop. Where they arrive one by one:
    `model.predict_on_batch(x)` gives the same NumPy array, `model(x, training=False)` a tensor. A
    `tf.function` around the latter is as quick as `predict_on_batch`, if the shape does not change.

    ## Fix safety

    `predict(x)` becomes `predict_on_batch(x)` where `x` and `verbose` are the only arguments.
    Unsafe: `x` must be an array or a tensor, because `predict_on_batch` takes no dataset or generator,
    it goes through the model in one piece where `predict` cuts it into batches of 32, and
    callbacks are not run. Other calls are reported without a fix.

    ## References

    - Keras documentation: "Model training APIs" (`predict`, `predict_on_batch`)
    - Keras FAQ: "What's the difference between Model methods predict() and __call__()?"
    - Keras source: `backend/tensorflow/trainer.py`
    """

    code = "KC405"
    name = "predict-in-loop"
    summary = "predict is called in a loop"
    severity = Severity.WARNING
    triggers = (".predict(", ".evaluate(")
    loss_tolerance = 1e-5

    def check(self, module):
        for batch in evaluated_batches(module):
            yield self.finding(
                batch.call,
                "model.evaluate runs for every batch; evaluate all data once, or call test_on_batch.",
                because="Each evaluate builds a dataset and an iterator, which takes about 0.1 s. train_on_batch returns the same numbers.",
                severity=Severity.WARNING if batch.turns > SHORT_LOOP else Severity.INFO,
                related=((batch.loop, "in this loop"),),
            )
        old = module.runtime.multi_backend_keras
        for each in repeated_predictions(module):
            call = each.call
            matters = each.in_training and not old and not each.by_batch and not each.is_measured and each.turns > SHORT_LOOP
            plain = len(call.arguments.positional) == 1 and set(call.arguments.keywords) <= {"verbose"} and not call.arguments.unknown_keywords
            for at in _places(call, each.loop):
                yield self.finding(
                    at,
                    f"{'model.predict runs' if at is call else 'This runs model.predict'} in every iteration{_remedy(each, old)}",
                    because="Each predict starts a session run for only a few rows."
                    if old
                    else "Each predict builds a dataset and an iterator, which takes about 0.1 s.",
                    severity=Severity.WARNING if matters else Severity.INFO,
                    fix=rename_method(call, "predict_on_batch", safe=False, without=("verbose",)) if plain and at is call else None,
                    related=((each.loop, "in this loop"), *(() if at is call else ((call, "the predict is here"),))),
                )


def _remedy(each, old):
    if each.is_again:
        return "; repeat the rows with np.repeat and predict them once."
    if each.needs_last:
        return " and depends on the one before; call predict_on_batch."
    return "; predict the whole array once" + (", unless an iteration needs the one before." if old else " or call predict_on_batch.")


def _places(call, loop):
    """Where the predict stands, and where the loop of another file calls it by a method of the same name."""
    yield call
    seen = seen_in(loop.module, call)
    if seen.node is not call.node and isinstance(seen.node, cst.Call) and isinstance(seen.node.func, cst.Attribute) and seen.node.func.attr.value == "predict":
        yield seen
