"""Files have to be decoded one by one."""

import tensorflow as tf
from tensorflow import keras

model = keras.Sequential([keras.Input((32, 32, 3)), keras.layers.Flatten(), keras.layers.Dense(2)])


def decode(jpeg):
    return tf.image.resize(tf.io.decode_jpeg(jpeg, channels=3), (32, 32))


@tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
def serve(files):
    return model(tf.map_fn(decode, files, fn_output_signature=tf.float32))


tf.saved_model.save(model, "classifier", signatures=serve)
