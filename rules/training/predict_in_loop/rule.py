import re

import libcst as cst

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.compiled import counting_branch
from kerascheck.semantics.fixes import rename_method
from kerascheck.semantics.loops import SHORT_LOOP, bound_in, rows_of_slice, turns, varies
from kerascheck.semantics.places import in_session, seen_in
from kerascheck.semantics.repetition import is_conditional, is_inside, is_one_item
from kerascheck.semantics.steps import environment_loop
from kerascheck.semantics.timing import intervals, measures_speed
from kerascheck.semantics.values import Const, Iteration, constant, datasets_in

_A_FEW = 10
_FEW_ROWS = 32
_AXES = re.compile(r"ax(?:s|es|is)?\d*\b")
_BATCHES = re.compile(r"(?:loader|batches|dataset|_ds)\b(?!\.(?:items|values)\()", re.I)
_UPLOADED = re.compile(r"\bupload", re.I)
_DRAWS = ("numpy.random.", "random.", "tensorflow.random.")
_KEY = re.compile(r"\bord\(|waitKey\(|\bK_\w+\b|key_?pressed", re.I)
_DRAWING = frozenset({"bar", "hist", "plot", "scatter"})
_OF_AXES = frozenset({"imshow", "set_title", "set_xlabel", "set_xticks", "set_axis_off"})


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
    - As an info, not a warning, where a turn measures the predict with a clock, for one pass over the batches of a dataset or loader, for at most 100 turns in total, which take ten seconds, and in scripts that train nothing.
    - Once in several turns, as under `if step % 100 == 0`.
    - `steps` of more than one, or such a `batch_size`, is given: each call then predicts more than a batch. A `while` loop of a script that trains nothing is reported for all
      that: it takes what a camera or a user gives; and a loop that calls `train_on_batch` too, whose turns handle a batch.
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

    ## Precision

    Read on real code: of a sample of findings in 6,100 public files 28 right, 7 wrong; of a later one in 5,300 other files 18
    right. What was wrong for a general reason became one of the silences above.
    Of a sample in 3,700 further files: 12 right, 3 arguable, 10 wrong, before what was wrong for a general reason was silenced.
    Of a sample in 9,800 files more: 41 right, 1 arguable, 8 wrong, before what was wrong for a general reason was silenced.
    Of a sample in 6,900 files more: 20 right, 6 arguable, 4 wrong, before what was wrong for a general reason was silenced.
    Of a sample in 6,930 further files: 19 right, 2 arguable, 3 wrong, before what was wrong for a general reason was silenced.
    Of a sample in 6,420 further files: 16 right, 2 arguable, 8 wrong, before what was wrong for a general reason was silenced.
    Of samples in 8,920 further files: 52 right, 7 arguable, 4 wrong, before what was wrong for a general reason was silenced.
    Of samples in 6,392 files more: 38 right, 9 arguable, 5 wrong, before what was wrong for a general reason was silenced.
    Of samples in 5,836 files more: 51 right, 9 arguable, 6 wrong, before what was wrong for a general reason was silenced.
    Of samples in 4,075 files more: 57 right, 12 arguable, 6 wrong, before what was wrong for a general reason was silenced.
    Of samples in 2,882 files more: 37 right, 14 arguable, 8 wrong, before what was wrong for a general reason was silenced.
    Of samples in 506 files more: 13 right, 3 arguable, 2 wrong, before what was wrong for a general reason was silenced.

    ## References

    - Keras documentation: "Model training APIs" (`predict`, `predict_on_batch`)
    - Keras FAQ: "What's the difference between Model methods predict() and __call__()?"
    - Keras source: `backend/tensorflow/trainer.py`
    """

    code = "KC405"
    name = "predict-in-loop"
    severity = Severity.WARNING
    triggers = (".predict(", ".evaluate(")
    loss_tolerance = 1e-5

    def check(self, module):
        yield from self._evaluated(module)
        for call in () if module.is_graph_code else module.run.calls:
            if call.attribute != "predict" or not module.program.is_model_call(call):
                continue
            # Another library's predict takes more than data and the size of a batch.
            if len(call.arguments.positional) > 1 and type(constant(call.arguments.positional[1])) is not int:
                continue
            if any(datasets_in(call.argument(0, "x"))):
                continue
            given = call.arguments.node(0, "x")
            loop = (varies(given.value, call.scope) or environment_loop(module, call.scope) or _turning_loop(module, call, given.value)) if given is not None else None
            again = _few_rows_again(call, given.value) if loop is None and given is not None else None
            loop = loop or again
            # A loop that plots or asks is for people, and waits for them, and so is one over what they upload.
            if loop is not None and (_is_over_uploads(loop) or _is_over_named(loop, given.value) or any(_is_for_people(other, loop) for other in module.pipelines.calls_in(loop))):
                continue
            if loop is None or in_session(call.scope) or turns(call.scope) <= _A_FEW or _is_of_all(given.value, loop):
                continue
            if counting_branch(call.scope, loop) is not None or _is_asked_for(call, loop) or any(_trains_long(other, loop) for other in module.pipelines.calls_in(loop)):
                continue
            # Around a loop over single items, one over models changes nothing, nor does one inside of a loop over batches.
            models = varies(call.node.func, call.scope, exactly=True)
            batches = varies(given.value, call.scope, beside=models) if models is loop else None
            if batches is not None and any(other.attribute == "train_on_batch" for other in module.pipelines.calls_in(batches)):
                models, loop = None, batches
            if models is not None and (models is loop or models not in loop.chain() or not is_one_item(module.tree, given.value)):
                continue
            old = module.runtime.multi_backend_keras
            first = module.program.first_training
            # What a module beside it does with a trained model is an application of that.
            training = first is not None and first.module is call.module or any(outer.trains for outer in call.scope.loops())
            # With a batch size of its own each turn predicts a whole array, but for an application that waits for what comes next, and beside training on a batch.
            waits = isinstance(loop.node, cst.While) and not training or any(other.attribute == "train_on_batch" for other in module.pipelines.calls_in(loop))
            sized = constant(call.argument(1, "batch_size"), 1) != 1 and not waits and not is_one_item(module.tree, given.value, loop)
            if constant(call.argument(None, "steps") or Const(1)) != 1 or sized:
                continue
            # A pass over the batches of a loader has no whole array, and each predict has a batch to do.
            by_batch = isinstance(loop.node, cst.For) and _is_over_batches(loop) and not any(outer.trains for outer in call.scope.loops())
            plain = len(call.arguments.positional) == 1 and set(call.arguments.keywords) <= {"verbose"} and not call.arguments.unknown_keywords
            for at in _places(call, loop):
                yield self.finding(
                    at,
                    "model.predict is called in every turn of a loop; "
                    + (
                        "repeat the rows, as with np.repeat, and predict them once."
                        if again is not None
                        else "predict the whole array once" + (", unless each turn needs the last." if old else ", or call predict_on_batch where each turn needs the last.")
                    ),
                    because="Each predict starts a session's run for as few rows as it is given."
                    if old
                    else "Every predict builds a dataset and an iterator of its own, about 0.1 s before the first number is computed.",
                    severity=Severity.WARNING if training and not old and not by_batch and turns(call.scope) > SHORT_LOOP and not _is_measured(module, call, loop) else Severity.INFO,
                    fix=rename_method(call, "predict_on_batch", safe=False, without=("verbose",)) if plain and at is call else None,
                    related=((loop, "in this loop"), *(() if at is call else ((call, "the predict is here"),))),
                )


    def _evaluated(self, module):
        """The batch that a turn trains on, or takes from a loader, evaluated by itself."""
        for call in () if module.is_graph_code or module.runtime.multi_backend_keras else module.program.model_calls("evaluate"):
            given, loop = call.arguments.node(0, "x"), next(call.scope.loops(), None)
            if given is None or loop is None or varies(given.value, call.scope) is not loop or turns(call.scope) <= _A_FEW:
                continue
            # A method of that name that somebody wrote takes other things.
            if len(call.arguments.positional) > 2:
                continue
            by_batch = any(other.attribute == "train_on_batch" and next(other.scope.loops()) is loop for other in module.pipelines.calls_in(loop))
            if (by_batch or _is_over_batches(loop)) and not is_conditional(call.scope, loop):
                yield self.finding(
                    call,
                    "model.evaluate is called for every batch; evaluate the whole data once, call test_on_batch, or use what train_on_batch returns.",
                    because="Every evaluate builds a dataset and an iterator of its own, about 0.1 s before the first number is computed.",
                    severity=Severity.WARNING if turns(call.scope) > SHORT_LOOP else Severity.INFO,
                    related=((loop, "in this loop"),),
                )


def _turning_loop(module, call, given):
    """The innermost loop around a predict where that draws what it is given, as ``model.predict(np.random.normal(size=(32, 100)))``, or a turn trains on one batch."""
    loop, inside = next(call.scope.loops(), None), set(module.tree.descendants(given))
    return next(
        (
            loop for other in module.run.calls
            if other.node in inside and (other.name or "").startswith(_DRAWS)
            or other.attribute == "train_on_batch" and loop is not None and next(other.scope.loops(), None) is loop
        ),
        None,
    )  # fmt: skip


def _few_rows_again(call, given):
    """The comprehension over a range that predicts the same few rows in each turn, such as with dropout that stays on."""
    loop = next(call.scope.loops(), None)
    if loop is None or not isinstance(loop.node, (cst.ListComp, cst.GeneratorExp)) or not isinstance(loop.value, Iteration) or loop.value.kind != "range":
        return None
    rows = rows_of_slice(given)
    return loop if rows is not None and rows <= _FEW_ROWS or is_one_item(call.module.tree, given) else None


def _places(call, loop):
    """Where the predict stands, and where the loop of another file calls it by a method of the same name."""
    yield call
    seen = seen_in(loop.module, call)
    if seen.node is not call.node and isinstance(seen.node, cst.Call) and isinstance(seen.node.func, cst.Attribute) and seen.node.func.attr.value == "predict":
        yield seen


def _is_for_people(call, loop):
    """Whether every turn shows a picture or waits for an answer, not one in several or some under a condition."""
    waits = call.name == "cv2.waitKey" and constant(call.argument(0, "delay") or Const(0)) == 0
    shows = waits or (call.name or "").startswith(("matplotlib.", "builtins.input")) or call.name is None and call.attribute in _OF_AXES
    drawn = call.name is None and call.attribute in _DRAWING and _AXES.match(call.module.tree.code_of(call.node)) is not None
    return (shows or drawn) and not is_conditional(call.scope, loop)


def _is_over_batches(loop):
    """Whether a loop goes over a dataset, or what its name says to be a loader or batches."""
    return any(datasets_in(loop.value)) or isinstance(loop.node, cst.For) and _BATCHES.search(loop.module.tree.code_of(loop.node.iter)) is not None


def _is_over_named(loop, given):
    """``for split, x in data.items(): model.predict(x)``: whole arrays, each with its name."""
    if not isinstance(loop.node, cst.For) or not isinstance(given, cst.Name) or given.value not in bound_in(loop.module, loop.node):
        return False
    method = loop.node.iter.func if isinstance(loop.node.iter, cst.Call) else None
    return isinstance(method, cst.Attribute) and method.attr.value in ("items", "values")


def _is_over_uploads(loop):
    """``for name in uploaded.keys()``."""
    return isinstance(loop.node, cst.For) and _UPLOADED.search(loop.module.tree.code_of(loop.node.iter)) is not None


def _is_measured(module, call, loop):
    """Whether a turn measures how long the predict takes: then it may be meant to be called for one item."""
    return any(
        each.start.order < call.order < each.end.order and next(each.start.scope.loops(), None) is loop and measures_speed(module, each)
        for each in intervals(module)
    )


def _is_asked_for(call, loop):
    """Whether a key that somebody presses decides, as under ``if key == ord("s")``."""
    branches = (each for each in call.scope.chain() if each.kind == "branch" and isinstance(each.node, cst.If) and is_inside(each, loop))
    return any(_KEY.search(each.module.tree.code_of(each.node.test)) for each in branches)


def _trains_long(call, loop):
    """Whether a call trains for more than an epoch over what may be a batch, or on the same data in every turn, beside which a predict is short."""
    epochs, given = call.argument(None, "epochs"), call.arguments.node(0, "x")
    if given is not None and is_one_item(call.module.tree, given.value):
        return False
    if call.attribute != "fit" or epochs is not None and constant(epochs) != 1 or call.argument(None, "steps_per_epoch") is not None:
        return call.attribute in ("fit", "fit_generator")
    return given is not None and isinstance(given.value, (cst.Name, cst.Attribute)) and varies(given.value, call.scope) is not loop


def _is_of_all(node, loop):
    """Whether an expression takes a part of every example, as ``x[:, a:b]``; ``x[:, :n]``, and an array that the turns fill, is a text that grows."""
    if not isinstance(node, cst.Subscript) or {inner.value for inner in loop.module.tree.descendants(node.value) if isinstance(inner, cst.Name)} & bound_in(loop.module, loop.node):
        return False
    cuts = [element.slice for element in node.slice]
    cuts = [(cut.lower is not None, cut.upper is not None) if isinstance(cut, cst.Slice) else None for cut in cuts]
    return cuts[:1] == [(False, False)] and (True, True) in cuts
