from kerascheck.api import Applies, Rule, Severity, display_name, training


class CostlyMetric(Rule):
    """A metric of `compile` decodes sequences, or computes a score in Python, in every training step.

    ## What it does

    Reports a metric in `compile(metrics=...)` or `weighted_metrics` whose function or `update_state` unconditionally
    calls

    - a CTC decoder with beam search: a warning;
    - a greedy CTC decoder or `tf.edit_distance`, for example for the rate of wrong characters: an info;
    - `tf.py_function` or `tf.numpy_function` with a function of scikit-learn, scikit-image or SciPy: an info.

    The finding is at the metric in `compile`, and points at the call.

    ## Why it costs

    `fit` updates each metric after every training batch, although mostly its value on the validation data matters. CTC
    decoders and `tf.edit_distance` have kernels for the CPU only (registered kernels of TensorFlow 2.21). So on a GPU
    the predictions of each batch travel to the host. Two such metrics decode them twice.

    The step of a small network for texts (two convolutions, a bidirectional LSTM of 64 units with 64 time steps, 80
    characters, CTC loss, batch of 32) took 76 ms, and with a greedy decoder and the edit distance 82 ms. These two
    alone take 1.1 ms per batch of 64 time steps, 4.6 ms of 500, and 59 ms of 2,112. With beam search (width 100) a step
    took 2.0 s on average. (All others: minimum of 15 to 300 runs, TensorFlow 2.21, Keras 3.15, 2 busy CPU cores, no
    GPU.)

    One call of scikit-learn's `roc_auc_score` or `f1_score` with 32 numbers took 1.1 ms (scikit-learn 1.9.1). A whole
    training step of a small dense network takes 1.0 ms, and with such a score in NumPy 1.3 ms. Moreover, the mean of
    such scores over batches is not the score of the epoch.

    ## What the runtime does by itself

    Nothing: Keras calls the same metrics for training and for validation.

    ## When it stays silent

    - The call is under a condition, or in a function that `tf.cond` or `tf.map_fn` gets.
    - The model is only evaluated, or used for predictions.
    - The metric is not visible in `compile`, for example one that a `train_step` updates.
    - The code of the metric is not visible.
    - `tf.numpy_function` gets a function of the program: the intersection of two arrays of 131,072 numbers adds 2 ms to
      a step of 53 ms.

    ## Use instead

    A callback that computes the score once per epoch on the validation data, and stores it in `logs`:

        class ErrorRate(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                logs["val_error_rate"] = error_rate(texts, self.model.predict(strips, verbose=0))

    Callbacks after it in the list, such as `EarlyStopping(monitor="val_error_rate")`, and the history see this value
    (tested with Keras 3.15). For some Python functions Keras has a metric, such as `keras.metrics.AUC` and `IoU`.

    ## Fix safety

    There is no automatic fix: the training then no longer shows the metric of the training data.

    ## References

    - Keras documentation: "Metrics", "Writing your own callbacks"
    - TensorFlow API: `tf.nn.ctc_greedy_decoder`, `tf.edit_distance`, `tf.numpy_function`
    """

    code = "KC426"
    name = "costly-metric"
    summary = "metric decodes or calls sklearn in every step"
    evidence_note = "The example decodes 60 time steps of 41 characters; long sequences and beam search cost more."
    severity = Severity.WARNING
    applies = Applies(graph_code=False, without_training=False)
    triggers = (".compile(",)
    loss_tolerance = 1e-4

    def check(self, module):
        for each in training.costly_metrics(module):
            name = display_name(each.call.name)
            yield self.finding(
                each.place,
                f"This metric runs {name} in every training step; compute it once per epoch in a callback.",
                because="The predictions of each batch are copied to Python, which holds the GIL."
                if each.is_python
                else "It runs on the CPU only, for each training batch as for the validation.",
                doubt=None if each.searches else "Next to a long training step it costs little.",
                related=((each.call, "called here"),),
            )
