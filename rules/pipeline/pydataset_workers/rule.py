from kerascheck.api import Applies, Function, Rule, Severity, data, display_name, options_of, written

_SETTINGS = ("workers", "use_multiprocessing")


class PyDatasetWorkers(Rule):
    """A PyDataset reads files batch by batch, with one worker.

    ## What it does

    Looks for an object passed to `fit` whose class derives from `keras.utils.PyDataset` (or `Sequence`, its older
    name). Its `__getitem__` reads files or waits for a network, directly or through functions that it calls. No code
    sets its `workers`. The class may come from another module, and the model from anywhere. The finding is at the call
    of `fit`. It is a warning if the items come over a network, and an info if they are files.

    ## Why it costs

    The default is one worker: while it waits for the disk or the network, nothing else prepares a batch. With items
    that wait 30 ms, two workers were 1.4 times as fast as one (2 CPU cores, TensorFlow 2.21, no GPU). For JPEG files on
    a local disk, decoded by PIL, the same two busy cores showed no clear gain. The median of seven pairs was 1.2 times
    as fast, with values between 0.7 and 2.3. Slower storage and more cores offer more gain.

    The usual advice, more workers for everything, is wrong. The workers are threads and share the GIL. An item computed
    in Python took *longer* with two of them (0.84 times the speed). With `use_multiprocessing=True`, there was no gain
    (0.92 to 1.02).

    ## What the runtime does by itself

    With one worker, Keras 3 wraps the object into a dataset with a prefetch: it prepares the next batch during the
    current step, but only that one. With more workers, it starts a queue. Keras 3 takes `workers` in the constructor of
    the dataset and raises an error for it in `fit`. In tf.keras 2 it is an argument of `fit`.

    ## When it stays silent

    - The constructor or `fit` receives `workers` or `use_multiprocessing`, or the program sets one of them on the
      object or its class.
    - Unknown keyword arguments may contain it, and the constructor accepts any.
    - `__getitem__` only slices, computes or augments arrays: threads do not help there.
    - `__getitem__`, or a function that it calls, changes state that outlives the call. For example, it sets attributes,
      changes a global, or fills a list, dictionary or array of the object. Threads would interfere with each other.
    - The object is used only for validation, evaluation or prediction.
    - The data come from a generator, or a dataset of PyTorch or another library.

    ## Use instead

    `Photographs(paths, workers=4)`, with `super().__init__(**kwargs)` in its constructor, or `photographs.workers = 4`
    before `fit`. Measure it: if Python takes more time than reading, leave it at 1, or read with `tf.data`.

    ## Fix safety

    There is no automatic fix: the best number of workers depends on the storage, and `__getitem__` must be able to run
    in several threads at once.

    ## References

    - Keras API: `keras.utils.PyDataset`
    - Keras source: `trainers/data_adapters/py_dataset_adapter.py`
    """

    code = "KC110"
    name = "pydataset-workers"
    summary = "PyDataset reads its batches with one worker"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("PyDataset", "Sequence")
    evidence_note = "The gain depends on how long an item waits for storage; two busy cores show little."
    loss_tolerance = 1e-5

    def check(self, module):
        for call in module.program.model_calls("fit", "fit_generator"):
            if any(call.given(name) is not None for name in _SETTINGS):
                continue
            for batches in options_of(call.given("x")):
                if not data.is_py_dataset(batches):
                    continue
                item = batches.cls.member("__getitem__")
                if not isinstance(item, Function) or _has_workers(module, batches):
                    continue
                reading = module.calls.within(item)
                if module.run.item_writes.get(item.node):
                    yield self.silence(
                        call,
                        f"{batches.cls.name}.__getitem__ changes what outlives the call, which several workers would do at once",
                    )
                    continue
                remote = next(filter(data.waits_without_gil, reading), None)
                read = remote or next(filter(data.reads_file, reading), None)
                if read is None:
                    continue
                older = module.program.keras < 3
                yield self.finding(
                    call,
                    f"{batches.cls.name} reads its batches with one worker; "
                    + (
                        "try fit(workers=4)."
                        if older
                        else "try workers=4, in super().__init__(**kwargs) or as an attribute."
                    ),
                    because=f"{display_name(read.name)} waits without the GIL, so other workers could read meanwhile; Python computation would gain nothing.",
                    doubt=None if remote is not None else "How long a local file takes is not known.",
                    related=((read, "read here, in __getitem__"),),
                )


def _has_workers(module, batches):
    """Whether the number of workers of a PyDataset is set, or may be set by invisible code."""
    if any(name in batches.attributes or batches.cls.member(name) is not None for name in _SETTINGS):
        return True
    # The constructor call, and the call of the base class's constructor.
    made = (call for call in module.calls.of_methods("__init__") if call.receiver is batches)
    own = batches.cls.member("__init__")
    return any(
        call.keyword(name) is not None and (name in call.arguments.keywords or written.takes_parameter(own, name))
        for call in made
        for name in _SETTINGS
    )
