from kerascheck.api import CodeLocation, Rule, Severity, fixes, proofs, training

_OFTEN = 20
# What TensorBoard does by each argument, and what that costs.
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
    """A checkpoint is written every few batches, or TensorBoard records more than curves.

    ## What it does

    Reports

    - as a warning `ModelCheckpoint(save_freq=n)` and `BackupAndRestore(save_freq=n)` with a literal below 20;
    - as an info `TensorBoard` with `histogram_freq=1`, with `write_images=True` and histograms, with
      `update_freq="batch"` or a number below 10, or with a `profile_batch` of 20 batches or more.

    ## Why it costs

    `save_freq` counts batches, although many programs use it as if it counted epochs. Training waits each time until a
    file is written. Compared with a `fit` without callbacks, for 100 steps of 2 ms and 70,000 parameters (best of three
    runs, 2 CPU cores, TensorFlow 2.21, no GPU):

    | | epoch takes |
    |---|---|
    | `ModelCheckpoint(save_freq=10)` | 3.3 times as long |
    | `ModelCheckpoint(save_freq=100)` | the same |
    | `BackupAndRestore(save_freq=1)` | 8.9 times |
    | `BackupAndRestore(save_freq=10)` | 1.9 times |

    `ModelCheckpoint(save_freq=1)` took 7 times as long on the same machine, also when it saved the weights alone. The
    time of a save grows with the model. A step of several seconds hides it.

    Histograms of 85,000 parameters cost about 80 ms per epoch (1.3 times an epoch of 0.25 s), and with images of them
    1.5 times. Curves per batch cost about 2 ms per step (1.5 times), and a profile of a range of batches 1.5 times. In
    long epochs all of this disappears, except the curves per batch. That is why it is an info.

    ## What the runtime does by itself

    Nothing: saves and summaries are written in the thread that starts the steps. TensorBoard with its defaults costs
    little (1.1 times the epoch of 0.25 s). Before TensorFlow 2.2 `save_freq` counted samples, so a small number meant
    every batch.

    ## When it stays silent

    - `save_freq="epoch"`, numbers of 20 and more, and numbers that are not literals, such as `5 * steps_per_epoch`.
    - `save_best_only`, where it is unknown how often it writes. But with a `val_...` value to monitor, which no batch
      has, Keras 3 saves each time (tried with 3.15), and that is reported.
    - A save stands under a condition, unless all training stands under it too.
    - TensorBoard stands under a condition that names debugging, profiles or histograms, or in a handler of an
      exception.
    - A notebook opens TensorBoard, with `%tensorboard` or `!tensorboard --logdir`, or Weights & Biases runs with
      `sync_tensorboard=True`: the recordings are then looked at.
    - The callback of TensorBoard is passed to no call, or bound to a name that is never read.
    - The defaults of TensorBoard, histograms every few epochs, a profile of some batches.
    - Tests.

    ## Use instead

    `save_freq="epoch"`, which is the default. Within long epochs, a number of batches that take some minutes. For
    curves per batch, `update_freq=100`.

    ## Fix safety

    Deleting the argument restores the default. Unsafe: the program then writes fewer files, and fewer or no histograms,
    images and points. There is no fix for a checkpoint with the number of the batch in its file name, which cannot be
    written per epoch.

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
                # A file name with the number of the batch needs it.
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
