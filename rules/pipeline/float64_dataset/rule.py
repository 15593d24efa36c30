from kerascheck.api import Rule, Severity, data, display_name

_LARGE = 1_000_000


class Float64Dataset(Rule):
    """A dataset that is trained on holds 64-bit floats.

    ## What it does

    Looks for `from_tensor_slices` and `from_tensors` of a NumPy array that certainly holds 64-bit
    floats, and for `from_generator` with `tf.float64`, on the way to training. A warning where a
    loop written by hand multiplies matrices with TensorFlow's own operations, an info where a Keras
    model gets the data.

    `np.random.rand` and its like, `np.linspace`, `np.zeros`, an array of Python floats and `astype(float)` give 64 bits, and so
    does all arithmetic with such an array. Integers become 64-bit floats when they are divided, or calculated with a float of
    Python: `keras.datasets` holds images as `uint8`, so `x_train / 255.0` takes eight times their memory.

    ## Why it costs

    TensorFlow keeps the 64 bits, and everything that is computed from them has 64 bits too: a
    hand-written step with matrix products took 5.4 times as long as with 32 bits (2 CPU cores,
    TensorFlow 2.21, no GPU). The data takes twice the memory.

    ## What the runtime does by itself

    A Keras model casts its inputs to its own type, in `fit` as in `model(x)`: there the time of an
    epoch did not change (ratio 1.0), and twice the memory and the copying are all that is left. So
    the info is about large arrays only. What goes to a GPU is unmeasured here.

    MNIST divided by 255.0 and made a dataset took 1,077 MB at its peak; with `astype("float32")` before the division it was
    515 MB. Given to `fit` as arrays it was 866 MB and 510 MB, and an epoch took as long (1.03 s and 1.04 s at best).

    ## When it stays silent

    - Arrays given to `fit` directly, which casts them batch by batch; and arrays whose type is not certain: files and data frames.
    - A map or the loop casts, or a map that cannot be followed may do so.
    - For a Keras model, arrays of which no literal says that they hold more than a million numbers,
      unless `astype` asks for the 64 bits.
    - The program asks for double precision, as with `set_floatx("float64")`.
    - The dataset feeds only validation, evaluation, inspection or a `fit` of at most ten steps.

    ## Use instead

    `.astype("float32")` where the array is made.

    ## Fix safety

    There is no automatic fix: numbers are rounded to seven digits, which time stamps or coordinates
    may not bear, and other uses of the array would change with it.

    ## References

    - Keras documentation: "Mixed precision" (`autocast` of layers)
    - NumPy reference: "Data types", promotion
    """

    code = "KC119"
    name = "float64-dataset"
    summary = "dataset holds 64-bit floats"
    evidence_note = "The inputs change from float64 to float32, which is what the rule asks for."
    severity = Severity.WARNING
    triggers = ("from_tensor_slices", "from_tensors", "from_generator")
    loss_tolerance = 1e-3

    def check(self, module):
        if module.program.uses_float64:
            return
        for found in data.double_datasets(module):
            maker, heavy = found.maker, found.heavy
            # For a Keras model it is only memory: one number for each sample is not worth a word.
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
