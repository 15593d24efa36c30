from kerascheck.api import Applies, DictValue, ExternalInstance, Rule, Severity, data, fixes, names


def _has_variable_length(parse):
    spec = parse.given("features")
    kinds = spec.items.values() if isinstance(spec, DictValue) else ()
    return any(
        isinstance(kind, ExternalInstance) and kind.name != names.callables.IO_FIXED_LEN_FEATURE for kind in kinds
    )


def _reduces_everything(call):
    """Over a batch it would mix the records."""
    name = call.name or ""
    return (
        name.startswith((names.callables.REDUCE, names.callables.MATH_REDUCE, names.callables.NORM))
        and call.given("axis") is None
    )


class ParseSingleExample(Rule):
    """A map parses records one by one although one call could parse the whole batch.

    ## What it does

    Looks for `.map(parse)` followed by `.batch(n)` in a training pipeline if `parse` calls `tf.io.parse_single_example`
    or `tf.io.parse_single_sequence_example`. Between the two, there may be `shuffle`, `cache`, `repeat`, and maps that
    work on batches as well as on elements.

    A dataset that leaves the file also counts as training data. The exception is a dataset whose enclosing function,
    class, variable or branch refers to validation or test data.

    ## Why it costs

    Parsing takes one operation call per record, or one per batch. For records of numbers, the call costs more than the
    parsing. On 2 CPU cores (TensorFlow 2.21, no GPU), reading 14 columns in batches of 128 was 6.0 times slower with
    single records.

    ## What the runtime does by itself

    It fuses map and batch and runs them in parallel, but it never replaces `parse_single_example` by `parse_example`.
    Tutorials show the single form because it is easier to read, but it is slow for tables. More parallel calls only
    spread the cost.

    ## When it stays silent

    - `parse` also decodes the record (`tf.io.decode_*`, `tf.image.*`, `tf.io.parse_tensor`). Decoding has to run per
      record, and costs far more than the parsing.
    - `parse` calls `tf.reshape`, which usually names the shape of one record.
    - `parse` reduces a tensor over all its axes, which would mix the records of a batch.
    - A feature is not a `FixedLenFeature`, but for example a `VarLenFeature`: for a batch, the result is sparse or
      padded.
    - `parse` calls Python code, or `padded_batch` or `ragged_batch` follows.
    - A `filter` or another operation on single elements is between map and batch.
    - The records are never batched, or only in batches of one, or the code of `parse` is not visible.
    - The dataset is used only for validation, evaluation, prediction, `adapt`, inspection or a `fit` of at most ten
      steps. A `take` of at most 32 elements before the operation counts as inspection.

    ## Use instead

    `dataset.batch(n).map(parse)` with `tf.io.parse_example(records, spec)` in `parse`.

    ## Fix safety

    Safe if all of these hold: `parse` only parses, every feature is a `FixedLenFeature`, the records come directly from
    a `TFRecordDataset`, and the batch follows the map directly. Each column keeps its values and its shape.

    Unsafe if `parse` does more with the record, has a decorator, or may be called from another module. Also unsafe if
    the dataset between both operations is used elsewhere, or if a call has a name. Also unsafe if the options disable
    the fusion of map and batch: a record that cannot be parsed would then fail its whole batch.

    There is no fix if the features are not visible, or if operations follow the parsing: they may rely on the shape of
    a single record. There is also no fix if another operation is between map and batch, if the file uses `parse`
    elsewhere, or for `tf.io.parse_single_sequence_example`.

    ## References

    - TensorFlow API: `tf.io.parse_example`, `tf.io.parse_single_example`
    - TensorFlow tutorial: "TFRecord and tf.train.Example" (it shows the single form)
    - TensorFlow source: `parsing_ops.py`
    """

    code = "KC104"
    name = "parse-single-example"
    summary = "records are parsed one at a time"
    severity = Severity.WARNING
    applies = Applies(graph_code=False)
    triggers = ("parse_single_example", "parse_single_sequence_example")
    proves = ("batch-like-elements", "static-shape", "only-caller", "only-consumer", "plain-call", "known-consumers")
    loss_tolerance = 1e-6

    def check(self, module):
        for op in module.pipelines.operations("map"):
            parse = op.facts.call_of(
                names.callables.IO_PARSE_SINGLE_EXAMPLE, names.callables.IO_PARSE_SINGLE_SEQUENCE_EXAMPLE
            )
            if parse is None or not op.may_feed_training:
                continue
            # Images and tensors are decoded one by one anyway, and a literal shape is that of one record.
            if any(
                (call.name or "").startswith(
                    (
                        names.callables.IO_DECODE,
                        names.callables.IO_PARSE_TENSOR,
                        names.namespaces.OF_IMAGE,
                        names.callables.TF_RESHAPE,
                    )
                )
                for call in op.facts.calls
            ):
                continue
            # Features of variable length become sparse for a batch.
            if op.facts.call_of(
                names.callables.IO_VAR_LEN_FEATURE, names.callables.SPARSE_TO_DENSE
            ) or _has_variable_length(parse):
                continue
            if (
                not op.facts.known
                or op.facts.python_function is not None
                or any(map(_reduces_everything, op.facts.calls))
            ):
                continue
            batch = data.next_batch(module, op)
            if batch is None or op.is_batched_by_one(module.pipelines):
                continue
            single = parse.name.rpartition(".")[2]
            yield self.finding(
                op,
                f"This map parses one record per call; batch the records first and use tf.io.{single.replace('single_', '')}.",
                because=f"Each call of tf.io.{single} has a fixed cost, for the call and for every feature.",
                fix=fixes.parse_batches(module, op, batch, parse),
                related=((parse, "parsed one by one here"), (batch, "batched only here")),
            )
