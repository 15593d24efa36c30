"""tf.keras 2 folds the time axis into the batch by itself: a convolution over frames is one call."""

import tf_keras as keras
from tf_keras.layers import Conv2D, Input, TimeDistributed

film = keras.Sequential([Input((20, 32, 32, 3)), TimeDistributed(Conv2D(8, 3))])
