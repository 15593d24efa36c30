from kerascheck.api import Applies, Rule, Severity, fixes, program, proofs, training


class PredictInLoop(Rule):
    """A loop calls `model.predict` for one item or one batch at a time.

    ## What it does

    Reports `predict` of a Keras model inside a loop or a comprehension, or in a function that a loop calls, in these
    cases:

    - the loop variable, or another name that each iteration sets, selects the item or batch to predict;
    - the iterations call `train_on_batch` or the `step` of a game or simulation, or generate random data to predict;
    - a comprehension over a `range` predicts the same few rows repeatedly, for example with active dropout.

    In a loop that replays an agent's memory it recommends to stack the states. Such a loop unpacks one transition,
    judging by a name such as `next_state`, and steps no environment. It is part of a training, even if no `fit` is
    visible.

    The rule also reports `evaluate` of a batch that the same iteration passes to `train_on_batch`, or that a loop
    takes from a dataset or loader.

    `predict` is a warning in a script that trains, and an info in one that only applies a model, even if another
    script imports it.

    ## Why it costs

    `predict` is designed for a whole data set. Each call builds a data adapter, a dataset with an optimized graph and
    an iterator, runs the callbacks, and discards all of it. That takes about 0.1 s for a model of any size. For 128
    single items a loop took 168 times as long as one `predict` over the array.

    The table shows the time of a `predict` loop over 40 single items, divided by the time of a loop with each
    alternative. Values are medians of three; only those for texts include the first call (2 CPU cores, TensorFlow
    2.21, Keras 3.15, no GPU).

    | | `predict_on_batch(x)` | `model(x, training=False)` |
    |---|---|---|
    | two dense layers | 139 | 62 |
    | two convolutions, 64x64 pixels | 71 | 13 |
    | two LSTMs over 60 steps | 14 | 0.4 |
    | an embedding and a dense layer, texts that grow | 37 | 27 |
    | an embedding and a GRU, texts that grow | 10 | 1.2 |

    A model called outside a `tf.function` runs its operations one by one, and a recurrent layer runs a Python loop
    over the time steps. `predict_on_batch` runs the compiled function of `predict`. `verbose=0` hides the progress bar
    but does not reduce the cost. A single `predict` of the whole validation set in each epoch is cheap by comparison,
    so the rule does not report it.

    ## What the runtime does by itself

    Keras keeps the compiled step of the model between calls. It rebuilds everything else each time.

    ## When it stays silent

    - The loop is over models, folds, files or datasets, and each call gets a whole array or dataset. Inside a loop
      over models, the rule reports an inner loop with calls for one item, such as `row[None]`. Inside a loop over
      batches, it reports an inner loop that also calls `train_on_batch`.
    - The data is a whole array from a dictionary, as in `for split, x in data.items()`.
    - The data is a whole array that does not depend on the loop, such as once per epoch.
    - The data is a part of every example, such as `images[:, top:bottom]`.
    - The loops have at most 10 iterations in total, according to `take(1)`, literal ranges and slices, or an
      unconditional `break`.
    - The loop is interactive. Every iteration plots with Matplotlib (also on axes of unknown origin) or waits for
      `input` or `cv2.waitKey()`. The same holds for a call under a condition on a key and a loop over `uploaded`
      files.
    - The iterations also train for several epochs, with a generator, or on the same data each time. A `predict` is
      short by comparison. The rule reports it if they train on a single example.
    - The program times the call in every iteration, and nothing uses the result.
    - The call runs once in several iterations, for example under `if step % 100 == 0`. The rule reports a call for a
      full batch, as under `if (i + 1) % batch_size == 0`.
    - The call has `steps` or a `batch_size` greater than one, and so predicts more than one batch. Three calls with a
      `batch_size` are still reported. In the first, the expression shows a single item. The second is in a loop that
      also calls `train_on_batch`. The third is in a `while` loop of a script that trains nothing, because such a loop
      waits for a camera or a user.
    - Keras 2.3 and older, a separate package whose `predict` builds no dataset, if an iteration predicts a batch or
      needs the previous result. Other calls are an info there.
    - The object is not visible, and a model class of the project overrides `predict`: it may be an instance of that
      class.
    - The object is not a Keras model, such as one of scikit-learn, or the code is a test.
    - No loop calls the function that predicts one item.

    The finding is an info, not a warning:

    - in scripts that train nothing;
    - if an iteration times the `predict`;
    - for one pass over the batches of a dataset or loader, or over items that fill one batch after another;
    - for at most 100 iterations in total, which take ten seconds.

    ## Use instead

    One `predict` over all items, before the loop. If the items arrive one by one, `model.predict_on_batch(x)` returns
    the same NumPy array, and `model(x, training=False)` returns a tensor. A `tf.function` around the latter is as fast
    as `predict_on_batch` if the shape does not change. In a replay of 32 transitions, two calls of `predict_on_batch`
    for the stacked states and one `train_on_batch` took 2.3 ms. A loop with `predict_on_batch` and `train_on_batch`
    took 72 ms, and one with `predict` and `fit` 6,280 ms.

    ## Fix safety

    The fix replaces `predict(x)` with `predict_on_batch(x)` if `x` and `verbose` are the only arguments. Unsafe: `x`
    must be an array or a tensor, because `predict_on_batch` takes no dataset or generator. It runs the model once on
    all of `x`, but `predict` splits `x` into batches of 32. Callbacks do not run. There is no fix for other calls. A
    model that is not visible has no fix either, because its class may override `predict`.

    ## References

    - Keras documentation: "Model training APIs" (`predict`, `predict_on_batch`)
    - Keras FAQ: "What's the difference between Model methods predict() and __call__()?"
    - Keras source: `backend/tensorflow/trainer.py`
    """

    code = "KC405"
    name = "predict-in-loop"
    summary = "predict is called in a loop"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = (".predict(", ".evaluate(")
    proves = ("plain-call",)
    loss_tolerance = 1e-5

    def check(self, module):
        for batch in training.evaluated_batches(module):
            yield self.finding(
                batch.call,
                "model.evaluate runs for every batch; evaluate all data once, or call test_on_batch.",
                because="Each evaluate builds a dataset and an iterator, which takes about 0.1 s. train_on_batch also returns the loss and metrics of its batch.",
                doubt=None
                if batch.turns > program.SHORT_LOOP
                else f"The loop has at most {batch.turns:.0f} iterations.",
                related=((batch.loop, "in this loop"),),
            )
        old = module.runtime.multi_backend_keras
        for each in training.repeated_predictions(module):
            call = each.call
            for at in each.places():
                yield self.finding(
                    at,
                    f"{'model.predict runs' if at is call else 'This runs model.predict'} in every iteration{_remedy(each, old)}",
                    because="Each predict starts a session run for only a few rows."
                    if old
                    else "Each predict builds a dataset and an iterator, which takes about 0.1 s.",
                    doubt=_doubt(each, old),
                    fix=fixes.rename_method(
                        call,
                        "predict_on_batch",
                        proofs.PLAIN_CALL.unless("`x` has to be an array or a tensor"),
                        without=("verbose",),
                    )
                    if each.gives_data_only and at is call
                    else None,
                    related=((each.loop, "in this loop"), *(() if at is call else ((call, "the predict is here"),))),
                )


def _doubt(each, old):
    """A doubt about the cost of a repeated predict; None if it costs time in a training."""
    if each.turns <= program.SHORT_LOOP:
        return f"The loop has at most {each.turns:.0f} iterations."
    if each.is_measured:
        return "A clock measures each call, so single calls may be intended."
    if old:
        return "Its cost depends on the backend."
    if each.by_batch:
        return "Each call predicts a whole batch, which may take longer."
    return None if each.in_training else "No code here trains, so the number of items to predict is unknown."


def _remedy(each, old):
    if each.is_again:
        return "; repeat the rows with np.repeat and predict them once."
    if each.is_replay:
        return "; stack the states of all transitions and predict them once."
    if each.needs_last:
        return " and depends on the one before; call predict_on_batch."
    return "; predict the whole array once" + (
        ", unless an iteration needs the one before." if old else " or call predict_on_batch."
    )
