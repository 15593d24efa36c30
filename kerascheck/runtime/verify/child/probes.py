"""Finds "the training" at run time, whatever form it has, and tells the recorder when steps end.

Forms: ``Model.fit`` on any backend and on legacy tf.keras; ``train_on_batch`` loops; hand-written loops whose step is a
``tf.function``; eager loops with an optimizer; loops over a dataset inside a ``tf.function``; jitted JAX steps; PyTorch
optimizers; loops of ``predict``; bare loops over a dataset. A form inside another one (the optimizer inside ``fit``) does not count again.
"""

import ast
import contextlib
import functools
import inspect
import linecache
import sys
import threading
import time
import traceback
import types
import weakref

from . import clock, diagnose, looks, parts, redirect
from .hooks import AfterImport
from .recorder import PREDICTION, is_user_frame, user_place

_ENDLESS = 10**9
_POLL_SECONDS = 0.002


class State:
    """What the probes of one process share."""

    def __init__(self, run, recorder):
        self.run = run
        self.recorder = recorder
        self.main_thread = threading.get_ident()
        self.updates = 0  # optimizer updates and gradients seen, eager or while tracing
        self.optimizer = None  # the first optimizer that was applied
        self.target = None  # last eager target of a GradientTape
        self.fits = 0  # calls of fit so far
        self.fit_model = None
        self.fitted_models: weakref.WeakSet = weakref.WeakSet()
        self.fit_key = None
        self.cuts_fit = False  # whether the fit that runs is stopped after its first steps
        self.step_begin = 0
        self.last_logs = {}
        self.iterators = []  # weak references to tf.data iterators, in the order of their creation
        self.epoch_lengths = []
        self.cached_batch = None  # of the ceiling run
        self.calls = {}  # training functions: key -> steps of each of the first calls
        self.in_call = None  # (key, start) while the outermost training function runs
        self.poller = None
        self.call_start = 0.0  # when the step of fit began that is running
        self.waits_for_logs = False  # whether Keras reads the results of every step

    def counts_here(self):
        """Whether an event is outermost: not inside fit or another step, and on the script's own thread."""
        return not self.recorder.depth and self.on_script_thread()

    def on_script_thread(self):
        """Whether this is the thread that runs the script, or the one in which a strategy runs the step of its first replica."""
        if threading.get_ident() == self.main_thread:
            return True
        thread = threading.current_thread()
        return type(thread).__name__ == "_MirroredReplicaThread" and getattr(thread, "replica_id", None) == 0


def install(run, recorder):
    """Wait for the frameworks to be imported, and patch them then."""
    state = State(run, recorder)
    recorder.number = functools.partial(_read, state)
    recorder.iterators_so_far = lambda: len(state.iterators)
    patches = {
        "keras": _patch_keras,
        "tf_keras": _patch_keras,
        "tensorflow": _patch_tensorflow,
        "torch": _patch_torch,
        "jax": _patch_jax,
    }
    sys.meta_path.insert(0, AfterImport({name: [_patcher(patch, state)] for name, patch in patches.items()}))
    recorder.at_end.append(functools.partial(diagnose.facts, state))
    clock.install(state)
    parts.install(state)
    diagnose.install(state)
    looks.install(state)
    parts.install_last(state)


def _patcher(patch, state):
    def patched(module):
        try:
            patch(module, state)
        except Exception as error:  # must not look like an error of the script
            place = traceback.extract_tb(error.__traceback__)[-1]
            state.recorder.fault(f"{patch.__name__}, line {place.lineno}: {type(error).__name__}: {error}")

    return patched


# Keras ------------------------------------------------------------------------------------------------------------


def _patch_keras(keras, state):
    legacy = not hasattr(keras, "ops")
    keras.utils.set_random_seed(state.run["seed"])
    _patch_fit(_definer(keras.Model, "fit"), state)
    _patch_evaluate(_definer(keras.Model, "evaluate"), state)
    _patch_train_on_batch(_definer(keras.Model, "train_on_batch"), state)
    for name in ("predict", "predict_on_batch"):
        _patch_predict(_definer(keras.Model, name), name, state)
    _patch_test_on_batch(_definer(keras.Model, "test_on_batch"), state)
    _patch_callback_list(keras.callbacks.CallbackList, state)
    redirect.patch_model(keras.Model, state)
    redirect.patch_loading(keras, state)
    for optimizer in _optimizer_classes(keras):
        for method in ("apply",) if not legacy else ("apply_gradients",):
            if method in optimizer.__dict__:
                _patch_apply(optimizer, method, state)
    if not legacy:
        _patch_stateless_apply(keras, state)
        backend = keras.backend.backend()
        state.recorder.facts["backend"] = backend
        state.waits_for_logs = backend == "tensorflow"
        if backend in ("jax", "torch"):
            if state.run["ceiling"]:
                _patch_epoch_iterator(backend, state)
            elif state.run["plan"]["parts"]:
                parts.patch_epoch_iterator(backend, state)
        elif state.run["plan"]["parts"]:
            clock.keep_first_batches(state)
    else:
        state.recorder.facts["backend"] = "tensorflow (tf-keras)"
    state.recorder.found_version("tf-keras" if legacy else "keras", keras.__version__)


def _definer(cls, method):
    """The class of the method resolution order of ``cls`` that defines ``method``."""
    return next(c for c in cls.__mro__ if method in c.__dict__)


def _optimizer_classes(keras):
    roots = {_definer(keras.optimizers.Optimizer, "apply_gradients")}
    legacy = getattr(keras.optimizers, "legacy", None)
    if legacy is not None and hasattr(legacy, "Optimizer") and hasattr(legacy.Optimizer, "apply_gradients"):
        roots.add(legacy.Optimizer)
    found = []
    while roots:
        cls = roots.pop()
        found.append(cls)
        roots.update(c for c in cls.__subclasses__() if c not in found)
    return found


def _patch_fit(owner, state):
    original = owner.fit
    signature = inspect.signature(original)
    recorder = state.recorder

    @functools.wraps(original)
    def fit(self, *args, **kwargs):
        if recorder.disabled or recorder.depth:
            return original(self, *args, **kwargs)
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError:
            return original(self, *args, **kwargs)  # raises what the script deserves
        place = _called_in_loop()
        in_loop = place is not None and not _trains_anew(self, state)
        if state.clock is not None and (in_loop or recorder.is_next()):
            state.clock.fit_called(bound.arguments, in_loop)
        state.fit_key = ("fit", place) if in_loop else ("fit", state.fits)
        wanted = not in_loop and recorder.is_next()
        if in_loop:
            recorder.note(
                "fit is called in a loop of the script: its calls are measured together, with what happens between them"
            )
        elif wanted and not clock.gives_its_data_once(bound.arguments.get("x")):
            bound.arguments["epochs"] = _ENDLESS
            recorder.note("fit was continued beyond its epochs where the measurement needed more steps")
            redirect.no_early_stop(bound.arguments.get("callbacks"), state)
        state.cuts_fit = recorder.is_on_the_way() or recorder.comes_before(state.fit_key)
        if state.cuts_fit:
            recorder.note("fit was stopped after its first steps: what comes after it was measured")
            bound.arguments["epochs"] = bound.arguments.get("initial_epoch", 0) + 1
        if bound.arguments.get("validation_data") is not None or bound.arguments.get("validation_split"):
            if not state.run["plan"]["validation"]:
                recorder.note("validation was skipped (callbacks were shown the training metrics as val_ metrics)")
            if wanted and hasattr(bound.arguments.get("validation_data"), "_inputs"):
                recorder.facts["validation_places"] = diagnose.lines_of(bound.arguments["validation_data"])
        redirect.callbacks(bound.arguments.get("callbacks"), state)
        # Between the calls of a loop lies set-up that is paid at every call; before the first call it is start-up.
        state.between_fits = in_loop and state.fits > 0
        state.fits += 1
        if in_loop or wanted:
            recorder.facts["feeder"] = clock.feeder(bound.arguments.get("x"))
            state.peeked = None
        state.fit_model = self
        start = time.perf_counter()
        with recorder.inside:
            result = original(*bound.args, **bound.kwargs)
        if in_loop:
            state.parts.add("fit", time.perf_counter() - start)
        if wanted and state.fit_key in recorder.series:
            # The rest of the script is none of our business.
            recorder.finish(reason="trained", detail="fit ended by itself")
        return result

    owner.fit = fit


def _trains_anew(model, state):
    """Whether a call of ``fit`` in a loop is a training of its own, where the plan counts to a later one: of another model."""
    is_new = model not in state.fitted_models
    state.fitted_models.add(model)
    return is_new and state.run["plan"]["training"] > 0 and state.run["plan"]["kind"] is None


def _called_in_loop():
    """The place (path, line) on the stack that stands in a ``for`` or ``while`` of the script; None without one."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        if is_user_frame(frame) and _line_in_loop(frame.f_code.co_filename, frame.f_lineno):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


@functools.cache
def _loops(path):
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return (), ()
    loops = [(n.body[0].lineno, n.body[-1].end_lineno) for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))]
    functions = [
        (n.lineno, n.end_lineno)
        for n in ast.walk(tree)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    ]
    return tuple(loops), tuple(functions)


def _line_in_loop(path, line):
    loops, functions = _loops(path)
    inside = [f for f in functions if f[0] <= line <= f[1]]
    start = max((f[0] for f in inside), default=0)
    return any(begin <= line <= end and begin > start for begin, end in loops)


def _patch_evaluate(owner, state):
    original = owner.evaluate

    @functools.wraps(original)
    def evaluate(self, *args, **kwargs):
        skips = state.recorder.depth and not state.recorder.disabled and not state.run["plan"]["validation"]
        if kwargs.get("_use_cached_eval_dataset") and skips:
            if state.validation is not None:
                state.validation.called(self, functools.partial(original, self, *args, **kwargs), kwargs)
            return {name: _number(value) for name, value in state.last_logs.items()}
        with state.recorder.inside:
            return original(self, *args, **kwargs)

    owner.evaluate = evaluate


def _patch_test_on_batch(owner, state):
    original = owner.test_on_batch

    @functools.wraps(original)
    def test_on_batch(self, *args, **kwargs):
        with state.recorder.inside:
            return original(self, *args, **kwargs)

    owner.test_on_batch = test_on_batch


def _patch_predict(owner, name, state):
    original = getattr(owner, name)
    recorder = state.recorder

    @functools.wraps(original)
    def predict(self, *args, **kwargs):
        start = time.perf_counter()
        with recorder.inside:
            result = original(self, *args, **kwargs)
        if state.counts_here():
            state.parts.predicted(user_place(), time.perf_counter() - start)
            # The same for predict and predict_on_batch, which a fix writes in its place.
            key = (PREDICTION, user_place())
            loss = _scalar(result) if recorder.wants_loss(key) else None
            recorder.tick(key, PREDICTION, self.name, value=result, loss=loss, epoch=False)
        return result

    setattr(owner, name, predict)


def _patch_train_on_batch(owner, state):
    original = owner.train_on_batch
    recorder = state.recorder

    @functools.wraps(original)
    def train_on_batch(self, *args, **kwargs):
        if recorder.depth:
            return original(self, *args, **kwargs)
        start = time.perf_counter()
        with recorder.inside:
            result = original(self, *args, **kwargs)
        state.parts.called(time.perf_counter() - start)
        key = ("train_on_batch", id(self))
        loss = _first_scalar(result) if recorder.wants_loss(key) else None
        state.fit_model = state.fit_model or self
        recorder.tick(key, "train_on_batch loop", self.name, value=result, loss=loss)
        return result

    owner.train_on_batch = train_on_batch


def _patch_callback_list(cls, state):
    state.epoch_fresh = True
    state.epoch_steps = 0
    state.between_fits = False
    _patch_planned_steps(cls, state)
    _patch_batch_callbacks(cls, state)
    _patch_epoch_callbacks(cls, state)


def _patch_planned_steps(cls, state):
    original = cls.__init__

    @functools.wraps(original)
    def init(self, *args, **params):
        original(self, *args, **params)
        if state.clock is not None and state.recorder.depth:
            state.clock.planned(params)

    cls.__init__ = init


def _patch_batch_callbacks(cls, state):
    recorder = state.recorder
    batch_begin, batch_end = cls.on_train_batch_begin, cls.on_train_batch_end
    test_batch_end = cls.on_test_batch_end
    measured = state.run["plan"]["parts"]

    def on_train_batch_begin(self, batch, logs=None):
        state.step_begin = batch
        state.parts.begins_epoch = state.epoch_fresh and not state.between_fits
        start = time.perf_counter()
        batch_begin(self, batch, logs)
        state.call_start = time.perf_counter()
        state.parts.add("callbacks", state.call_start - start)

    def on_train_batch_end(self, batch, logs=None):
        if measured and recorder.depth and not recorder.disabled:
            if state.waits_for_logs:
                # Keras reads them next, which is no work of a callback.
                parts.wait_for(logs)
            elif state.parts.waits:
                recorder.sync(logs)
            called = time.perf_counter()
            state.parts.called(called - state.call_start)
            batch_end(self, batch, logs)
            state.parts.add("callbacks", time.perf_counter() - called)
        else:
            batch_end(self, batch, logs)
        if recorder.depth:
            _note_fitted_batch(state, batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        test_batch_end(self, batch, logs)
        if state.validation is not None:
            # The property "model" of Keras 3 moves the variables of a model on JAX.
            state.validation.batch_ended(getattr(self, "_model", None) or self.model, logs)

    cls.on_train_batch_begin = on_train_batch_begin
    cls.on_train_batch_end = on_train_batch_end
    cls.on_test_batch_end = on_test_batch_end


def _note_fitted_batch(state, batch, logs):
    recorder = state.recorder
    state.last_logs = logs or {}
    key = state.fit_key
    loss = None
    if recorder.wants_loss(key):
        loss = _scalar(logs["loss"]) if isinstance(logs, dict) and "loss" in logs else None
    starts_epoch = state.epoch_fresh and not state.between_fits
    state.epoch_fresh = False
    steps = max(1, batch - state.step_begin + 1)
    state.epoch_steps += steps
    if state.clock is not None:
        state.clock.step_ended()
    recorder.tick(key, "fit", type(state.fit_model).__name__, steps, value=logs, loss=loss, epoch=starts_epoch)
    state.between_fits = False
    if state.cuts_fit:
        state.fit_model.stop_training = True


def _patch_epoch_callbacks(cls, state):
    recorder = state.recorder
    epoch_begin, epoch_end = cls.on_epoch_begin, cls.on_epoch_end

    def on_epoch_begin(self, epoch, logs=None):
        state.epoch_fresh = True
        state.epoch_steps = 0
        start = time.perf_counter()
        epoch_begin(self, epoch, logs)
        if recorder.depth:
            state.parts.epoch_called_back(time.perf_counter() - start, ends=False)

    def on_epoch_end(self, epoch, logs=None):
        if recorder.depth and not recorder.disabled:
            if not state.epoch_steps:
                # The data is exhausted: the epochs that we added would spin without a step.
                recorder.finish(reason="exhausted", detail="the training data ended and does not start again")
            if state.run["plan"]["diagnose"] and state.iterators:
                with contextlib.suppress(Exception):  # no model of it: told when asked at the end
                    diagnose.note_pass(state)
            if len(state.epoch_lengths) < 100 and not state.cuts_fit:
                state.epoch_lengths.append(state.epoch_steps)
        start = time.perf_counter()
        epoch_end(self, epoch, logs)
        if recorder.depth:
            state.parts.epoch_called_back(time.perf_counter() - start, ends=True)

    cls.on_epoch_begin = on_epoch_begin
    cls.on_epoch_end = on_epoch_end


def _patch_apply(owner, method, state):
    original = owner.__dict__[method]
    recorder = state.recorder

    @functools.wraps(original)
    def apply(self, *args, **kwargs):
        if not state.on_script_thread():
            return original(self, *args, **kwargs)
        state.updates += 1
        if state.optimizer is None:
            state.optimizer = self
        if _in_graph_loop():
            _watch_graph_loop(state)
        if recorder.depth:
            return original(self, *args, **kwargs)
        with recorder.inside:
            result = original(self, *args, **kwargs)
        if _executes_eagerly():
            key = ("optimizer", id(self))
            # The loss of one replica is not that of the step.
            whole = threading.get_ident() == state.main_thread
            loss = _scalar(state.target) if whole and recorder.wants_loss(key) else None
            recorder.tick(key, "optimizer loop", type(self).__name__, value=state.target, loss=loss)
        return result

    setattr(owner, method, apply)


def _patch_stateless_apply(keras, state):
    owner = _definer(keras.optimizers.Optimizer, "stateless_apply")
    original = owner.stateless_apply

    @functools.wraps(original)
    def stateless_apply(self, *args, **kwargs):
        state.updates += 1
        return original(self, *args, **kwargs)

    owner.stateless_apply = stateless_apply


def _patch_epoch_iterator(backend, state):
    """Feed fit the same batch again and again (JAX, PyTorch)."""
    trainer = sys.modules[f"keras.src.backend.{backend}.trainer"]
    owner = trainer.JAXEpochIterator if backend == "jax" else trainer.TorchEpochIterator
    original = owner._get_iterator

    class Repeating:
        def __iter__(self):
            return self

        def __next__(self):
            return state.cached_batch

    def get_iterator(self):
        if state.cached_batch is None:
            state.cached_batch = next(iter(original(self)))
            state.recorder.facts["one_cached_batch"] = True
        return Repeating()

    owner._get_iterator = get_iterator


# TensorFlow -------------------------------------------------------------------------------------------------------


def _patch_tensorflow(tf, state):
    from tensorflow.python.data.ops import iterator_ops
    from tensorflow.python.eager import backprop
    from tensorflow.python.eager.polymorphic_function import polymorphic_function

    tf.random.set_seed(state.run["seed"])
    state.recorder.found_version("tensorflow", tf.__version__)
    _patch_function(polymorphic_function.Function, state)
    _patch_tape(backprop.GradientTape, state)
    _patch_iterator(iterator_ops.OwnedIterator, state)
    redirect.patch_tensorflow(tf, state)
    if state.run["ceiling"] and state.run["ceiling"]["loops"]:
        _patch_dataset_loops(state)
    if state.run["plan"]["diagnose"]:
        diagnose.patch_tensorflow(tf, state)
    if state.run["plan"]["parts"]:
        parts.patch_tensorflow(tf, state)
        clock.patch_tensorflow(tf, state)
    sync = getattr(tf.test.experimental, "sync_devices", None)

    def wait(value):
        if sync is not None and state.uses_gpu():
            sync()

    state.uses_gpu = functools.lru_cache(maxsize=None)(lambda: bool(tf.config.list_physical_devices("GPU")))
    previous = state.recorder.sync
    state.recorder.sync = lambda value: (previous(value), wait(value))


def _executes_eagerly():
    context = sys.modules.get("tensorflow.python.eager.context")
    if context is not None and not context.executing_eagerly():
        return False
    keras = sys.modules.get("keras")
    if keras is not None and hasattr(keras, "src") and hasattr(keras, "ops") and keras.backend.backend() == "jax":
        return _jax_is_idle()
    return True


def _jax_is_idle():
    """Whether JAX traces nothing, as far as its version tells."""
    import jax

    # Public until JAX 0.8.
    for module in (sys.modules.get("jax._src.core"), jax.core):
        clean = getattr(module, "trace_state_clean", None)
        if clean is not None:
            return clean()
    return True


def _in_graph_loop():
    """Whether code is being traced into the body of a loop inside a tf.function."""
    ops = sys.modules.get("tensorflow.python.framework.ops")
    if ops is None or _executes_eagerly():
        return False
    graph = ops.get_default_graph()
    while graph is not None:
        if (
            "while" in getattr(graph, "name", "")
            or "scan" in getattr(graph, "name", "")
            or "reduce" in getattr(graph, "name", "")
        ):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False


def _patch_function(cls, state):
    original = cls.__call__
    recorder = state.recorder

    def call(self, *args, **kwds):
        if recorder.depth or not state.on_script_thread() or recorder.disabled:
            return original(self, *args, **kwds)
        key = _function_key(self)
        steps_before = _iterations(state) if key in state.calls and len(state.calls[key]) < 3 else None
        before = state.updates
        state.in_call = (key, time.perf_counter())
        try:
            with recorder.inside:
                result = original(self, *args, **kwds)
        finally:
            seconds = time.perf_counter() - state.in_call[1]
            state.in_call = None
        if key not in state.calls:
            if state.updates == before:
                return result
            state.calls[key] = []  # it computed gradients: a training step
        if state.poller is not None and state.poller.took_over:
            return result
        state.parts.called(seconds)
        state.last_call = self, (args, kwds)
        series_key = ("function", key)
        known = state.calls[key]
        if len(known) < 3:
            # Several updates in one call: a loop inside the function, or several optimizer steps per batch.
            after = _iterations(state)
            known.append(max(1, after - (steps_before or 0)) if after is not None and steps_before is not None else 1)
        loss = _first_scalar(result) if recorder.wants_loss(series_key) else None
        recorder.tick(series_key, "function loop", getattr(self, "__name__", ""), known[-1], value=result, loss=loss)
        return result

    cls.__call__ = call


def _function_key(function):
    """The same for every tf.function made of the same code, as in a loop that makes a new one every time."""
    try:
        return function._kerascheck_key
    except AttributeError:
        python = inspect.unwrap(getattr(function, "_python_function", function), stop=lambda f: hasattr(f, "__code__"))
        python = getattr(python, "func", python)
        key = getattr(getattr(python, "__func__", python), "__code__", None) or id(function)
        function._kerascheck_key = key
        return key


def _iterations(state):
    """Updates that the first optimizer has made, or None."""
    try:
        return int(state.optimizer.iterations.numpy())
    except Exception:  # no optimizer, not built yet, or a symbolic value
        return None


def _watch_graph_loop(state):
    if state.poller is None:
        state.poller = GraphLoopPoller(state)
        state.poller.start()


class GraphLoopPoller(threading.Thread):
    """Counts the steps of a loop inside a tf.function, where Python sees no step, by reading ``optimizer.iterations``."""

    def __init__(self, state):
        super().__init__(daemon=True, name="kerascheck-poller")
        self._state = state
        self.took_over = False

    def run(self):
        """Poll until the process ends; ticks only once a single call has made several updates over half a second."""
        state, recorder = self._state, self._state.recorder
        counted, call = None, None
        while not recorder.disabled:
            time.sleep(_POLL_SECONDS)
            now_in = state.in_call
            if now_in is None:
                continue
            steps = _iterations(state)
            if steps is None:
                continue
            if call != now_in:
                call, counted, first = now_in, steps, True
                continue
            if time.perf_counter() - now_in[1] < 0.5 or steps <= counted:
                continue
            self.took_over = True
            recorder.tick(("graph loop",), "graph loop", "", steps - counted, epoch=first)
            counted, first = _iterations(state), False


def _patch_tape(cls, state):
    original = cls.gradient
    recorder = state.recorder

    @functools.wraps(original)
    def gradient(self, target, *args, **kwargs):
        state.updates += 1
        if state.counts_here() and recorder.wants_loss(("optimizer", id(state.optimizer))):
            state.target = target
        result = original(self, target, *args, **kwargs)
        if state.counts_here() and _executes_eagerly():
            recorder.tick(("gradient",), "gradient loop", "", value=target)
        return result

    cls.gradient = gradient


def _one_cached_batch(dataset, state):
    state.recorder.facts["one_cached_batch"] = True
    return dataset.take(1).cache().repeat()


def _patch_dataset_loops(state):
    """Feed loops over datasets inside of a tf.function one cached batch."""
    from tensorflow.python.autograph.operators import control_flow

    functions = control_flow.for_loop_registry._registry
    for kind, function in list(functions.items()):
        if function.__module__.endswith("dataset_autograph"):
            functions[kind] = lambda dataset, *args, _function=function: _function(
                _one_cached_batch(dataset, state), *args
            )


def _patch_iterator(cls, state):
    recorder = state.recorder
    original_init, original_next = cls.__init__, cls.__next__

    @functools.wraps(original_init)
    def init(self, dataset=None, *args, **kwargs):
        outermost = dataset is not None and threading.get_ident() == state.main_thread
        if outermost:
            ceiling = state.run["ceiling"]
            if ceiling and ceiling["iterator"] is not None and len(state.iterators) >= ceiling["iterator"]:
                dataset = _one_cached_batch(dataset, state)
            state.iterators.append(weakref.ref(self))
            if not recorder.depth:
                recorder.epoch_began = True
        self._kerascheck_elements = 0
        self._kerascheck_start = recorder.so_far()
        original_init(self, dataset, *args, **kwargs)

    def next_element(self):
        if state.counts_here():
            # A step of a bare loop ends where the next element is asked for.
            if self._kerascheck_elements:
                recorder.tick(("dataset",), "dataset loop", "")
            state.parts.begins_epoch = not self._kerascheck_elements
            self._kerascheck_elements += 1
            if state.replaying:
                return state.last_element
            try:
                return _counted(original_next, self, state)
            except StopIteration:
                if state.run["plan"]["diagnose"]:
                    with contextlib.suppress(Exception):
                        diagnose.note_pass(state)
                if not recorder.pass_ended(self._kerascheck_start):
                    raise
                self._kerascheck_start = recorder.so_far()
                original_init(self, self._dataset)
        return original_next(self)

    cls.__init__ = init
    cls.__next__ = next_element


def _counted(original_next, iterator, state):
    start = time.perf_counter()
    element = original_next(iterator)
    if state.parts.running:
        state.parts.add("next", time.perf_counter() - start)
        # What does not feed the training, such as a validation, must not be fed to it.
        fed = state.recorder.leader()
        if fed is not None and diagnose.training_iterator(state) is iterator:
            parts.fed(state, element)
    return element


# PyTorch and JAX --------------------------------------------------------------------------------------------------


def _patch_torch(torch, state):
    recorder = state.recorder
    recorder.found_version("torch", torch.__version__)
    backward = torch.Tensor.backward

    @functools.wraps(backward)
    def watched_backward(self, *args, **kwargs):
        if state.counts_here():
            state.target = self
        return backward(self, *args, **kwargs)

    torch.Tensor.backward = watched_backward

    def stepped(optimizer, args, kwargs):
        if state.counts_here():
            key = ("optimizer", id(optimizer))
            loss = _scalar(state.target) if recorder.wants_loss(key) else None
            if state.run["plan"]["parts"]:
                parts.torch_stepped(key, state)
            recorder.tick(key, "optimizer loop", type(optimizer).__name__, loss=loss, framework="torch")

    from torch.optim.optimizer import register_optimizer_step_post_hook

    register_optimizer_step_post_hook(stepped)
    if state.run["plan"]["parts"]:
        parts.patch_torch(torch, state)
    if torch.cuda.is_available():
        previous = recorder.sync
        recorder.sync = lambda value: (previous(value), torch.cuda.synchronize())


def _patch_jax(jax, state):
    recorder = state.recorder
    recorder.found_version("jax", jax.__version__)
    if state.run["plan"]["parts"]:
        clock.patch_jax(jax, state)
    previous = recorder.sync
    recorder.sync = lambda value: (previous(value), jax.block_until_ready(_arrays(jax, value)))
    jit = jax.jit

    class Jitted:
        """A jitted function that tells when it was a training step."""

        def __init__(self, compiled, key):
            self._compiled = compiled
            self._key = key
            functools.update_wrapper(self, compiled)

        def call(self, *args, **kwargs):
            if not state.counts_here() or recorder.disabled:
                return self._compiled(*args, **kwargs)
            before, start = state.updates, time.perf_counter()
            with recorder.inside:
                result = self._compiled(*args, **kwargs)
            if state.parts.waits:
                recorder.sync(result)
            state.parts.called(time.perf_counter() - start)
            if self._key not in state.calls and state.updates == before:
                return result
            state.calls.setdefault(self._key, [])
            key = ("function", self._key)
            loss = _first_scalar(result) if recorder.wants_loss(key) else None
            recorder.tick(key, "function loop", getattr(self, "__name__", ""), value=result, loss=loss, framework="jax")
            return result

        __call__ = call  # under a name that the profiler knows

        def __get__(self, instance, owner=None):
            return self if instance is None else functools.partial(self, instance)

        def __getattr__(self, name):
            return getattr(self._compiled, name)

    @functools.wraps(jit)
    def wrapped_jit(*args, **kwargs):
        if not args:
            return lambda function: wrapped_jit(function, **kwargs)
        key = getattr(inspect.unwrap(args[0]), "__code__", None) or id(args[0])
        return Jitted(jit(*args, **kwargs), key)

    jax.jit = wrapped_jit
    for name in ("grad", "value_and_grad"):
        _patch_gradient(jax, name, state)


def _patch_gradient(jax, name, state):
    """A jitted function in which a gradient is traced is a training step; a gradient outside of one is a step that runs eagerly."""
    original = getattr(jax, name)
    recorder = state.recorder

    @functools.wraps(original)
    def gradient_of(*args, **kwargs):
        made = original(*args, **kwargs)

        @functools.wraps(made)
        def gradient(*args, **kwargs):
            state.updates += 1
            if not state.counts_here() or not _jax_is_idle():
                return made(*args, **kwargs)
            with recorder.inside:
                result = made(*args, **kwargs)
            recorder.tick(("gradient",), "gradient loop", "", value=result, framework="jax")
            return result

        return gradient

    setattr(jax, name, gradient_of)


def _arrays(jax, value):
    return [leaf for leaf in jax.tree_util.tree_leaves(value) if isinstance(leaf, jax.Array)]


# Numbers ----------------------------------------------------------------------------------------------------------


def _number(value):
    """``value`` as a float if it is a scalar of any framework, else None. Waits for the device."""
    try:
        return float(_scalar(value))
    except Exception:  # symbolic, ragged, text: no loss to compare
        return None


def _read(state, value):
    """As :func:`_number`, without counting as a read of the script."""
    before = getattr(state, "host_reads", 0)
    number = _number(value)
    state.host_reads = before
    return number


def _scalar(value):
    """The scalar that ``value`` is, or the mean of its elements, which the device may still be computing; None if there is none."""
    if isinstance(value, (list, tuple)):
        return _scalar(value[0]) if value else None
    try:
        if getattr(value, "shape", ()) not in ((), (1,)) and len(value.shape):
            value = value.mean() if hasattr(value, "mean") else sys.modules["tensorflow"].reduce_mean(value)
        return value.detach() if hasattr(value, "detach") else value
    except Exception:  # symbolic, ragged, text
        return None


def _first_scalar(result):
    """The first scalar among the outputs of a step, usually the loss, not read yet; None if there is none."""
    if isinstance(result, dict):
        result = [result["loss"], *result.values()] if "loss" in result else list(result.values())
    if isinstance(result, (list, tuple)):
        return next((found for found in map(_first_scalar, result) if found is not None), None)
    if isinstance(result, bool) or not (isinstance(result, (int, float)) or hasattr(result, "dtype")):
        return None
    shape = getattr(result, "shape", ())
    try:
        if len(shape) and tuple(shape) != (1,):
            return None
    except Exception:  # unknown rank
        return None
    return _scalar(result)
