"""Parameters of the callables whose arguments kerascheck reads, in positional order, per release if they differ.

Sources: ``inspect.signature`` of Keras 3.15.1, tf_keras 2.21.0, TensorFlow 2.21.0, NumPy 2.4.6 and KerasTuner 1.4.8, which a slow test compares
with these again; for older releases the files of Keras 1.2.2, 2.0.9, 2.2.4, 2.3.1, 2.6.0, 2.9.0, 2.12.0, 2.15.0 and 3.0.5, and of TensorFlow 1.15.0,
2.1.0 and 2.5.0. If a release only appends parameters, the newest represents all.

Notation of the table: names in positional order; ``?`` for a position whose parameter differs in some releases, or in
Sequential; ``...`` if the positions of all that follows, named or not, are unknown; ``*`` before keyword-only parameters;
``**keras.Layer`` for the keywords of another entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

Release = tuple[int, int]

_CONVOLUTION = "filters kernel_size strides padding data_format dilation_rate"
_TRANSPOSED = (
    "filters kernel_size strides padding ... output_padding data_format dilation_rate activation use_bias **keras.Layer"
)
_SEPARABLE = f"{_CONVOLUTION} depth_multiplier activation use_bias ... **keras.Layer"
_DEPTHWISE = (
    "kernel_size strides padding depth_multiplier data_format ... dilation_rate activation use_bias **keras.Layer"
)
_POOLING = "pool_size strides padding data_format ... **keras.Layer"
_OF_RNN = "return_sequences return_state go_backwards stateful unroll"
_CELL = "units activation recurrent_activation use_bias ... dropout recurrent_dropout"
_CONVOLUTIONS: dict[Release, str] = {
    (2, 3): f"{_CONVOLUTION} groups activation use_bias ... **keras.Layer",
    (1, 0): f"{_CONVOLUTION} activation use_bias ... **keras.Layer",
}
_FROM_DIRECTORY = "directory labels label_mode class_names"
_OPTIMIZER: dict[Release, str] = {
    (3, 0): "learning_rate ... gradient_accumulation_steps loss_scale_factor",
    (1, 0): "learning_rate ...",
}
_TUNER = "hypermodel objective ... distribution_strategy"
_REDUCTION = "input_tensor axis keepdims ..."
_GENERATOR = "generator steps callbacks max_queue_size workers use_multiprocessing verbose"

SIGNATURES: dict[str, str | dict[Release, str]] = {
    # Models of Keras, and their methods.
    "keras.Model": "inputs outputs name ... **keras.Layer",
    "keras.Sequential": {(3, 0): "layers trainable name", (1, 0): "layers name"},
    "keras.Model.add": "layer ...",
    "keras.Model.compile": {
        (
            3,
            0,
        ): "optimizer loss loss_weights metrics weighted_metrics run_eagerly steps_per_execution jit_compile auto_scale_loss",
        (
            2,
            6,
        ): "optimizer loss metrics loss_weights weighted_metrics run_eagerly steps_per_execution jit_compile pss_evaluation_shards",
        (1, 0): "optimizer loss metrics ... loss_weights weighted_metrics run_eagerly",
    },
    "keras.Model.fit": {
        (3, 0): (
            "x y batch_size epochs verbose callbacks validation_split validation_data shuffle class_weight sample_weight initial_epoch "
            "steps_per_epoch validation_steps validation_batch_size validation_freq"
        ),
        (2, 6): (
            "x y batch_size epochs verbose callbacks validation_split validation_data shuffle class_weight sample_weight initial_epoch "
            "steps_per_epoch validation_steps validation_batch_size validation_freq max_queue_size workers use_multiprocessing"
        ),
        (1, 0): (
            "x y batch_size epochs verbose callbacks validation_split validation_data shuffle class_weight sample_weight initial_epoch "
            "steps_per_epoch validation_steps ..."
        ),
    },
    "keras.Model.evaluate": {
        (3, 0): "x y batch_size verbose sample_weight steps callbacks return_dict",
        (
            2,
            6,
        ): "x y batch_size verbose sample_weight steps callbacks max_queue_size workers use_multiprocessing return_dict",
        (1, 0): "x y batch_size verbose sample_weight steps ...",
    },
    "keras.Model.predict": {
        (3, 0): "x batch_size verbose steps callbacks",
        (2, 6): "x batch_size verbose steps callbacks max_queue_size workers use_multiprocessing",
        (1, 0): "x batch_size verbose steps ...",
    },
    "keras.Model.train_on_batch": {
        (3, 0): "x y sample_weight class_weight return_dict",
        (2, 6): "x y sample_weight class_weight reset_metrics return_dict",
        (1, 0): "x y ...",
    },
    "keras.Model.test_on_batch": {
        (3, 0): "x y sample_weight return_dict",
        (2, 6): "x y sample_weight reset_metrics return_dict",
        (1, 0): "x y sample_weight ...",
    },
    "keras.Model.predict_on_batch": "x",
    "keras.Model.fit_generator": {
        (2, 6): (
            "generator steps_per_epoch epochs verbose callbacks validation_data validation_steps validation_freq class_weight max_queue_size "
            "workers use_multiprocessing shuffle initial_epoch"
        ),
        (
            1,
            0,
        ): "generator ? epochs verbose callbacks validation_data validation_steps ... steps_per_epoch initial_epoch",
    },
    "keras.Model.evaluate_generator": {(2, 6): _GENERATOR, (1, 0): "generator ... steps"},
    "keras.Model.predict_generator": {(2, 6): _GENERATOR, (1, 0): "generator ... steps"},
    "keras.Model.save": "filepath overwrite ...",
    "keras.models.clone_model": "model input_tensors ...",
    "keras.models.load_model": "filepath custom_objects compile ...",
    # Layers.
    "keras.Input": {(2, 6): "shape batch_size ... batch_shape dtype name", (1, 0): "shape ... batch_shape dtype name"},
    "keras.Layer": "* name dtype trainable input_shape input_dim batch_shape batch_input_shape",
    "keras.layers.Activation": "activation **keras.Layer",
    **dict.fromkeys((f"keras.layers.AveragePooling{axes}D" for axes in (1, 2, 3)), _POOLING),
    "keras.layers.Bidirectional": "layer merge_mode weights ... backward_layer **keras.Layer",
    "keras.layers.Concatenate": "axis **keras.Layer",
    **dict.fromkeys((f"keras.layers.Conv{axes}D" for axes in (1, 2, 3)), _CONVOLUTIONS),
    **dict.fromkeys((f"keras.layers.Conv{axes}DTranspose" for axes in (1, 2, 3)), _TRANSPOSED),
    **dict.fromkeys(
        (f"keras.layers.ConvLSTM{axes}D" for axes in (1, 2, 3)),
        f"{_CONVOLUTION} activation recurrent_activation use_bias ... dropout recurrent_dropout {_OF_RNN} **keras.Layer",
    ),
    "keras.layers.Dense": "units activation use_bias ... **keras.Layer",
    "keras.layers.DepthwiseConv2D": _DEPTHWISE,
    "keras.layers.Embedding": {
        (
            3,
            0,
        ): "input_dim output_dim embeddings_initializer embeddings_regularizer embeddings_constraint mask_zero ... weights input_length **keras.Layer",
        (1, 0): (
            "input_dim output_dim embeddings_initializer embeddings_regularizer activity_regularizer embeddings_constraint mask_zero input_length "
            "... weights **keras.Layer"
        ),
    },
    "keras.layers.GRU": f"{_CELL} {_OF_RNN} reset_after use_cudnn **keras.Layer",
    "keras.layers.GRUCell": f"{_CELL} reset_after **keras.Layer",
    "keras.layers.InputLayer": {
        (3, 0): "shape batch_size dtype ... batch_shape input_shape name",
        (1, 0): "input_shape batch_size ... shape dtype batch_shape batch_input_shape name",
    },
    "keras.layers.Lambda": "function output_shape mask arguments **keras.Layer",
    "keras.layers.LSTM": f"{_CELL} {_OF_RNN} use_cudnn **keras.Layer",
    "keras.layers.LSTMCell": f"{_CELL} **keras.Layer",
    **dict.fromkeys((f"keras.layers.MaxPooling{axes}D" for axes in (1, 2, 3)), _POOLING),
    "keras.layers.MultiHeadAttention": "num_heads key_dim value_dim dropout use_bias output_shape attention_axes ... **keras.Layer",
    "keras.layers.PReLU": "alpha_initializer alpha_regularizer alpha_constraint shared_axes **keras.Layer",
    "keras.layers.RepeatVector": "n **keras.Layer",
    "keras.layers.Rescaling": "scale offset **keras.Layer",
    "keras.layers.Reshape": "target_shape **keras.Layer",
    "keras.layers.RNN": "cell return_sequences return_state go_backwards stateful unroll ... **keras.Layer",
    "keras.layers.SeparableConv1D": _SEPARABLE,
    "keras.layers.SeparableConv2D": _SEPARABLE,
    "keras.layers.SimpleRNN": f"units activation use_bias ... dropout recurrent_dropout {_OF_RNN} **keras.Layer",
    "keras.layers.SimpleRNNCell": "units activation use_bias ... dropout recurrent_dropout **keras.Layer",
    "keras.layers.SpectralNormalization": "layer power_iterations **keras.Layer",
    "keras.layers.TimeDistributed": "layer **keras.Layer",
    "keras.layers.UpSampling2D": "size data_format interpolation **keras.Layer",
    "keras.layers.Wrapper": "layer **keras.Layer",
    "keras.layers.ZeroPadding2D": "padding data_format **keras.Layer",
    "keras.layers.concatenate": "inputs axis ...",
    # The rest of Keras.
    "keras.DTypePolicy": "name ...",
    "keras.mixed_precision.Policy": "name ...",
    "keras.mixed_precision.set_global_policy": "policy",
    "keras.backend.set_floatx": "value",
    "keras.config.set_floatx": "value",
    **dict.fromkeys(
        (f"keras.callbacks.{space}BackupAndRestore" for space in ("", "experimental.")), "backup_dir save_freq ..."
    ),
    "keras.callbacks.LambdaCallback": (
        "on_epoch_begin on_epoch_end ... on_train_begin on_train_end on_train_batch_begin on_train_batch_end on_batch_begin on_batch_end"
    ),
    "keras.callbacks.ModelCheckpoint": {
        (2, 0): "filepath monitor verbose save_best_only save_weights_only mode save_freq ...",
        (1, 0): "filepath monitor verbose save_best_only save_weights_only mode ... save_freq",
    },
    "keras.callbacks.TensorBoard": {
        (2, 5): "log_dir histogram_freq write_graph write_images write_steps_per_second update_freq profile_batch ...",
        (1, 0): "log_dir histogram_freq ... write_graph write_images update_freq profile_batch",
    },
    **dict.fromkeys(
        (
            f"keras.optimizers.{name}"
            for name in "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion Muon Nadam RMSprop SGD".split()
        ),
        _OPTIMIZER,
    ),
    "keras.Optimizer.apply": "grads trainable_variables",
    "keras.Optimizer.apply_gradients": "grads_and_vars ...",
    "keras.backend.map_fn": "fn elems name dtype",
    "keras.ops.map": "f xs",
    "keras.ops.one_hot": "x num_classes axis dtype sparse",
    "keras.ops.scan": "f init xs length reverse unroll",
    "keras.ops.split": "x indices_or_sections axis",
    "keras.ops.transpose": "x axes",
    "keras.ops.unstack": "x num axis",
    "keras.ops.vectorized_map": "function elements",
    "keras.utils.PyDataset": "workers use_multiprocessing max_queue_size",
    "keras.utils.audio_dataset_from_directory": (
        f"{_FROM_DIRECTORY} batch_size sampling_rate output_sequence_length ragged shuffle seed validation_split subset follow_links ..."
    ),
    "keras.utils.image_dataset_from_directory": (
        f"{_FROM_DIRECTORY} color_mode batch_size image_size shuffle seed validation_split subset interpolation follow_links ..."
    ),
    "keras.utils.text_dataset_from_directory": (
        f"{_FROM_DIRECTORY} batch_size max_length shuffle seed validation_split subset follow_links ..."
    ),
    "keras.utils.timeseries_dataset_from_array": (
        "data targets sequence_length sequence_stride sampling_rate batch_size shuffle seed start_index end_index ..."
    ),
    "keras.utils.split_dataset": "dataset left_size right_size shuffle seed ...",
    "keras.utils.load_img": {
        (3, 0): "path color_mode target_size interpolation keep_aspect_ratio",
        (1, 0): "path grayscale ... color_mode target_size interpolation",
    },
    **dict.fromkeys(
        ("keras.utils.to_categorical", "keras.utils.np_utils.to_categorical"),
        {(3, 0): "x num_classes", (1, 0): "y num_classes dtype"},
    ),
    "keras.utils.pad_sequences": "sequences maxlen dtype padding truncating value",
    "keras.preprocessing.sequence.pad_sequences": "sequences maxlen dtype padding truncating value",
    "keras.preprocessing.image.ImageDataGenerator.fit": "x augment rounds seed",
    "keras.preprocessing.image.ImageDataGenerator.flow": "x y batch_size shuffle sample_weight seed save_to_dir save_prefix save_format ...",
    "keras.preprocessing.image.ImageDataGenerator.flow_from_dataframe": (
        "dataframe directory x_col y_col weight_col target_size color_mode classes class_mode batch_size shuffle ..."
    ),
    "keras.preprocessing.image.ImageDataGenerator.flow_from_directory": (
        "directory target_size color_mode classes class_mode batch_size shuffle seed save_to_dir save_prefix save_format follow_links subset ..."
    ),
    # Datasets: sources and methods.
    "tensorflow.data.Dataset.choose_from_datasets": "datasets choice_dataset stop_on_empty_dataset",
    "tensorflow.data.Dataset.from_generator": "generator output_types output_shapes args output_signature name",
    "tensorflow.data.Dataset.from_tensor_slices": "tensors name",
    "tensorflow.data.Dataset.from_tensors": "tensors name",
    "tensorflow.data.Dataset.list_files": "file_pattern shuffle seed name",
    "tensorflow.data.Dataset.sample_from_datasets": "datasets weights seed stop_on_empty_dataset rerandomize_each_iteration",
    "tensorflow.data.TFRecordDataset": "filenames compression_type buffer_size num_parallel_reads name",
    "tensorflow.data.TextLineDataset": "filenames compression_type buffer_size num_parallel_reads name",
    "tensorflow.data.FixedLengthRecordDataset": (
        "filenames record_bytes header_bytes footer_bytes buffer_size compression_type num_parallel_reads name"
    ),
    "tensorflow.data.experimental.make_batched_features_dataset": (
        "file_pattern batch_size features reader label_key reader_args num_epochs shuffle shuffle_buffer_size shuffle_seed prefetch_buffer_size ..."
    ),
    "tensorflow.data.experimental.make_csv_dataset": (
        "file_pattern batch_size column_names column_defaults label_name select_columns field_delim use_quote_delim na_value header num_epochs "
        "shuffle shuffle_buffer_size shuffle_seed prefetch_buffer_size ..."
    ),
    "tensorflow.data.Dataset.apply": "transformation_func",
    "tensorflow.data.Dataset.batch": "batch_size drop_remainder num_parallel_calls deterministic name",
    "tensorflow.data.Dataset.bucket_by_sequence_length": (
        "element_length_func bucket_boundaries bucket_batch_sizes padded_shapes padding_values pad_to_bucket_boundary no_padding drop_remainder name"
    ),
    "tensorflow.data.Dataset.cache": "filename name",
    "tensorflow.data.Dataset.filter": "predicate name",
    "tensorflow.data.Dataset.flat_map": "map_func name",
    "tensorflow.data.Dataset.group_by_window": "key_func reduce_func window_size window_size_func name",
    "tensorflow.data.Dataset.interleave": "map_func cycle_length block_length num_parallel_calls deterministic name",
    "tensorflow.data.Dataset.map": "map_func num_parallel_calls deterministic synchronous use_unbounded_threadpool name",
    "tensorflow.data.Dataset.map_with_legacy_function": "map_func num_parallel_calls deterministic ...",
    "tensorflow.data.Dataset.padded_batch": "batch_size padded_shapes padding_values drop_remainder name",
    "tensorflow.data.Dataset.prefetch": "buffer_size name",
    "tensorflow.data.Dataset.ragged_batch": "batch_size drop_remainder row_splits_dtype name",
    "tensorflow.data.Dataset.rebatch": "batch_size drop_remainder name",
    "tensorflow.data.Dataset.rejection_resample": "class_func target_dist initial_dist seed name",
    "tensorflow.data.Dataset.repeat": "count name",
    "tensorflow.data.Dataset.scan": "initial_state scan_func name",
    "tensorflow.data.Dataset.shuffle": "buffer_size seed reshuffle_each_iteration name",
    "tensorflow.data.Dataset.skip": "count name",
    "tensorflow.data.Dataset.sparse_batch": "batch_size row_shape name",
    "tensorflow.data.Dataset.take": "count name",
    "tensorflow.data.Dataset.take_while": "predicate name",
    "tensorflow.data.Dataset.with_options": "options name",
    "tensorflow.data.experimental.bucket_by_sequence_length": (
        "element_length_func bucket_boundaries bucket_batch_sizes padded_shapes padding_values pad_to_bucket_boundary no_padding drop_remainder"
    ),
    "tensorflow.data.experimental.dense_to_ragged_batch": "batch_size drop_remainder row_splits_dtype",
    "tensorflow.data.experimental.dense_to_sparse_batch": "batch_size row_shape",
    "tensorflow.data.experimental.group_by_window": "key_func reduce_func window_size window_size_func",
    "tensorflow.data.experimental.map_and_batch": "map_func batch_size num_parallel_batches drop_remainder num_parallel_calls",
    "tensorflow.data.experimental.parallel_interleave": (
        "map_func cycle_length block_length sloppy buffer_output_elements prefetch_input_elements"
    ),
    "tensorflow.data.experimental.prefetch_to_device": "device buffer_size",
    "tensorflow.data.experimental.rejection_resample": "class_func target_dist initial_dist seed",
    "tensorflow.data.experimental.scan": "initial_state scan_func",
    "tensorflow.data.experimental.shuffle_and_repeat": "buffer_size count seed",
    "tensorflow.data.experimental.take_while": "predicate",
    "tensorflow.data.experimental.TFRecordWriter.write": "dataset",
    # TensorFlow itself.
    "tensorflow.GradientTape.gradient": "target sources output_gradients unconnected_gradients",
    "tensorflow.GradientTape.watch": "tensor",
    "tensorflow.Variable.assign": "value use_locking name read_value",
    "tensorflow.Variable.assign_add": "delta use_locking name read_value",
    "tensorflow.Variable.assign_sub": "delta use_locking name read_value",
    "tensorflow.cast": "x dtype name",
    "tensorflow.device": "device_name",
    "tensorflow.ensure_shape": "x shape name",
    "tensorflow.function": (
        "func input_signature autograph ... jit_compile reduce_retracing experimental_relax_shapes experimental_compile "
        "experimental_follow_type_hints"
    ),
    "tensorflow.map_fn": "fn elems dtype parallel_iterations back_prop swap_memory infer_shape name fn_output_signature",
    "tensorflow.norm": "tensor ord axis ...",
    "tensorflow.numpy_function": "func inp Tout stateful name",
    "tensorflow.one_hot": "indices depth on_value off_value axis dtype name",
    "tensorflow.py_function": "func inp Tout ...",
    **dict.fromkeys(
        (
            f"tensorflow.{space}reduce_{name}"
            for space in ("", "math.")
            for name in "all any euclidean_norm logsumexp max mean min prod std sum variance".split()
        ),
        _REDUCTION,
    ),
    "tensorflow.reshape": "tensor shape name",
    "tensorflow.scan": "fn elems initializer parallel_iterations back_prop swap_memory infer_shape reverse name",
    "tensorflow.split": "value num_or_size_splits axis num name",
    "tensorflow.squeeze": "input axis name ...",
    "tensorflow.transpose": "a perm ...",
    "tensorflow.unstack": "value num axis name",
    "tensorflow.vectorized_map": "fn elems ...",
    "tensorflow.where": "condition x y name",
    "tensorflow.image.convert_image_dtype": "image dtype saturate name",
    "tensorflow.image.crop_to_bounding_box": "image offset_height offset_width target_height target_width",
    "tensorflow.image.random_crop": "value size seed name",
    "tensorflow.image.resize": "images size method ...",
    "tensorflow.image.resize_with_crop_or_pad": "image target_height target_width",
    "tensorflow.image.resize_with_pad": "image target_height target_width method antialias",
    "tensorflow.io.gfile.glob": "pattern",
    "tensorflow.io.parse_example": "serialized features ...",
    "tensorflow.io.parse_single_example": "serialized features ...",
    "tensorflow.config.experimental.set_memory_growth": "device enable",
    "tensorflow.config.list_logical_devices": "device_type",
    "tensorflow.config.list_physical_devices": "device_type",
    "tensorflow.config.run_functions_eagerly": "run_eagerly",
    "tensorflow.config.set_logical_device_configuration": "device logical_devices",
    "tensorflow.config.set_visible_devices": "devices device_type",
    "tensorflow.debugging.set_log_device_placement": "enabled",
    "tensorflow.distribute.MirroredStrategy": "devices cross_device_ops",
    "tensorflow.distribute.MultiWorkerMirroredStrategy": "cluster_resolver ...",
    "tensorflow.distribute.ParameterServerStrategy": "cluster_resolver ...",
    "tensorflow.distribute.TPUStrategy": "tpu_cluster_resolver ...",
    **dict.fromkeys(
        (f"tensorflow.distribute.Strategy.{name}" for name in ("run", "experimental_run_v2", "call_for_each_replica")),
        "fn args kwargs ...",
    ),
    "tensorflow.distribute.Strategy.distribute_datasets_from_function": "dataset_fn options",
    "tensorflow.distribute.Strategy.experimental_distribute_dataset": "dataset options",
    "tensorflow.distribute.Strategy.experimental_distribute_datasets_from_function": "dataset_fn options",
    # Python, NumPy and other libraries.
    **dict.fromkeys((f"builtins.dict.{name}" for name in ("get", "pop", "setdefault")), "key default"),
    "builtins.dict.update": "other",
    "builtins.list": "iterable",
    "builtins.list.extend": "iterable",
    "builtins.object.__setattr__": "name value",
    "builtins.open": "file mode ...",
    "functools.partial": "func ...",
    "functools.partialmethod": "func ...",
    **dict.fromkeys(("os.environ.__setitem__", "os.environ.setdefault", "os.putenv"), "key value"),
    "numpy.array": "object dtype ...",
    "numpy.asarray": "a dtype ...",
    "numpy.asanyarray": "a dtype ...",
    "numpy.diff": "a n axis ...",
    "numpy.empty": "shape dtype ...",
    "numpy.expand_dims": "a axis",
    "numpy.full": "shape fill_value dtype ...",
    **dict.fromkeys((f"numpy.{name}" for name in ("geomspace", "linspace", "logspace")), "start stop num ..."),
    "numpy.ndarray.astype": "dtype order casting subok copy",
    "numpy.ones": "shape dtype ...",
    "numpy.zeros": "shape dtype ...",
    **{
        f"{owner}.{name}": text
        for owner in ("numpy.random", "numpy.random.RandomState", "numpy.random.default_rng")
        for name, text in {
            **dict.fromkeys(("random", "random_sample", "standard_normal"), "size ..."),
            **dict.fromkeys(("integers", "randint", "uniform"), "low high size ..."),
            **dict.fromkeys(("laplace", "logistic", "normal", "gumbel"), "loc scale size"),
            "beta": "a b size",
            "binomial": "n p size",
            "choice": "a size ...",
            "exponential": "scale size",
            "gamma": "shape scale size",
            "lognormal": "mean sigma size",
            "poisson": "lam size",
        }.items()
    },
    "cv2.resize": "src dsize ...",
    "cv2.waitKey": "delay",
    "pandas.get_dummies": "data ...",
    **dict.fromkeys(
        (
            f"keras_tuner.{space}{name}"
            for space in ("", "tuners.")
            for name in "BayesianOptimization GridSearch Hyperband RandomSearch".split()
        ),
        _TUNER,
    ),
    "keras_tuner.HyperParameters.Choice": "name values ordered default ...",
    "keras_tuner.HyperParameters.Int": "name min_value max_value step sampling default ...",
    **dict.fromkeys(
        (
            f"{package}.layers.Transformer{part}"
            for package in ("keras_hub", "keras_nlp")
            for part in ("Encoder", "Decoder")
        ),
        "intermediate_dim num_heads ...",
    ),
    "tensorflow_datasets.load": "name * split with_info shuffle_files",
    "tensorflow_datasets.as_dataset": "split * batch_size shuffle_files",
    "transformers.prepare_tf_dataset": "dataset batch_size ... shuffle",
    "transformers.to_tf_dataset": "... batch_size columns shuffle",
}
"""Signatures by canonical name; if releases differ, by the first release with the parameters, newest first.

That is the release of TensorFlow for ``tensorflow`` and for ``tf.keras`` 2, of Keras otherwise. A class has the parameters of its
constructor.
"""

OTHER_NAMES: dict[str, tuple[str, ...]] = {"x": ("generator",), "epochs": ("nb_epoch",)}
"""Alternative names of parameters: in methods for generators, and in Keras 1.

Source: ``keras/legacy/interfaces.py`` of Keras 2.2.4.
"""

_METHODS: dict[str, str] = {
    name.rpartition(".")[2]: name for name in SIGNATURES if name.rpartition(".")[0] in ("keras.Model", "numpy.ndarray")
}
"""Methods recognised by their name, whatever their receiver."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a callable.

    Attributes:
        names: the parameter at each position, None if unknown.
        positions: the position of each parameter, if known.
        open: the first position with an unknown parameter; infinite if all are known.
        keywords: keyword-only parameters.
        elsewhere: parameters at unknown positions, and those of other releases.
    """

    names: tuple[str | None, ...]
    positions: dict[str, int]
    open: float
    keywords: frozenset[str]
    elsewhere: frozenset[str]

    def __contains__(self, parameter: object) -> bool:
        return not self.parameters().isdisjoint((parameter, *OTHER_NAMES.get(str(parameter), ())))

    def parameters(self) -> frozenset[str]:
        """Return all known parameters."""
        return frozenset((*self.positions, *self.keywords, *self.elsewhere))

    def places(self, parameter: str) -> Iterator[tuple[int | None, str]]:
        """Yield the possible position and keyword of an argument for a parameter, under each of its names."""
        for name in (parameter, *OTHER_NAMES.get(parameter, ())):
            yield self.positions.get(name), name

    def may_hold(self, count: int, parameter: str) -> bool:
        """Whether one of the first ``count`` positions may belong to a parameter, given the unknown positions."""
        return count > self.open and parameter not in self.positions and parameter not in self.keywords


NO_SIGNATURE = Signature((), {}, float("inf"), frozenset(), frozenset())
"""The signature of unknown callables: arguments are matched by keyword only."""


@cache
def read(text: str) -> Signature:
    """Parse a signature in the notation of the table."""
    names: list[str | None] = []
    opened, keywords, elsewhere = float("inf"), set[str](), set[str]()
    into: set[str] | None = None
    for word in text.split():
        if word in ("?", "..."):
            opened = min(opened, len(names))
        if word == "...":
            into = elsewhere
        elif word == "*":
            into = keywords
        elif word.startswith("**"):
            inherited = SIGNATURES[word[2:]]
            assert isinstance(inherited, str)
            keywords |= read(inherited).keywords - {*names} - elsewhere
        elif into is not None:
            into.add(word)
        else:
            names.append(None if word == "?" else word)
    positions = {name: place for place, name in enumerate(names) if name is not None}
    return Signature(tuple(names), positions, opened, frozenset(keywords), frozenset(elsewhere))


@cache
def signature_of(name: str | None, attribute: str | None, tensorflow: Release, keras: Release) -> Signature:
    """Return the signature of a callable by canonical name, or of a method recognised by its name.

    Returns :data:`NO_SIGNATURE` for names that are not in the table. If these releases lack the callable, returns the signature of the
    last release that has it.
    """
    known = SIGNATURES.get(_class_of(name)) if name is not None else None
    if known is None:
        name = _METHODS.get(attribute or "")
        known = SIGNATURES[name] if name is not None else None
    if known is None or isinstance(known, str):
        return NO_SIGNATURE if known is None else read(known)
    release = keras if name is not None and name.startswith("keras.") else tensorflow
    taken = read(next((text for since, text in known.items() if since <= release), "..."))
    others = frozenset(parameter for text in known.values() for parameter in read(text).parameters())
    return replace(taken, elsewhere=taken.elsewhere | others - taken.parameters())


def _class_of(name: str) -> str:
    """Return the class for its constructor, and one name for all assignments to attributes and to items."""
    owner, _, last = name.rpartition(".")
    if last == "__setattr__":
        return "builtins.object.__setattr__"
    return owner if last == "__init__" else name
