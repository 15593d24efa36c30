from kerascheck.api import Applies, Rule, Severity, fixes, names, program


class RemovedApi(Rule):
    """The code uses a name that TensorFlow or Keras has removed or replaced.

    ## What it does

    Reports every use of these names, and each `from ... import` of a removed name:

    - removed names: `tf.Session`, `tf.ConfigProto`, `tf.GPUOptions`, `tf.contrib`, `set_session` and `get_session` of
      `keras.backend`, `keras.backend.tensorflow_backend`, `keras.mixed_precision.experimental`,
      `keras.layers.experimental.preprocessing`, `keras.wrappers.scikit_learn`, `CuDNNLSTM`, `CuDNNGRU`,
      `multi_gpu_model`, `make_one_shot_iterator` of a dataset and `experimental_run_v2` of a strategy;
    - with `--pedantic`, old names that still work: `tf.data.experimental.AUTOTUNE`,
      `tf.config.experimental.list_physical_devices` and similar names, `tf.config.experimental_run_functions_eagerly`,
      and `map_and_batch`, `parallel_interleave`, `shuffle_and_repeat` and `unbatch` of `tf.data.experimental`;
    - with `--pedantic`, `tf.compat.v1.ConfigProto` for `allow_growth` in code that builds no graph.

    ## Why it costs

    A removed name raises AttributeError or ImportError, often only when the program reaches the line. A name that
    still works costs nothing today. A replacement only prepares for a later release, so the rule reports such names
    with `--pedantic` only.

    A removed name is an error if the settings or requirements allow no version that has it. If they allow an older
    version, or specify none, the finding is an info with the assumed version. Old code that runs with its original
    version has no fault.

    ## What the runtime does by itself

    TensorFlow 2.21 with Keras 3.15 has none of the removed names and all of the old ones (we tested each). The old
    names of constants and devices refer to the same objects as the new ones. `tf.compat.v1` keeps `Session`,
    `ConfigProto` and `GPUOptions`. We have not tested in which release each removed name disappeared. For targets below
    TensorFlow 2.16, and for Keras 2, the rule does not report them, with two exceptions: according to the wheels of
    Keras, `mixed_precision.experimental` ended with 2.8, and `wrappers.scikit_learn` with 2.12.
    `mixed_precision.experimental` is an old name from TensorFlow 2.4 on. All replacements of the old names exist from
    TensorFlow 2.4 on.

    ## When it stays silent

    - The rest of `tf.compat.v1`.
    - A name bound by an import that is itself reported.
    - Code under a check of the version, `executing_eagerly` or `hasattr`, or in a `try` with a handler for the
      failure.
    - Older targets, according to the requirements or the settings.
    - Files for TensorFlow 1, which use `tf.app`, `tf.flags`, `tf.gfile`, `tf.layers`, `tf.logging`, `tf.python_io`,
      `tf.RunMetadata`, `tf.get_default_graph` or similar names without a version check.
    - A name that other code in the file also binds, and names of other libraries.

    ## Use instead

    The message shows the new name. If `set_session` only enables memory growth, use
    `tf.config.experimental.set_memory_growth`.

    ## Fix safety

    Safe if the old and the new name refer to the same object (compared on TensorFlow 2.21). The fix renames each use
    separately.

    Unsafe if a module of the program replaces an attribute by name, because the old and the new name may then differ.
    Examples are `mock.patch`, `monkeypatch`, `setattr`, an assignment, a deletion, `importlib.reload` and
    `sys.modules`. Also unsafe for `tf.config.experimental_run_functions_eagerly`, which does the same, but warns.

    There is no fix if the file imports the old name directly. The other names have no fix either, because more than
    the name changes.

    ## References

    - TensorFlow guide: "Migrate to TensorFlow 2"
    - TensorFlow source: `tensorflow/python/framework/config.py` (`deprecated_endpoints`)
    """

    code = "KC311"
    name = "removed-api"
    summary = "TensorFlow or Keras name is removed or outdated"
    severity = Severity.ERROR
    applies = Applies(graph_code=False)
    speed = False
    proves = ("same-object",)
    triggers = (
        "experimental",
        "contrib",
        "Session",
        "ConfigProto",
        "GPUOptions",
        "multi_gpu_model",
        "CuDNNLSTM",
        "CuDNNGRU",
        "set_session",
        "get_session",
        "make_one_shot_iterator",
        "experimental_run_v2",
        "scikit_learn",
    )

    def check(self, module):
        for old in program.old_names(module):
            yield self._report(old)
        for place in program.session_configs(module):
            yield self.finding(
                place,
                "A session's ConfigProto is the old way to let the GPU memory grow; call tf.config.experimental.set_memory_growth for each GPU.",
                because="It works only if a session is created from it before anything else uses the GPU.",
                pedantic=True,
            )

    def _report(self, old):
        new = _short(old.successor) if old.successor else None
        if old.fate is program.Fate.GOING:
            return self.finding(
                old.place,
                f"{_short(old.name)} is an old name; use {new}.",
                because="It works in the version that is required here; in later ones importing it raises.",
                pedantic=True,
            )
        if old.fate is program.Fate.KEPT:
            return self.finding(
                old.place,
                f"{_short(old.name)} is an old name; {f'write {new}' if new else 'use the methods of the dataset instead'}.",
                because="It still works; TensorFlow keeps it for old code only.",
                pedantic=True,
                fix=fixes.rename(old.place, old.name, old.successor) if new and not old.is_imported else None,
            )
        assumed = old.place.module.target.assumed
        return self.finding(
            old.place,
            f"{_short(old.name)} is gone; {f'use {new}' if new else 'rewrite this code, since no other name replaces it'}.",
            because="Using or importing it raises.",
            doubt=f"No exact version is required here; {assumed} is assumed." if assumed else None,
        )


def _short(name):
    return name.replace(names.namespaces.TENSORFLOW, "tf.", 1)
