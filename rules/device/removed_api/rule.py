import libcst as cst

from kerascheck.api import Applies, Place, Rule, Severity, conditions, fixes, names, written

_LAST = frozenset(
    name.rpartition(".")[2]
    for name in (*names.runtime.REMOVED, *names.runtime.REMOVED_NAMESPACES, *names.runtime.DEPRECATED)
)
_SESSION_CONFIG = names.callables.COMPAT_V1_CONFIG_PROTO
_METHODS = (names.namespaces.OF_DATA_DATASET, names.namespaces.OF_DISTRIBUTE_STRATEGY)


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

    Safe where an old name that still works means the same object, or does the same, under the new one: each use is renamed by itself.
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
        uses, gone, told, namespaces = {}, set(), set(), set()
        for alias, bound, name in written.imports_as_written(module.tree):
            namespace = next(
                (outer for outer in names.runtime.REMOVED_NAMESPACES if f"{name}.".startswith(outer + ".")), name
            )
            old = (
                namespace in names.runtime.OLD_NAMESPACES
                and module.runtime.tensorflow >= names.runtime.OLD_NAMESPACES[namespace]
            )
            if (
                (name in names.runtime.REMOVED or namespace in names.runtime.REMOVED_NAMESPACES)
                and (old or module.runtime.lacks(namespace))
                and not conditions.stands_for_versions(module.tree, alias)
            ):
                gone.add(bound)
                statement = module.tree.statement_range(alias)
                if (statement, namespace) in told:
                    continue
                told.add((statement, namespace))
                yield self._report(
                    name if name in names.runtime.REMOVED and module.runtime.lacks(name) else namespace,
                    Place(module, alias),
                    fixable=False,
                )
        for node, name in written.names_as_written(module.tree, _LAST):
            namespace = name.rpartition(".")[0]
            if (
                name == _SESSION_CONFIG
                and "allow_growth" in module.code
                and module.runtime.tensorflow >= (2, 0)
                and not conditions.stands_for_versions(module.tree, node)
            ):
                yield self.finding(
                    Place(module, node),
                    "A session's ConfigProto is the old way to let the GPU memory grow; call tf.config.experimental.set_memory_growth for each GPU.",
                    because="It works as long as a session is made of it before anything else touches the GPU.",
                    pedantic=True,
                )
            if name not in names.runtime.REMOVED and namespace in names.runtime.REMOVED_NAMESPACES:
                name = namespace
            if (
                name in names.runtime.REMOVED
                or name in names.runtime.REMOVED_NAMESPACES
                or name in names.runtime.DEPRECATED
            ) and not conditions.stands_for_versions(module.tree, node):
                uses[node] = name
        for call in module.run.calls:
            if (
                call.name in names.runtime.REMOVED
                and call.name.startswith(_METHODS)
                and call.module is module
                and not conditions.handles_versions(call.scope)
            ):
                uses[call.node] = call.name
        imported = {name for node, name in uses.items() if isinstance(node, cst.Name)}
        for node, name in uses.items():
            # An import that raises is the one finding of what it binds.
            if module.tree.code_of(node).partition(".")[0] in gone:
                continue
            # A whole namespace that is gone is one finding.
            if name in namespaces:
                continue
            # A namespace is no finding of its own where the name in it is one.
            if module.runtime.lacks(name) and module.tree.parents.get(node) not in uses:
                if names.runtime.REMOVED_NAMESPACES.get(name, name) is None:
                    namespaces.add(name)
                yield self._report(name, Place(module, node), fixable=name not in imported)

    def _report(self, name, place, fixable):
        new = {**names.runtime.REMOVED, **names.runtime.REMOVED_NAMESPACES, **names.runtime.DEPRECATED}[name]
        if name in names.runtime.OLD_NAMESPACES and not place.module.runtime.lacks(name):
            return self.finding(
                place,
                f"{_short(name)} is an old name; use {_short(new)}.",
                because="It works in the version that is required here; in later ones importing it raises.",
                pedantic=True,
            )
        if name in names.runtime.DEPRECATED:
            return self.finding(
                place,
                f"{_short(name)} is an old name; write {_short(new) if new else 'what it stands for with the methods of the dataset'}.",
                because="It still works; TensorFlow keeps it for old code only.",
                pedantic=True,
                fix=fixes.rename(place, new) if new and fixable else None,
            )
        assumed = place.module.target.assumed
        return self.finding(
            place,
            f"{_short(name)} is gone; {f'use {_short(new)}' if new else 'nothing of its form stands in its place'}.",
            because="Using or importing it raises.",
            doubt=f"No exact version is required here; {assumed} is assumed." if assumed else None,
        )


def _short(name):
    return name.replace(names.namespaces.TENSORFLOW, "tf.", 1)
