from kerascheck.api import Applies, Rule, Severity, fixes, names, program


class RemovedApi(Rule):
    """A name that TensorFlow or Keras dropped, or that has had a plainer one for years.

    ## What it does

    Reports every use of the following, or the `from ... import` of what is gone:

    - names that are gone: `tf.Session`, `tf.ConfigProto`, `tf.GPUOptions`, `tf.contrib`, `set_session` and `get_session` of
      `keras.backend`, `keras.mixed_precision.experimental`, `keras.layers.experimental.preprocessing`, `CuDNNLSTM`, `CuDNNGRU`,
      `multi_gpu_model`, `make_one_shot_iterator` of a dataset and `experimental_run_v2` of a strategy
    - with `--pedantic`, old names that still work: `tf.data.experimental.AUTOTUNE`, `tf.config.experimental.list_physical_devices` and
      its like, `tf.config.experimental_run_functions_eagerly`, and `map_and_batch`, `parallel_interleave`, `shuffle_and_repeat`
      and `unbatch` of `tf.data.experimental`; `tf.compat.v1.ConfigProto` for `allow_growth`, where no graph is built

    ## Why it costs

    A name that is gone raises AttributeError or ImportError, often not before the line is reached. A name that still works costs nothing
    today: replacing it is for the next release, and it is reported with `--pedantic` only.

    A name that is gone is an error where the settings or requirements allow no version that has it. Where they allow an older version, or
    name none, it is an info that says which version was assumed: whoever runs old code with the version that it was written for has no
    fault to repair.

    ## What the runtime does by itself

    TensorFlow 2.21 with Keras 3.15 has none of the first list and all of the second (each was tried). The old names of constants
    and devices stand for the very objects of the new ones. `tf.compat.v1` keeps `Session`, `ConfigProto`
    and `GPUOptions`. In which release each name of the first list went was not tried: for targets below TensorFlow 2.16, and
    for Keras 2, nothing is said of them; `mixed_precision.experimental` is an old name from TensorFlow 2.4 on. The new names of the second list are all there from TensorFlow 2.4 on.

    ## When it stays silent

    - The rest of `tf.compat.v1`.
    - What an import binds that is reported itself.
    - Code below a test of the version, of `executing_eagerly` or `hasattr`, or in a `try` with a handler for the failure.
    - Older targets, as written in the requirements or the settings, and files that use `tf.app`, `tf.flags`, `tf.gfile`, `tf.layers`, `tf.logging`,
      `tf.python_io`, `tf.RunMetadata`, `tf.get_default_graph` or the like without asking for the version: they are for TensorFlow 1.
    - A name that something else in the file binds too, and names of other libraries.

    ## Use instead

    The message has the new name. Where `set_session` only let the memory grow, `tf.config.experimental.set_memory_growth` does.

    ## Fix safety

    Safe where the old and the new name stand for one object (compared on TensorFlow 2.21): each use is renamed by itself.

    Unsafe where a module of the program replaces an attribute by name, for the old and the new name may then differ: by
    `mock.patch`, `monkeypatch`, `setattr`, an assignment, a deletion, `importlib.reload` or `sys.modules`. Unsafe, too,
    for `tf.config.experimental_run_functions_eagerly`, which does the same, but warns.

    There is no fix where the file imports the old name by itself, and none for the others, because more than a name changes.

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
    )

    def check(self, module):
        for old in program.old_names(module):
            yield self._report(old)
        for place in program.session_configs(module):
            yield self.finding(
                place,
                "A session's ConfigProto is the old way to let the GPU memory grow; call tf.config.experimental.set_memory_growth for each GPU.",
                because="It works as long as a session is made of it before anything else touches the GPU.",
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
                f"{_short(old.name)} is an old name; write {new or 'what it stands for with the methods of the dataset'}.",
                because="It still works; TensorFlow keeps it for old code only.",
                pedantic=True,
                fix=fixes.rename(old.place, old.name, old.successor) if new and not old.is_imported else None,
            )
        assumed = old.place.module.target.assumed
        return self.finding(
            old.place,
            f"{_short(old.name)} is gone; {f'use {new}' if new else 'nothing of its form stands in its place'}.",
            because="Using or importing it raises.",
            doubt=f"No exact version is required here; {assumed} is assumed." if assumed else None,
        )


def _short(name):
    return name.replace(names.namespaces.TENSORFLOW, "tf.", 1)
