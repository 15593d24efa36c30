from kerascheck.api import CodeLocation, Rule, Severity, fixes, proofs, training

_OFTEN = 20
# The effect of each TensorBoard argument, and its cost.
_RECORDED = {
    "histogram_freq": (
        "write a histogram of every weight in every epoch",
        "After each epoch, all weights are copied, binned and written.",
    ),
    "write_images": ("draw the weights as images", "After an epoch, all weights are copied and drawn."),
    "update_freq": (
        "write its curves every few batches",
        "Writing the curves takes about as long as a step of a small model.",
    ),
    "profile_batch": ("profile many batches", "Profiling slows down each of these batches; ten show the same."),
}


class HeavyCallback(Rule):
    """A callback saves a checkpoint every few batches, or TensorBoard records more than curves.

    ## What it does

    Reports:

    - as a warning, `ModelCheckpoint(save_freq=n)` and `BackupAndRestore(save_freq=n)` with a literal below 20;
    - as an info, `TensorBoard` with `histogram_freq=1`, with `write_images=True` and histograms, with a small
      `update_freq` (`"batch"` or a number below 10), or with a `profile_batch` of 20 batches or more.

    ## Why it costs

    `save_freq` counts batches, although many programs use it as if it counted epochs. Training waits for each save.
    The table compares a `fit` of 100 steps of 2 ms and 70,000 parameters with one without callbacks (best of three
    runs, 2 CPU cores, TensorFlow 2.21, no GPU):

    | | epoch takes |
    |---|---|
    | `ModelCheckpoint(save_freq=10)` | 3.3 times as long |
    | `ModelCheckpoint(save_freq=100)` | the same |
    | `BackupAndRestore(save_freq=1)` | 8.9 times |
    | `BackupAndRestore(save_freq=10)` | 1.9 times |

    `ModelCheckpoint(save_freq=1)` took 7 times as long on the same machine, even if it saved only the weights. The
    time of a save grows with the model. Next to a step of several seconds it does not matter.

    Histograms of 85,000 parameters cost about 80 ms per epoch (1.3 times an epoch of 0.25 s). With images of them an
    epoch took 1.5 times as long. Curves per batch cost about 2 ms per step (1.5 times), and a profile of a range of
    batches 1.5 times. In long epochs only the cost of curves per batch remains, so these findings are infos.

    ## What the runtime does by itself

    Nothing: the thread that starts the steps also writes the saves and summaries. TensorBoard with its defaults costs
    little (1.1 times the epoch of 0.25 s). Before TensorFlow 2.2 `save_freq` counted samples, so a small number meant
    every batch.

    ## When it stays silent

    - `save_freq="epoch"`, numbers of 20 and more, and numbers that are not literals, such as `5 * steps_per_epoch`.
    - `save_best_only`, because the number of saves is unknown. But the rule reports it with a `val_...` value to
      monitor. No batch has such a value, so Keras 3 saves each time (tested with 3.15).
    - A save is conditional, unless all training is under the same condition.
    - TensorBoard is under a condition that names debugging, profiles or histograms, or in an exception handler.
    - Somebody views the recordings: a notebook opens TensorBoard with `%tensorboard` or `!tensorboard --logdir`, or
      Weights & Biases runs with `sync_tensorboard=True`.
    - The program passes the TensorBoard callback to no call, or never reads its name.
    - The program passes the callback to `evaluate` and `predict` only.
    - The defaults of TensorBoard, histograms every few epochs, a profile of some batches.
    - Tests.

    ## Use instead

    `save_freq="epoch"`, which is the default. Within long epochs, save every few minutes, counted in batches. For
    curves per batch, `update_freq=100`.

    ## Fix safety

    The fix deletes the argument, which restores the default. Unsafe: the program then writes fewer files, and fewer or
    no histograms, images and points. There is no fix for a checkpoint with the batch number in its file name, because
    no epoch has such a number.

    ## References

    - Keras documentation: "ModelCheckpoint", "BackupAndRestore", "TensorBoard"
    - Keras source: `callbacks/model_checkpoint.py`, `callbacks/tensorboard.py`
    """

    code = "KC412"
    name = "heavy-callback"
    summary = "callback saves or records too often"
    severity = Severity.WARNING
    triggers = ("save_freq", "histogram_freq", "update_freq", "profile_batch", "BackupAndRestore(")
    proves = ("same-output",)
    loss_tolerance = 1e-5

    def check(self, module):
        for save in training.frequent_saves(module, _OFTEN):
            call, batches = save.call, save.batches
            yield self.finding(
                CodeLocation(call.module, call.written("save_freq") or call.node),
                f"save_freq={batches} saves the model every {f'{batches} batches' if batches > 1 else 'batch'}; remove it to save once per epoch.",
                because=f"After a batch there is no {save.missed} to compare, so Keras 3 always saves; training waits until each file is written."
                if save.missed is not None
                else "save_freq counts batches, not epochs, and training waits until each file is written.",
                # A file name with the batch number needs it.
                fix=None
                if save.names_files_by_batch
                else fixes.drop_argument(
                    call, "save_freq", proofs.SAME_OUTPUT.unless("the program then writes fewer files")
                ),
            )
        for call, argument in training.needless_recordings(module):
            what, cost = _RECORDED[argument]
            yield self.finding(
                CodeLocation(call.module, call.arguments.nodes.get(argument) or call.node),
                f"{argument} makes TensorBoard {what}; remove it unless you look at them.",
                because=cost,
                doubt="The duration of an epoch, which decides how much this matters, is unknown here.",
                fix=fixes.drop_argument(
                    call, argument, proofs.SAME_OUTPUT.unless("the program then writes fewer files")
                ),
            )
