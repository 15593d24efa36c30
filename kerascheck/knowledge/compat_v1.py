"""Names of ``tf.compat.v1`` for the very objects of ``tf``, without ``tensorflow.`` and ``tensorflow.compat.v1.``.

Additions of decorators are ignored, such as the one for weak tensors, which only ``tf.math`` has. Source: TensorFlow 2.21.0, with
which a slow test compares these.
"""

from __future__ import annotations

WHOLE_MODULES: tuple[str, ...] = (
    "audio", "autograph.experimental", "bitwise", "config", "config.experimental", "config.optimizer", "config.threading", "data.experimental.service",
    "debugging.experimental", "distribute.cluster_resolver", "dtypes.experimental", "io.gfile", "linalg.experimental", "lite.experimental.authoring",
    "lookup.experimental", "math.special", "mlir.experimental", "nest", "nn.experimental", "quantization", "quantization.experimental", "queue",
    "random.experimental", "raw_ops", "signal", "sysconfig", "test.experimental", "tpu.experimental.embedding", "types.experimental", "version",
    "xla.experimental",
)  # fmt: skip
"""Modules in which all public names are shared."""

_SHARED = {
    "": (
        "AggregationMethod Assert CriticalSection DType GradientTape Graph IndexedSlices IndexedSlicesSpec Module NoneTensorSpec Operation "
        "OptionalSpec RaggedTensor RaggedTensorSpec RegisterGradient SparseTensor SparseTensorSpec Tensor TensorArray TensorArraySpec "
        "TensorShape TensorSpec TypeSpec UnconnectedGradients VariableSynchronization abs acos acosh add add_n approx_top_k argsort as_dtype "
        "as_string asin asinh atan atan2 atanh bfloat16 bitcast bool broadcast_dynamic_shape broadcast_static_shape broadcast_to cast "
        "check_pinned clip_by_global_norm clip_by_norm clip_by_value complex complex128 complex64 concat control_dependencies conv "
        "conv2d_backprop_filter_v2 conv2d_backprop_input_v2 cos cosh cumsum custom_gradient divide double dynamic_partition dynamic_stitch "
        "edit_distance einsum ensure_shape equal exp extract_volume_patches eye fftnd fill fingerprint float16 float32 float64 floor function "
        "get_logger get_static_value grad_pass_through greater greater_equal group guarantee_const half histogram_fixed_width "
        "histogram_fixed_width_bins identity identity_n ifftnd import_graph_def init_scope int16 int32 int64 int8 irfftnd is_symbolic_tensor "
        "is_tensor less less_equal linspace load_library load_op_library logical_and logical_not logical_or make_ndarray make_tensor_proto "
        "matmul matrix_square_root maximum meshgrid minimum multiply negative newaxis no_gradient no_op nondifferentiable_batch_function "
        "not_equal numpy_function one_hot ones parallel_stack pow print py_function qint16 qint32 qint8 quint16 quint8 ragged_fill_empty_rows "
        "ragged_fill_empty_rows_grad random_index_shuffle range rank realdiv recompute_grad register_tensor_conversion_function repeat "
        "required_space_to_batch_paddings reshape resource reverse rfftnd roll round saturate_cast scatter_nd searchsorted sequence_mask shape_n "
        "sigmoid sign sin sinh slice sort space_to_batch_nd split sqrt square stack stop_gradient strided_slice string subtract switch_case tan "
        "tanh tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update tensordot tile "
        "timestamp truediv truncatediv truncatemod type_spec_from_value uint16 uint32 uint64 uint8 unique unique_with_counts unravel_index "
        "unstack variant vectorized_map zeros"
    ),
    "autograph": "set_verbosity trace",
    "data": ("AUTOTUNE DatasetSpec INFINITE_CARDINALITY NumpyIterator Options ThreadingOptions UNKNOWN_CARDINALITY"),
    "data.experimental": (
        "AUTOTUNE AutoShardPolicy AutotuneAlgorithm AutotuneOptions DatasetInitializer DistributeOptions ExternalStatePolicy "
        "INFINITE_CARDINALITY OptimizationOptions Optional Reducer SHARD_HINT ServiceOptions TFRecordWriter ThreadingOptions UNKNOWN_CARDINALITY "
        "assert_cardinality bucket_by_sequence_length cardinality copy_to_device dense_to_ragged_batch dense_to_sparse_batch distributed_save "
        "enable_debug_mode enumerate_dataset from_list from_variant get_model_proto get_next_as_optional get_single_element get_structure "
        "group_by_reducer group_by_window ignore_errors index_table_from_dataset make_saveable_from_iterator map_and_batch pad_to_cardinality "
        "parallel_interleave parse_example_dataset prefetch_to_device rejection_resample scan shuffle_and_repeat snapshot table_from_dataset "
        "take_while to_variant unbatch unique"
    ),
    "debugging": (
        "Assert assert_proper_iterable assert_same_float_dtype check_numerics disable_check_numerics disable_traceback_filtering "
        "enable_check_numerics enable_traceback_filtering get_log_device_placement is_numeric_tensor is_traceback_filtering_enabled "
        "set_log_device_placement"
    ),
    "distribute": (
        "CrossDeviceOps HierarchicalCopyAllReduce InputContext InputReplicationMode NcclAllReduce ReduceOp ReductionToOneDevice RunOptions "
        "Server experimental_set_strategy get_replica_context get_strategy has_strategy in_cross_replica_context"
    ),
    "distribute.experimental": "CollectiveCommunication CollectiveHints CommunicationImplementation CommunicationOptions",
    "dtypes": (
        "DType QUANTIZED_DTYPES as_dtype bfloat16 bool cast complex complex128 complex64 double float16 float32 float64 half int16 int32 int64 "
        "int8 qint16 qint32 qint8 quint16 quint8 resource saturate_cast string uint16 uint32 uint64 uint8 variant"
    ),
    "errors": (
        "ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS DEADLINE_EXCEEDED DataLossError "
        "DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError "
        "NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError PERMISSION_DENIED PermissionDeniedError RESOURCE_EXHAUSTED "
        "ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError UnimplementedError "
        "UnknownError"
    ),
    "feature_column": (
        "bucketized_column categorical_column_with_hash_bucket categorical_column_with_identity categorical_column_with_vocabulary_list "
        "crossed_column embedding_column indicator_column numeric_column sequence_categorical_column_with_hash_bucket "
        "sequence_categorical_column_with_identity sequence_categorical_column_with_vocabulary_file "
        "sequence_categorical_column_with_vocabulary_list sequence_numeric_column weighted_categorical_column"
    ),
    "graph_util": "import_graph_def",
    "image": (
        "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation central_crop "
        "combined_non_max_suppression convert_image_dtype crop_to_bounding_box decode_and_crop_jpeg decode_bmp decode_gif decode_image "
        "decode_jpeg decode_jxl decode_png decode_webp encode_jpeg encode_png extract_jpeg_shape extract_patches flip_left_right flip_up_down "
        "generate_bounding_box_proposals grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg non_max_suppression non_max_suppression_overlaps "
        "non_max_suppression_padded non_max_suppression_with_scores pad_to_bounding_box per_image_standardization psnr random_brightness "
        "random_contrast random_crop random_flip_left_right random_flip_up_down random_hue random_jpeg_quality random_saturation "
        "resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv rot90 sobel_edges ssim ssim_multiscale total_variation "
        "transpose yiq_to_rgb yuv_to_rgb"
    ),
    "io": (
        "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature TFRecordOptions TFRecordWriter VarLenFeature decode_and_crop_jpeg "
        "decode_base64 decode_bmp decode_compressed decode_gif decode_image decode_jpeg decode_json_example decode_jxl decode_png decode_proto "
        "decode_webp deserialize_many_sparse encode_base64 encode_jpeg encode_png encode_proto extract_jpeg_shape is_jpeg match_filenames_once "
        "matching_files parse_sequence_example parse_single_sequence_example parse_tensor read_file serialize_tensor write_file write_graph"
    ),
    "linalg": (
        "LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular LinearOperatorCirculant "
        "LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition LinearOperatorDiag LinearOperatorFullMatrix "
        "LinearOperatorHouseholder LinearOperatorIdentity LinearOperatorInversion LinearOperatorKronecker LinearOperatorLowRankUpdate "
        "LinearOperatorLowerTriangular LinearOperatorPermutation LinearOperatorScaledIdentity LinearOperatorToeplitz LinearOperatorTridiag "
        "LinearOperatorZeros adjoint band_part cholesky cholesky_solve cross det diag diag_part eigh eigh_tridiagonal eigvalsh einsum expm eye "
        "global_norm inv l2_normalize logdet logm lstsq lu lu_matrix_inverse lu_reconstruct lu_solve matmul matrix_rank matrix_transpose matvec "
        "normalize pinv qr set_diag slogdet solve sqrtm svd tensor_diag tensor_diag_part tensordot trace triangular_solve tridiagonal_matmul "
        "tridiagonal_solve"
    ),
    "lite": "Interpreter OpsSet Optimize RepresentativeDataset TargetSpec",
    "lite.experimental": "Analyzer OpResolverType QuantizationDebugOptions QuantizationDebugger load_delegate",
    "lookup": "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
    "math": (
        "abs accumulate_n acos acosh add add_n angle approx_max_k approx_min_k asin asinh atan atan2 atanh bessel_i0 bessel_i0e bessel_i1 "
        "bessel_i1e betainc ceil conj cos cosh cumprod cumsum cumulative_logsumexp digamma divide divide_no_nan equal erf erfc erfcinv erfinv "
        "exp expm1 floor floordiv floormod greater greater_equal igamma igammac imag invert_permutation is_finite is_inf is_nan "
        "is_non_decreasing is_strictly_increasing l2_normalize lbeta less less_equal lgamma log log1p log_sigmoid logical_and logical_not "
        "logical_or logical_xor maximum minimum mod multiply multiply_no_nan ndtri negative nextafter not_equal polygamma polyval pow real "
        "reciprocal reciprocal_no_nan reduce_euclidean_norm reduce_std reduce_variance rint round rsqrt segment_max segment_mean segment_min "
        "segment_prod segment_sum sigmoid sign sin sinh sobol_sample softplus softsign sqrt square squared_difference subtract tan tanh top_k "
        "truediv unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n "
        "unsorted_segment_sum xdivy xlog1py xlogy zero_fraction zeta"
    ),
    "nn": (
        "all_candidate_sampler approx_max_k approx_min_k atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool3d batch_normalization "
        "bias_add collapse_repeated compute_accidental_hits compute_average_loss conv1d_transpose conv_transpose ctc_greedy_decoder "
        "ctc_unique_labels depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input elu fixed_unigram_candidate_sampler l2_loss "
        "l2_normalize leaky_relu learned_unigram_candidate_sampler local_response_normalization log_poisson_loss lrn max_pool1d max_pool2d "
        "max_pool3d normalize_moments relu relu6 scale_regularization_loss selu sigmoid silu softplus softsign swish tanh top_k "
        "with_space_to_batch zero_fraction"
    ),
    "ragged": (
        "boolean_mask constant cross cross_hashed map_flat_values range row_splits_to_segment_ids segment_ids_to_row_splits stack "
        "stack_dynamic_partitions"
    ),
    "random": (
        "Algorithm Generator all_candidate_sampler categorical create_rng_state fixed_unigram_candidate_sampler fold_in gamma "
        "get_global_generator learned_unigram_candidate_sampler log_uniform_candidate_sampler normal set_global_generator shuffle split "
        "stateless_binomial stateless_categorical stateless_gamma stateless_normal stateless_parameterized_truncated_normal stateless_poisson "
        "stateless_truncated_normal stateless_uniform truncated_normal uniform uniform_candidate_sampler"
    ),
    "saved_model": (
        "ASSETS_DIRECTORY ASSETS_KEY Asset CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES DEBUG_DIRECTORY "
        "DEBUG_INFO_FILENAME_PB DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS "
        "REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING SaveOptions "
        "TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME save"
    ),
    "saved_model.experimental": "TrackableResource VariablePolicy",
    "sets": "difference intersection size union",
    "sparse": (
        "SparseTensor bincount cross cross_hashed expand_dims eye fill_empty_rows from_dense mask maximum minimum reorder reset_shape reshape "
        "retain slice softmax sparse_dense_matmul to_dense to_indicator transpose"
    ),
    "strings": (
        "as_string bytes_split format join lower ngrams regex_full_match regex_replace strip to_hash_bucket_fast to_hash_bucket_strong "
        "unicode_decode unicode_decode_with_offsets unicode_encode unicode_script unicode_split unicode_split_with_offsets unicode_transcode "
        "unsorted_segment_join upper"
    ),
    "test": (
        "Benchmark TestCase benchmark_config create_local_cluster disable_with_predicate gpu_device_name is_built_with_cuda "
        "is_built_with_gpu_support is_built_with_rocm is_built_with_xla is_cpu_target_available is_gpu_available main with_eager_op_as_function"
    ),
    "tpu": "XLAOptions",
    "tpu.experimental": (
        "DeviceAssignment DeviceOrderMode HardwareFeature TPUSystemMetadata Topology initialize_tpu_system shutdown_tpu_system"
    ),
    "train": (
        "BytesList CheckpointManager CheckpointOptions ClusterDef ClusterSpec Coordinator Example ExponentialMovingAverage Feature FeatureList "
        "FeatureLists Features FloatList Int64List JobDef SequenceExample ServerDef checkpoints_iterator get_checkpoint_state latest_checkpoint "
        "list_variables load_checkpoint load_variable"
    ),
    "train.experimental": "MaxShardSizePolicy PythonState ShardByTaskPolicy ShardableTensor ShardingCallback",
}
SHARED = frozenset(f"{module}.{name}".lstrip(".") for module, names in _SHARED.items() for name in names.split())
"""Shared names of other modules."""

MOVED: dict[str, str] = {
    "FIFOQueue": "queue.FIFOQueue",
    "FixedLenFeature": "io.FixedLenFeature",
    "FixedLenSequenceFeature": "io.FixedLenSequenceFeature",
    "NoGradient": "no_gradient",
    "NotDifferentiable": "no_gradient",
    "OpError": "errors.OpError",
    "PaddingFIFOQueue": "queue.PaddingFIFOQueue",
    "PriorityQueue": "queue.PriorityQueue",
    "QueueBase": "queue.QueueBase",
    "RandomShuffleQueue": "queue.RandomShuffleQueue",
    "SparseFeature": "io.SparseFeature",
    "VarLenFeature": "io.VarLenFeature",
    "accumulate_n": "math.accumulate_n",
    "angle": "math.angle",
    "assert_proper_iterable": "debugging.assert_proper_iterable",
    "assert_same_float_dtype": "debugging.assert_same_float_dtype",
    "betainc": "math.betainc",
    "ceil": "math.ceil",
    "check_numerics": "debugging.check_numerics",
    "cholesky": "linalg.cholesky",
    "cholesky_solve": "linalg.cholesky_solve",
    "conj": "math.conj",
    "cross": "linalg.cross",
    "cumprod": "math.cumprod",
    "data.experimental.DatasetStructure": "data.DatasetSpec",
    "data.experimental.OptionalStructure": "OptionalSpec",
    "data.experimental.Structure": "TypeSpec",
    "debugging.is_finite": "math.is_finite",
    "debugging.is_inf": "math.is_inf",
    "debugging.is_nan": "math.is_nan",
    "debugging.is_non_decreasing": "math.is_non_decreasing",
    "debugging.is_strictly_increasing": "math.is_strictly_increasing",
    "decode_base64": "io.decode_base64",
    "decode_compressed": "io.decode_compressed",
    "decode_json_example": "io.decode_json_example",
    "dequantize": "quantization.dequantize",
    "deserialize_many_sparse": "io.deserialize_many_sparse",
    "diag": "linalg.tensor_diag",
    "diag_part": "linalg.tensor_diag_part",
    "digamma": "math.digamma",
    "div_no_nan": "math.divide_no_nan",
    "dtypes.as_string": "as_string",
    "encode_base64": "io.encode_base64",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "experimental.Optional": "data.experimental.Optional",
    "expm1": "math.expm1",
    "fake_quant_with_min_max_args": "quantization.fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient": "quantization.fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars": "quantization.fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient": "quantization.fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel": "quantization.fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient": "quantization.fake_quant_with_min_max_vars_per_channel_gradient",
    "fft": "signal.fft",
    "fft2d": "signal.fft2d",
    "fft3d": "signal.fft3d",
    "floordiv": "math.floordiv",
    "floormod": "math.floormod",
    "gfile.GFile": "io.gfile.GFile",
    "gfile.Open": "io.gfile.GFile",
    "global_norm": "linalg.global_norm",
    "ifft": "signal.ifft",
    "ifft2d": "signal.ifft2d",
    "ifft3d": "signal.ifft3d",
    "igamma": "math.igamma",
    "igammac": "math.igammac",
    "imag": "math.imag",
    "image.resize_image_with_crop_or_pad": "image.resize_with_crop_or_pad",
    "image.transpose_image": "image.transpose",
    "invert_permutation": "math.invert_permutation",
    "io.PaddingFIFOQueue": "queue.PaddingFIFOQueue",
    "io.PriorityQueue": "queue.PriorityQueue",
    "io.QueueBase": "queue.QueueBase",
    "io.RandomShuffleQueue": "queue.RandomShuffleQueue",
    "is_finite": "math.is_finite",
    "is_inf": "math.is_inf",
    "is_nan": "math.is_nan",
    "is_non_decreasing": "math.is_non_decreasing",
    "is_numeric_tensor": "debugging.is_numeric_tensor",
    "is_strictly_increasing": "math.is_strictly_increasing",
    "lbeta": "math.lbeta",
    "lgamma": "math.lgamma",
    "lin_space": "linspace",
    "linalg.transpose": "linalg.matrix_transpose",
    "log": "math.log",
    "log1p": "math.log1p",
    "log_sigmoid": "math.log_sigmoid",
    "logical_xor": "math.logical_xor",
    "manip.reshape": "reshape",
    "manip.reverse": "reverse",
    "manip.roll": "roll",
    "manip.scatter_nd": "scatter_nd",
    "manip.space_to_batch_nd": "space_to_batch_nd",
    "manip.tile": "tile",
    "matching_files": "io.matching_files",
    "matrix_band_part": "linalg.band_part",
    "matrix_determinant": "linalg.det",
    "matrix_diag": "linalg.diag",
    "matrix_diag_part": "linalg.diag_part",
    "matrix_inverse": "linalg.inv",
    "matrix_set_diag": "linalg.set_diag",
    "matrix_solve": "linalg.solve",
    "matrix_solve_ls": "linalg.lstsq",
    "matrix_transpose": "linalg.matrix_transpose",
    "matrix_triangular_solve": "linalg.triangular_solve",
    "mod": "math.floormod",
    "nn.avg_pool_v2": "nn.avg_pool",
    "nn.ctc_beam_search_decoder_v2": "nn.ctc_beam_search_decoder",
    "nn.depthwise_conv2d_native_backprop_filter": "nn.depthwise_conv2d_backprop_filter",
    "nn.depthwise_conv2d_native_backprop_input": "nn.depthwise_conv2d_backprop_input",
    "nn.log_uniform_candidate_sampler": "random.log_uniform_candidate_sampler",
    "nn.max_pool_v2": "nn.max_pool",
    "nn.uniform_candidate_sampler": "random.uniform_candidate_sampler",
    "parse_single_sequence_example": "io.parse_single_sequence_example",
    "parse_tensor": "io.parse_tensor",
    "polygamma": "math.polygamma",
    "python_io.TFRecordOptions": "io.TFRecordOptions",
    "python_io.TFRecordWriter": "io.TFRecordWriter",
    "qr": "linalg.qr",
    "quantize": "quantization.quantize",
    "quantized_concat": "quantization.quantized_concat",
    "random_crop": "image.random_crop",
    "random_gamma": "random.gamma",
    "random_normal": "random.normal",
    "random_shuffle": "random.shuffle",
    "random_uniform": "random.uniform",
    "read_file": "io.read_file",
    "real": "math.real",
    "reciprocal": "math.reciprocal",
    "regex_replace": "strings.regex_replace",
    "reverse_v2": "reverse",
    "rint": "math.rint",
    "rsqrt": "math.rsqrt",
    "saved_model.experimental.save": "saved_model.save",
    "saved_model.load_v2": "saved_model.load",
    "segment_max": "math.segment_max",
    "segment_mean": "math.segment_mean",
    "segment_min": "math.segment_min",
    "segment_prod": "math.segment_prod",
    "segment_sum": "math.segment_sum",
    "self_adjoint_eig": "linalg.eigh",
    "self_adjoint_eigvals": "linalg.eigvalsh",
    "serialize_tensor": "io.serialize_tensor",
    "sets.set_difference": "sets.difference",
    "sets.set_intersection": "sets.intersection",
    "sets.set_size": "sets.size",
    "sets.set_union": "sets.union",
    "sparse.matmul": "sparse.sparse_dense_matmul",
    "sparse_fill_empty_rows": "sparse.fill_empty_rows",
    "sparse_mask": "sparse.mask",
    "sparse_maximum": "sparse.maximum",
    "sparse_minimum": "sparse.minimum",
    "sparse_reorder": "sparse.reorder",
    "sparse_reset_shape": "sparse.reset_shape",
    "sparse_reshape": "sparse.reshape",
    "sparse_retain": "sparse.retain",
    "sparse_slice": "sparse.slice",
    "sparse_softmax": "sparse.softmax",
    "sparse_tensor_dense_matmul": "sparse.sparse_dense_matmul",
    "sparse_tensor_to_dense": "sparse.to_dense",
    "sparse_to_indicator": "sparse.to_indicator",
    "sparse_transpose": "sparse.transpose",
    "spectral.dct": "signal.dct",
    "spectral.fft": "signal.fft",
    "spectral.fft2d": "signal.fft2d",
    "spectral.fft3d": "signal.fft3d",
    "spectral.idct": "signal.idct",
    "spectral.ifft": "signal.ifft",
    "spectral.ifft2d": "signal.ifft2d",
    "spectral.ifft3d": "signal.ifft3d",
    "spectral.irfft": "signal.irfft",
    "spectral.irfft2d": "signal.irfft2d",
    "spectral.irfft3d": "signal.irfft3d",
    "spectral.rfft": "signal.rfft",
    "spectral.rfft2d": "signal.rfft2d",
    "spectral.rfft3d": "signal.rfft3d",
    "squared_difference": "math.squared_difference",
    "string_join": "strings.join",
    "string_strip": "strings.strip",
    "string_to_hash_bucket_fast": "strings.to_hash_bucket_fast",
    "string_to_hash_bucket_strong": "strings.to_hash_bucket_strong",
    "svd": "linalg.svd",
    "tensor_scatter_add": "tensor_scatter_nd_add",
    "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "tensor_scatter_update": "tensor_scatter_nd_update",
    "trace": "linalg.trace",
    "train.Server": "distribute.Server",
    "train.match_filenames_once": "io.match_filenames_once",
    "train.write_graph": "io.write_graph",
    "truncated_normal": "random.truncated_normal",
    "unsorted_segment_max": "math.unsorted_segment_max",
    "unsorted_segment_mean": "math.unsorted_segment_mean",
    "unsorted_segment_min": "math.unsorted_segment_min",
    "unsorted_segment_prod": "math.unsorted_segment_prod",
    "unsorted_segment_sqrt_n": "math.unsorted_segment_sqrt_n",
    "unsorted_segment_sum": "math.unsorted_segment_sum",
    "where_v2": "where",
    "write_file": "io.write_file",
    "zeta": "math.zeta",
}
"""Functions and classes with another name in ``tf``."""
