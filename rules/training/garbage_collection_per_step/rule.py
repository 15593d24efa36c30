from kerascheck.api import Applies, Rule, Severity, display_name, training

_SHORT = 50


class GarbageCollectionPerStep(Rule):
    """Every step of a training loop runs Python's full garbage collection.

    ## What it does

    Reports `gc.collect()` and `keras.backend.clear_session()` that a training loop calls in each step. A step is a
    weight update by an optimizer, or `train_on_batch`.

    ## Why it costs

    A full collection visits each object that Python tracks, and TensorFlow and Keras alone create hundreds of
    thousands. `gc.collect()` took 227 ms in a process that had only imported them, `clear_session()` 294 ms (2 CPU
    cores, TensorFlow 2.21, no GPU). A step of a small model takes a few milliseconds. The accelerator waits meanwhile.

    ## What the runtime does by itself

    Python frees an object as soon as its last reference is gone, and collects cycles by itself. Tensors need no call.
    `clear_session` calls `gc.collect` unless it gets `free_memory=False`; then it took 0.005 ms.

    ## When it stays silent

    - A condition selects some of the steps, such as `if step % 1000 == 0`.
    - The loops around it have at most 50 iterations in total, according to the literals.
    - It is in an outer loop, such as once per epoch, or in a loop that builds or fits models.
    - `clear_session(free_memory=False)`, or an argument that is not a literal.

    ## Use instead

    Leave it out. If memory grows with the steps, look for the reference that keeps tensors, such as a list of losses.
    To be sure, collect once per epoch.

    ## Fix safety

    There is no fix: code that keeps references to graphs may need the collection.

    ## References

    - Python documentation: "gc — Garbage Collector interface"
    - Keras source: `backend/common/global_state.py`
    """

    code = "KC423"
    name = "garbage-collection-per-step"
    summary = "each step runs a full garbage collection"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("collect(", "clear_session(")
    loss_tolerance = 1e-5

    def check(self, module):
        for found in training.garbage_collections(module, _SHORT):
            yield self.finding(
                found.call,
                f"{display_name(found.call.name)} runs in every step; leave it out, or call it once per epoch.",
                because="It visits all objects of Python, which takes some 0.2 s with TensorFlow and Keras.",
                related=((found.update, "a step trains here"), (found.loop, "in this loop")),
            )
