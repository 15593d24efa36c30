"""A graph and a session of TensorFlow 1."""

import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
    print(session.run(x * 2, {x: [[1, 2, 3, 4]]}))
