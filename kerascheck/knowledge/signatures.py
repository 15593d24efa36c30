"""The parameters of the methods of Keras models, in the order of their positions, per version of Keras.

Sources: ``inspect.signature`` of Keras 3.15.1; ``engine/training.py`` of tf_keras 2.21.0 and of Keras 2.6.0, 2.9.0, 2.12.0 and 2.15.0, which
differ in the last parameters only, that each release appends; ``engine/training.py`` and ``models.py`` of Keras 1.2.2, 2.0.9, 2.2.4 and 2.3.1.
"""

from __future__ import annotations

PARAMETERS: dict[tuple[int, int], dict[str, tuple[str | None, ...]]] = {
    (3, 0): {
        "compile": (
            "optimizer", "loss", "loss_weights", "metrics", "weighted_metrics", "run_eagerly", "steps_per_execution", "jit_compile", "auto_scale_loss",
        ),
        "fit": (
            "x", "y", "batch_size", "epochs", "verbose", "callbacks", "validation_split", "validation_data", "shuffle", "class_weight", "sample_weight",
            "initial_epoch", "steps_per_epoch", "validation_steps", "validation_batch_size", "validation_freq",
        ),
        "evaluate": ("x", "y", "batch_size", "verbose", "sample_weight", "steps", "callbacks", "return_dict"),
        "predict": ("x", "batch_size", "verbose", "steps", "callbacks"),
        "train_on_batch": ("x", "y", "sample_weight", "class_weight", "return_dict"),
        "test_on_batch": ("x", "y", "sample_weight", "return_dict"),
        "predict_on_batch": ("x",),
    },
    (2, 6): {
        "compile": (
            "optimizer", "loss", "metrics", "loss_weights", "weighted_metrics", "run_eagerly", "steps_per_execution", "jit_compile", "pss_evaluation_shards",
        ),
        "fit": (
            "x", "y", "batch_size", "epochs", "verbose", "callbacks", "validation_split", "validation_data", "shuffle", "class_weight", "sample_weight",
            "initial_epoch", "steps_per_epoch", "validation_steps", "validation_batch_size", "validation_freq", "max_queue_size", "workers", "use_multiprocessing",
        ),
        "evaluate": (
            "x", "y", "batch_size", "verbose", "sample_weight", "steps", "callbacks", "max_queue_size", "workers", "use_multiprocessing", "return_dict",
        ),
        "predict": ("x", "batch_size", "verbose", "steps", "callbacks", "max_queue_size", "workers", "use_multiprocessing"),
        "train_on_batch": ("x", "y", "sample_weight", "class_weight", "reset_metrics", "return_dict"),
        "test_on_batch": ("x", "y", "sample_weight", "reset_metrics", "return_dict"),
        "predict_on_batch": ("x",),
        "fit_generator": (
            "generator", "steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data", "validation_steps", "validation_freq", "class_weight",
            "max_queue_size", "workers", "use_multiprocessing", "shuffle", "initial_epoch",
        ),
        "evaluate_generator": ("generator", "steps", "callbacks", "max_queue_size", "workers", "use_multiprocessing", "verbose"),
        "predict_generator": ("generator", "steps", "callbacks", "max_queue_size", "workers", "use_multiprocessing", "verbose"),
    },
    (1, 0): {
        "compile": ("optimizer", "loss", "metrics", None),
        "fit": (
            "x", "y", "batch_size", "epochs", "verbose", "callbacks", "validation_split", "validation_data", "shuffle", "class_weight", "sample_weight",
            "initial_epoch", "steps_per_epoch", "validation_steps", None,
        ),
        "evaluate": ("x", "y", "batch_size", "verbose", "sample_weight", "steps", None),
        "predict": ("x", "batch_size", "verbose", "steps", None),
        "train_on_batch": ("x", "y", None),
        "test_on_batch": ("x", "y", "sample_weight", None),
        "predict_on_batch": ("x",),
        "fit_generator": ("generator", None, "epochs", "verbose", "callbacks", "validation_data", "validation_steps", None),
        "evaluate_generator": ("generator", None),
        "predict_generator": ("generator", None),
    },
}
"""By the release since which they hold, newest first; tf.keras has the number of its TensorFlow. None stands for a parameter that is another one in
some of the releases, or in Sequential, and last where all that follows may be."""

OTHER_NAMES: dict[str, tuple[str, ...]] = {"x": ("generator",), "epochs": ("nb_epoch",)}
"""Parameters with what else they are called: by the methods for generators, and by Keras 1 (``keras/legacy/interfaces.py`` of Keras 2.2.4)."""
