"""State shared by the probes of one process."""

import threading
import weakref

from .patches import Notes, Patches


class State:
    """State shared by the probes and diagnostics of one process."""

    def __init__(self, run, recorder, patches=None):
        self.run = run
        self.recorder = recorder
        self.is_passive = run["plan"]["passive"]  # whether to change nothing, and to leave no traces
        self.patches = patches or Patches()
        self.main_thread = threading.get_ident()
        self.updates = 0  # optimizer updates and gradients seen, eager or while tracing
        self.optimizer = None  # the first optimizer that was applied
        self.target = None  # last eager target of a GradientTape
        self.fits = 0  # number of fit calls so far
        self.fit_model = None
        self.fitted_models: weakref.WeakSet = weakref.WeakSet()
        self.fit_key = None
        self.cuts_fit = False  # whether the current fit is stopped after its first steps
        self.step_begin = 0
        self.last_logs = {}
        self.iterators = []  # weak references to tf.data iterators, in order of creation
        self.epoch_lengths = []
        self.cached_batch = None  # batch of the ceiling run
        self.jax_steps = {}  # steps of hand-written loops on JAX that a diagnostic repeats, see jax_steps.py
        self.keeps_jax_steps = not self.is_passive and (run["plan"]["batch_sizes"] or run["plan"]["parts"])
        self.jax_values = None  # variables of the model on JAX after the newest step of a diagnostic
        self.owners = []  # layers and other owners of operations, see layer_scopes.py
        self.compiled_at = None  # line of the script that compiled the newest model
        self.calls = {}  # training functions: key -> steps of each of the first calls
        self.in_call = None  # (key, start) while the outermost training function runs
        self.poller = None
        self.call_start = 0.0  # start of the current step of fit
        self.waits_for_logs = False  # whether Keras reads the results of every step
        self.function_keys = Notes()  # keys of tf.functions, see probes/tensorflow.py
        self.function_looks = Notes()  # tf.functions whose earlier traces were examined
        self.iterator_elements = Notes()  # number of elements that each tf.data iterator has given
        self.iterator_starts = Notes()  # the training and its steps at the start of each pass
        self.dataset_places = Notes()  # (path, line) of the script that creates a dataset
        self.wrappers: weakref.WeakSet = weakref.WeakSet()  # wrappers that the script holds; passive mode only
        self.unknown_functions = []  # names of jitted functions that could not be examined

    def release(self):
        """Drop the objects of the script."""
        self.optimizer = self.target = self.fit_model = self.last_element = self.last_call = None
        self.newest_batch = self.feeding = self.strategy = self.global_dataset = self.final_dataset = None

    def counts_here(self):
        """Whether an event is outermost: not inside fit or another step, and on the script's thread."""
        return not self.recorder.depth and self.on_script_thread()

    def on_script_thread(self):
        """Whether this thread runs the script, or the first replica of a distribution strategy."""
        if threading.get_ident() == self.main_thread:
            return True
        thread = threading.current_thread()
        return type(thread).__name__ == "_MirroredReplicaThread" and getattr(thread, "replica_id", None) == 0
