import libcst as cst

from kerascheck.finding import Severity
from kerascheck.rule import Rule
from kerascheck.semantics.pipelines import INSPECTED_ELEMENTS
from kerascheck.semantics.places import Place
from kerascheck.semantics.values import Dataset, Iteration, constant, datasets_in, options_of

# The cardinality of what these give is -2, unknown (tried with TensorFlow 2.21).
_UNCOUNTED = ("filter", "flat_map", "interleave", "unbatch", "from_generator", "TFRecordDataset", "TextLineDataset", "CsvDataset", "make_csv_dataset", "take_while")


class DatasetMaterialised(Rule):
    """A dataset is turned into Python objects where TensorFlow could have kept it.

    ## What it does

    Looks for `len(list(dataset))` and `len([... for x in dataset])`, also with `as_numpy_iterator()`, which read everything to count
    it. A warning in a script that trains; an info in one that only looks at data, and where TensorFlow cannot know the number.

    ## Why it costs

    `len(list(dataset))` runs the whole pipeline, with all decoding and augmentation, and holds every
    element in memory at once, to throw them away: it costs as much as the input of an epoch, and
    memory for all of it.

    ## What the runtime does by itself

    TensorFlow knows the number of elements of most datasets without reading them: `len(dataset)`
    and `dataset.cardinality()` follow `batch`, `map`, `take`, `repeat` and the like. They do not
    know it behind `filter`, `flat_map`, a generator or a file of records: `len` then raises a
    TypeError, and `cardinality` says -2. `fit` finds the number of steps by itself, too. (A NumPy
    iterator over a dataset is nothing to give to `fit`: Keras 3 raises a ValueError at once.)

    ## When it stays silent

    - `take(k)` of a few elements (up to 32).
    - `list(dataset)` for other purposes: a vocabulary, the labels of a test set, a small data set
      that is kept in memory on purpose.
    - Counting behind a question for the cardinality, where that is not known.
    - Lists of other things than datasets.
    - Tests.

    ## Use instead

    `len(dataset)`; where that is not known, count once and note it with
    `dataset.apply(tf.data.experimental.assert_cardinality(n))`.

    ## Fix safety

    There is no automatic fix: `len(dataset)` raises where the number is not known.

    ## References

    - TensorFlow API: `tf.data.Dataset.cardinality`, `tf.data.experimental.assert_cardinality`
    """

    code = "KC122"
    name = "dataset-materialised"
    summary = "dataset is turned into Python objects"
    evidence_note = "The cost is one pass over the data before training; the steps stay the same."
    severity = Severity.WARNING
    triggers = ("Dataset", "_dataset", "tensorflow_datasets", "from_tensor_slices", "list_files")
    loss_tolerance = 1e-6

    def check(self, module):
        if module.is_graph_code:
            return
        severity = Severity.WARNING if module.program.first_training is not None else Severity.INFO
        seen = set()
        listed = [(call, call.argument(0)) for call in module.run.calls if call.name == "builtins.list"]
        listed += [(Place(loop.module, loop.node), loop.value) for loop in module.run.loops if _is_list_of_all(loop.node)]
        for place, given in listed:
            if place.node in seen or not _is_counted(place) or _is_fallback(place) or not any(map(_is_dataset, options_of(given))) or any(_is_short(dataset.stage) for dataset in datasets_in(given)):
                continue
            seen.add(place.node)
            known = not any(stage.name.endswith(_UNCOUNTED) for dataset in datasets_in(given) for stage in dataset.stage.upstream())
            yield self.finding(
                place,
                "The whole dataset is read and kept in memory to be counted; "
                + ("len(dataset) or dataset.cardinality() tells without reading." if known else "count it once and note that with tf.data.experimental.assert_cardinality."),
                because="Every element goes through the pipeline once more, as in an epoch of training.",
                severity=severity if known else Severity.INFO,
            )


def _is_list_of_all(node):
    """Whether a loop is a list comprehension with an item for each turn."""
    return isinstance(node, cst.ListComp) and not node.for_in.ifs and node.for_in.inner_for_in is None


def _is_dataset(value):
    return isinstance(value, Dataset) or isinstance(value, Iteration) and value.kind == "as_numpy_iterator"


def _is_counted(place):
    """Whether a list stands in a ``len``, and so nowhere else."""
    parents = place.module.tree.parents
    outer = parents.get(parents.get(place.node))
    return isinstance(outer, cst.Call) and isinstance(outer.func, cst.Name) and outer.func.value == "len"


def _is_fallback(place):
    """Whether a list is only counted where the dataset does not know its cardinality."""
    tree = place.module.tree
    return any(isinstance(outer, (cst.If, cst.IfExp)) and "cardinality" in tree.code_of(outer.test).lower() for outer in tree.ancestors(place.node))


def _is_short(stage):
    """A ``take`` leaves a few elements."""
    counts = [constant(each.argument(0, "count")) for each in stage.upstream() if each.name == "take"]
    return any(isinstance(count, int) and 0 <= count <= INSPECTED_ELEMENTS for count in counts)
