"""A module of functions: the policy is for the script that imports them to set."""

import keras


def build_backbone(width=512, depth=4):
    inputs = keras.Input((224, 224, 3))
    x = inputs
    for _ in range(depth):
        x = keras.layers.Conv2D(width, 3, strides=2, activation="relu")(x)
    return keras.Model(inputs, x)


def fit_with_early_stopping(model, dataset, validation, epochs=100):
    stop = keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True)
    return model.fit(dataset, validation_data=validation, epochs=epochs, callbacks=[stop])
