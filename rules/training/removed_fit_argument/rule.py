import libcst as cst

from kerascheck.api import (
    Applies,
    CodeLocation,
    ExternalInstance,
    Rule,
    Severity,
    conditions,
    fixes,
    names,
    options_of,
    proofs,
)


class RemovedFitArgument(Rule):
    """Keras 3 no longer has this method, or this argument of `fit`, `evaluate` or `predict`.

    ## What it does

    Reports `fit_generator`, `evaluate_generator` and `predict_generator` on a Keras model, and the arguments
    `workers`, `use_multiprocessing` and `max_queue_size` of `fit`, `evaluate` and `predict`. For a method, the finding
    is at the call; for an argument, it is at the argument.

    A model that is not visible counts if only Keras is plausible. The file imports Keras and no other library of
    estimators, or the call has two Keras-only arguments, such as `steps_per_epoch` and `use_multiprocessing`.

    ## Why it costs

    The call fails. The methods raise `AttributeError`, and the arguments raise `TypeError: ... got an unexpected
    keyword argument 'workers'`. Old tutorials and answers still recommend both to keep an accelerator busy.

    ## What the runtime does by itself

    `fit`, `evaluate` and `predict` take generators and datasets directly, and prefetch the batches of a Python
    generator. The number of workers now belongs to the data: `keras.utils.PyDataset` takes `workers`,
    `use_multiprocessing` and `max_queue_size` in its constructor, with the defaults 1, False and 10.

    More workers alone do not make training faster. Threads helped with loading that waits 30 ms for each batch: one
    worker took 1.43 times as long as two. For compute-bound Python code, two workers were slower (0.84), and processes
    did not help (0.92-1.02; 2 CPU cores, TensorFlow 2.21, no GPU).

    ## When it stays silent

    - The arguments are in the constructor of a `PyDataset`.
    - The program uses Keras 2: it imports `tf_keras`, or models or layers of `tensorflow.python.keras`, or the project
      pins Keras below 3 or TensorFlow below 2.16. For a model from elsewhere, any import of `tensorflow.python.keras`
      in the calling file counts.
    - A Keras 2 module creates or trains the model. A file that uses names found only in TensorFlow 1 is such a module.
    - The program turns off eager execution, which Keras 3 requires.
    - The file has arguments of Keras 1, such as `nb_epoch` or `border_mode`, so it cannot run with Keras 3.
    - The method belongs to another class, or to a model that overrides `fit` with such a parameter.
    - A name refers to one of two methods, as in `fit = model.fit_generator if old else model.fit`.
    - The call is in a branch on the version of Keras, or in a `try` with a handler for `TypeError`, `AttributeError`,
      `ValueError` or `Exception`.

    ## Use instead

    `model.fit(batches, steps_per_epoch=n)`. For loading that waits for files or a network, call
    `super().__init__(workers=4)` in the `PyDataset`. Pass `**kwargs` on to let the caller choose.

    ## Fix safety

    The fix renames `fit_generator` to `fit`, and the other two methods likewise. Safe if the model is of Keras's own
    class or a visible subclass: the call raises today, and nothing catches the exception. Unsafe in these cases:

    - a `try` or a `with`, in the function or around its calls, may catch the exception;
    - not all calls of the function are visible;
    - the program may give the object such a method.

    There is no fix for calls with `generator=`, which `fit` names `x=`, or with further positional arguments, because
    `fit` takes them in another order.

    Removing an argument is unsafe: the program runs again, but with one worker. If the data is a `PyDataset`, move the
    argument to its constructor.

    ## References

    - Keras guide: "Migrating Keras 2 code to multi-backend Keras 3"
    - Keras documentation: "Model training APIs"
    - Keras source: `trainers/data_adapters/py_dataset_adapter.py`
    """

    code = "KC414"
    name = "removed-fit-argument"
    summary = "method or argument that Keras 3 removed"
    severity = Severity.ERROR
    applies = Applies(keras=">=3")
    speed = False
    proves = ("raises-now", "plain-call")
    triggers = (
        "fit_generator",
        "evaluate_generator",
        "predict_generator",
        "workers",
        "use_multiprocessing",
        "max_queue_size",
    )

    def check(self, module):
        if module.program.chooses_legacy_keras:
            return
        for call in module.program.model_calls("fit_generator", "evaluate_generator", "predict_generator"):
            if _is_made_by_old_keras(call):
                continue
            # A name for one of two methods was chosen by a version check.
            if (
                not conditions.handles_versions(call.path)
                and isinstance(call.node.func, cst.Attribute)
                and call.node.func.attr.value == call.attribute
            ):
                new = call.attribute.removesuffix("_generator")
                yield self.finding(
                    call,
                    f"Keras 3 has no {call.attribute}; call {new}, which accepts generators.",
                    because=f"Keras 3 raises an AttributeError for it.{_assumed(module)}",
                    fix=fixes.replace_generator_method(call, new),
                )
        for call in module.program.model_calls("fit", "evaluate", "predict"):
            if conditions.handles_versions(call.path) or _is_made_by_old_keras(call):
                continue
            for name in ("workers", "use_multiprocessing", "max_queue_size"):
                if (argument := call.arguments.nodes.get(name)) is not None:
                    yield self.finding(
                        CodeLocation(call.module, argument),
                        f"{call.attribute}() has no argument {name} in Keras 3; remove it or pass it to the PyDataset.",
                        because=f"Keras 3 raises a TypeError for it.{_assumed(module)}",
                        fix=fixes.drop_argument(
                            call, name, proofs.PLAIN_CALL.unless("the program then runs with one worker")
                        ),
                    )


def _assumed(module):
    assumed = module.target.assumed
    return f" No exact version is required here; {assumed} is assumed." if assumed else ""


def _is_made_by_old_keras(call):
    """Whether the module of a call, or the one that makes its model, needs Keras 2.

    For a model from elsewhere: whether the module of the call imports the copy of Keras 2 inside TensorFlow.
    """
    imported = (name for name, _ in call.module.import_names)
    made = [
        option.call
        for option in options_of(call.receiver)
        if isinstance(option, ExternalInstance) and option.call is not None
    ]
    return (
        any(each.module.runtime.keras < 3 for each in (call, *made))
        or not made
        and names.namespaces.FROZEN_KERAS in imported
    )
