from kerascheck.api import Applies, Rule, Severity, display_name, training

_RUNS = frozenset({"predict", "evaluate", "fit", "predict_generator", "evaluate_generator"})
_WRITES = frozenset({"save", "save_weights"})
_DRAWS = frozenset(
    {"matplotlib.pyplot.savefig", "matplotlib.pyplot.show", "matplotlib.pyplot.pause", "matplotlib.pyplot.draw"}
)
_WHEN = "do it in on_epoch_end, or every few hundred batches."


class HeavyBatchCallback(Rule):
    """A callback evaluates, predicts, saves or draws after every training batch.

    ## What it does

    Reports a callback that runs one of these methods in every batch: `predict`, `evaluate`, `fit`, `save` and
    `save_weights` of a Keras model, or `savefig`, `show`, `pause` and `draw` of Matplotlib's pyplot. The call is:

    - in `on_train_batch_end` and `on_train_batch_begin`, or under their older names `on_batch_end` and
      `on_batch_begin`;
    - in a method that one of these calls;
    - in a function passed to `LambdaCallback` under one of these names.

    ## Why it costs

    `predict` and `evaluate` are designed for a whole data set. Each call builds a data adapter, a dataset and an
    iterator, and runs its own callbacks. With files and figures, the next step waits until the callback has written
    the file or drawn the figure.

    The table shows the cost after every batch, in a `fit` of 100 steps of 2 ms with 70,000 parameters (best of three
    runs on 2 CPU cores, TensorFlow 2.21, no GPU):

    | in `on_train_batch_end` | added to each step | epoch takes |
    |---|---|---|
    | nothing | 0 ms | 0.9 times as long |
    | `predict` on 32 rows | 50 ms | 26 times |
    | `evaluate` on 10 batches | 71 ms | 37 times |
    | `save_weights` | 24 ms | 13 times |
    | `save` | 17 ms | 9 times |
    | a small plot and `savefig` | 169 ms | 86 times |
    | `predict_on_batch` on 32 rows | 0.5 ms | 1.3 times |
    | `self.model(rows)` | 2.4 ms | 2.2 times |
    | `get_weights` | 0.7 ms | 1.3 times |

    `evaluate` and `predict` once in 8 batches still doubled the time. If a step takes a second, none of this matters.

    ## What the runtime does by itself

    Nothing: callbacks run between the steps, in the thread that starts the steps. A callback that only counts, prints
    or collects the logs had no measurable cost. So the popular advice to avoid `on_train_batch_end` altogether is
    wrong.

    ## When it stays silent

    - The call is under a condition such as `if batch % 500 == 0`, or after a conditional `return`.
    - The call is in `on_epoch_end` or another hook, or in a hook of `evaluate` and `predict`.
    - The program passes the callback to `evaluate` and `predict` only.
    - Counters, logs, prints, learning rates, and the cheap calls of the table.
    - The class is not a Keras callback, or the object is not a Keras model.
    - The project pins Keras below 2.4, whose `fit` and `predict` build no datasets.

    ## Use instead

    `validation_data` and `ModelCheckpoint` do this once per epoch. Within a long epoch, add a condition: `if batch %
    500 == 0`. For a few rows in every batch, call `self.model.predict_on_batch(rows)`.

    ## Fix safety

    There is no automatic fix: the right interval depends on the length of an epoch.

    ## References

    - Keras guide: "Writing your own callbacks"
    - Keras source: `callbacks/callback.py`, `callbacks/lambda_callback.py`
    """

    code = "KC406"
    name = "heavy-batch-callback"
    summary = "callback does slow work after every batch"
    severity = Severity.WARNING
    applies = Applies(graph_code=False, multi_backend_keras=False)
    triggers = ("on_batch_end", "on_batch_begin", "on_train_batch_end", "on_train_batch_begin")
    loss_tolerance = None

    def check(self, module):
        heavy = [call for call in module.run.calls if call.attribute in _RUNS | _WRITES or call.name in _DRAWS]
        seen = set()
        for call, hook in training.calls_of_every_batch(module, heavy):
            if call.node in seen:
                continue
            seen.add(call.node)
            if call.attribute in _RUNS and module.program.is_model_call(call):
                what, cost = (
                    f"model.{call.attribute}",
                    "Each call builds a dataset and an iterator, which takes tens of milliseconds; a step of a small model takes a few.",
                )
            elif call.attribute in _WRITES and module.program.is_model_call(call):
                what, cost = f"model.{call.attribute}", "The next step waits until the file has been written."
            elif call.name in _DRAWS:
                what, cost = display_name(call.name), "The next step waits until the figure has been drawn."
            else:
                continue
            yield self.finding(
                call,
                f"{what} runs after every training batch; {_WHEN}",
                because=cost,
                related=((hook, "called for every batch"),),
            )
