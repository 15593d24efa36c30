"""Written for the sessions of TensorFlow 1: the rules on pipelines do not speak of it."""

import tensorflow as tf

dataset = tf.data.Dataset.range(100).shuffle(100).cache().batch(8)
element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
with tf.compat.v1.Session() as session:
    for step in range(1000):
        session.run(element)
