from kerascheck.api import Applies, Rule, Severity, models

_ROWS = 100_000
_NUMBERS = 3_000_000


class DenseEmbeddingUpdate(Rule):
    """Every step updates all rows of a large embedding, although a batch uses a few.

    ## What it does

    Reports an `Embedding` of more than 100,000 rows and at least 3 million numbers. Its model is trained with Adam,
    AdamW, Adafactor, Adagrad, Ftrl, Lion or RMSprop of Keras 3 on TensorFlow.

    ## Why it costs

    A batch uses a few rows, but these optimizers compute with the whole table and with their moments, which are as
    large. Adam also moves the rows that the batch does not use, because their moments are not zero yet (tried with
    Keras 3.15). The table shows a step for a model with one embedding of 32 columns, with 64 times 20 numbers per batch
    (2 CPU cores, TensorFlow 2.21, no GPU):

    | optimizer | 100,000 rows | 1,000,000 rows |
    |---|---|---|
    | `Adam` | 23 ms | 343 ms |
    | `Ftrl` | 44 ms | 330 ms |
    | `Adafactor` | 23 ms | 344 ms |
    | `Lion` | 24 ms | 172 ms |
    | `RMSprop` | 16 ms | 175 ms |
    | `Adagrad` | 13 ms | 172 ms |
    | `SGD` | 7 ms | 31 ms |

    A GPU has more bandwidth, so it may lose little. We have not measured one, and a large model may hide the update. So
    this is an info.

    ## What the runtime does by itself

    The gradient of an embedding holds only the rows of the batch (`tf.IndexedSlices`), but the moments are dense. Keras
    3 has no lazy variant of Adam.

    ## When it stays silent

    - The number of rows or columns is not a literal.
    - The embedding is not trainable, its `trainable` is set anywhere, or it has a `lora_rank`.
    - The optimizer is `SGD`, or unknown; the model is compiled several times, or not fitted.
    - Keras 2, or another backend than TensorFlow.

    ## Use instead

    Use fewer rows: keep the frequent words (`max_tokens` of `TextVectorization`), or hash the rare ones
    (`keras.layers.Hashing`). In our example, 50,000 rows instead of 1,000,000 made a step 28 times faster (same
    machine). `SGD` without momentum is faster as well, but learns differently.

    ## Fix safety

    There is no fix, because both changes alter what the model learns.

    ## References

    - Keras source: `optimizers/adam.py`, `backend/tensorflow/optimizer.py`
    - TensorFlow API: `tf.IndexedSlices`
    """

    code = "KC424"
    name = "dense-embedding-update"
    summary = "each step updates all rows of an embedding"
    severity = Severity.INFO
    applies = Applies(graph_code=False, keras=">=3", backends={"tensorflow"})
    triggers = ("Embedding(",)
    loss_tolerance = None

    def check(self, module):
        for found in models.dense_embeddings(module, _ROWS, _NUMBERS):
            yield self.finding(
                found.made,
                f"{found.optimizer} updates all {found.rows:,} rows in every step; use fewer rows, or hash the rare ids.",
                because=f"The optimizer computes with {found.numbers / 1e6:,.0f} million weights, and with moments of that size, in each step.",
                related=((found.compiled, "the optimizer is set here"),),
            )
