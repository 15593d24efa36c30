from kerascheck.api import Applies, Rule, Severity, fixes, models, names, proofs

_FEW_STEPS = 10


class NonCudnnRnn(Rule):
    """The arguments of an LSTM or GRU prevent the use of the fused cuDNN kernel on a GPU.

    ## What it does

    Reports an `LSTM` or `GRU` with a literal argument that cuDNN does not support:

    - `activation` other than tanh;
    - `recurrent_activation` other than sigmoid;
    - `recurrent_dropout` other than 0;
    - `unroll=True`, `use_bias=False`, `reset_after=False` (GRU), or `use_cudnn=False`.

    It also reports `RNN(LSTMCell(...))` and `RNN(GRUCell(...))`, which never use cuDNN.

    A finding about an argument is an info if the sequences have at most ten time steps and the layer has no
    `recurrent_dropout`. On JAX the rule reports the LSTM only. On JAX and PyTorch it requires a Keras version that uses
    cuDNN there.

    ## Why it costs

    cuDNN computes all time steps of a layer in one call. Without cuDNN, the backend runs a loop that starts several
    small operations for each step. This concerns GPUs and is unmeasured here. On a CPU most of these arguments cost
    nothing: relu 0.99, an RNN of cells 1.02, `use_cudnn=False` 1.00. Only `recurrent_dropout` also costs time there,
    1.85 times (2 CPU cores, TensorFlow 2.21, no GPU). The advice to keep tanh for speed is valid for GPUs only.

    ## What the runtime does by itself

    `use_cudnn="auto"` uses cuDNN if the arguments allow it and a GPU is available. Otherwise Keras 3 uses the loop
    without a message; tf.keras 2 logs a warning on a machine with a GPU.

    - On TensorFlow, cuDNN has a cost as well: such a layer turns XLA off for its whole model.
    - On JAX it does not. Since Keras 3.14 the LSTM uses cuDNN inside the compiled step. The GRU is a compiled loop
      with any arguments.
    - On PyTorch the LSTM uses cuDNN since Keras 3.10, the GRU since 3.14.
    - JAX and PyTorch do not use cuDNN with a mask. JAX uses it with float32 only.

    ## When it stays silent

    - The values of the arguments are not in this file: variables, parameters, `**options`.
    - For an `LSTM` or `GRU`: its sequences have one time step, according to the shape of the input.
    - An `RNN` with a cell is the deliberate alternative: its condition names cuDNN, or the other branch creates the
      layer itself.
    - `dropout`, `go_backwards` and `Bidirectional`, which cuDNN allows.
    - `SimpleRNN`, `ConvLSTM2D`, custom cells and stacked cells, which cuDNN does not support.
    - An `RNN` around a cell with arguments that would keep the layer off cuDNN anyway.
    - The program also calls the cell directly, one time step at a time, or shares it and its weights with another RNN.
    - On JAX and PyTorch: the project pins an older Keras, or the program uses masks. Masks come from a `Masking`
      layer, an `Embedding` with `mask_zero`, or a call with `mask=`. On JAX, a policy other than float32 also counts.

    ## Use instead

    `LSTM(units)` and `GRU(units)` with their default arguments; `dropout` in place of `recurrent_dropout`, if the
    model allows it.

    ## Fix safety

    Never safe. `RNN(LSTMCell(units))` becomes `LSTM(units)`, which computes the same function, but the kernels of
    cuDNN round in another order. The layer and its weights also get other names, so checkpoints and saved weights no
    longer fit. Removing `recurrent_dropout` removes a regularizer from the model.

    There is no fix for a cell that is created earlier and passed by name. Activations and the other arguments have no
    fix either. With cuDNN, Keras 3 requires masks that are padded on the right, and raises otherwise.

    ## References

    - Keras documentation: "LSTM layer", "GRU layer"
    - Keras source: `layers/rnn/lstm.py`, `layers/rnn/gru.py`, `backend/tensorflow/rnn.py`, `backend/jax/rnn.py`,
      `backend/torch/rnn.py`
    - JAX source: `jax/experimental/rnn.py`
    """

    code = "KC208"
    name = "non-cudnn-rnn"
    summary = "LSTM or GRU cannot use the cuDNN kernel"
    severity = Severity.WARNING
    applies = Applies(graph_code=False, tensorflow=">=2", multi_backend_keras=False, cpu_only=False)
    triggers = ("LSTM", "GRU")
    proves = ("same-numbers", "same-names")
    loss_tolerance = None

    def check(self, module):
        if models.lacks_cudnn(module):
            return
        layers = module.runtime.cudnn_layers
        for call in module.program.calls(*(f"{names.layers.LAYERS}{layer}" for layer in sorted(layers))):
            reasons = list(models.arguments_against_cudnn(call))
            if not reasons:
                yield self.silence(call, "its arguments allow the cuDNN kernel")
                continue
            steps = models.most_time_steps(module, call)
            if steps > 1 and not models.lacks_time_axis(module, call):
                few = steps <= _FEW_STEPS and call.given("recurrent_dropout") is None
                yield self.finding(
                    call,
                    f"This {call.name.rpartition('.')[2]} cannot use the cuDNN kernel because of {' and '.join(reasons)}; use the default{'s' if len(reasons) > 1 else ''}.",
                    because="On a GPU it falls back to a loop of small operations over the time steps.",
                    doubt="There are only a few time steps here." if few else None,
                    fix=fixes.drop_argument(
                        call, "recurrent_dropout", proofs.SAME_NUMBERS.unless("it removes a regularizer from the model")
                    ),
                )
        for call in module.program.calls(names.layers.RNN):
            cell, layer = call.given("cell"), models.cell_layer(call)
            if (
                layer in layers
                and not models.is_alternative_to_cudnn(call)
                and not models.shares_cell(module, call)
                and not any(models.arguments_against_cudnn(cell.call))
            ):
                yield self.finding(
                    call,
                    f"RNN({layer}Cell(...)) never uses the cuDNN kernel; write {layer}(...).",
                    because="On a GPU it runs a loop of small operations over the time steps.",
                    fix=fixes.recurrent_layer(call, cell, layer),
                )
