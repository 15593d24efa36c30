"""predict() in a loop where the loop is not over items or batches, or is not Keras'."""

import joblib
import keras
import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from sklearn.model_selection import KFold

x, y = np.load("x.npy"), np.load("y.npy")
x_test, y_test = np.load("x_test.npy"), np.load("y_test.npy")


def build():
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def ensemble(models):
    # The loop is over models: each predicts the whole array once.
    return np.mean([model.predict(x_test) for model in models], axis=0)


def best(paths):
    # The same, with the models read from files.
    scores = {}
    for path in paths:
        model = keras.models.load_model(path)
        scores[path] = float(np.mean((model.predict(x_test) - y_test) ** 2))
    return min(scores, key=scores.get)


def cross_validate():
    # The loop is over folds: each fold has a model and a test set of its own.
    errors = []
    for train, test in KFold(5).split(x):
        model = build()
        model.fit(x[train], y[train], epochs=10)
        errors.append(np.abs(model.predict(x[test]) - y[test]).mean())
    return errors


def compare(model, train_ds, val_ds, test_ds):
    # The loop is over whole datasets.
    for name, dataset in {"train": train_ds, "validation": val_ds, "test": test_ds}.items():
        print(name, model.predict(dataset).mean())


def progress(model):
    # The whole array, once in each of a few rounds of training.
    curve = []
    for epochs in (1, 5, 25):
        model.fit(x, y, epochs=epochs)
        curve.append(model.predict(x_test).std())
    return curve


class Snapshot(keras.callbacks.Callback):
    # The whole array, once per epoch.
    def on_epoch_end(self, epoch, logs=None):
        np.save(f"outputs_{epoch}.npy", self.model.predict(x_test, verbose=0))


def show(model, dataset):
    # One batch is all the loop gets.
    for features, labels in dataset.take(1):
        print(labels, model.predict(features))


def plot(model):
    # Nine pictures to look at.
    for i in range(9):
        plt.subplot(3, 3, i + 1)
        plt.title(model.predict(x_test[i : i + 1])[0, 0])
    for row in x_test[:5]:
        print(model.predict(row[None]))


def gallery(model):
    # A picture for each item: drawing it takes longer than predict.
    for i, row in enumerate(x_test):
        plt.plot(model.predict(row[None])[0])
        plt.savefig(f"{i}.png")


def ask(model):
    # The loop waits for a person.
    while True:
        i = int(input("row: "))
        print(model.predict(x_test[i : i + 1]))


def grid(model):
    # Nine calls in all.
    for i in range(3):
        for j in range(3):
            print(model.predict(x_test[i + j : i + j + 1]))


def on_batches(model):
    # What the rule asks for.
    outputs = [model.predict_on_batch(x_test[i : i + 32]) for i in range(0, len(x_test), 32)]
    for i in range(0, len(x_test), 32):
        outputs.append(model(x_test[i : i + 32], training=False).numpy())
    return np.concatenate(outputs)


def whole(model):
    # One call before the loop; the loop only reads its result.
    for row, output in zip(x_test, model.predict(x_test, batch_size=256)):
        print(row, output)


def days(models, weeks):
    # For each model, each turn predicts a whole array.
    totals = []
    for model in models:
        for week in weeks:
            totals.append(model.predict(week[:, :4]))
    return totals


def forest():
    # The models of other libraries have a predict() without a pipeline of its own.
    classifier = joblib.load("forest.joblib")
    return [classifier.predict(row[None]) for row in x_test]


class Average:
    def predict(self, row):
        return row.mean()


def baseline():
    # So have classes of one's own.
    average = Average()
    return [average.predict(row) for row in x_test]


def shards(model, paths):
    # Each item is a file with a whole array, more than fits into memory at once.
    for path in paths:
        np.save(path.replace(".npy", "_out.npy"), model.predict(np.load(path), batch_size=512))


def streams(model, sources):
    # Each turn takes a number of batches from a generator of its own.
    return [model.predict(batches(), steps=100) for batches in sources]


def test_rows_are_independent():
    # A test compares the row by itself with the row in its batch.
    model = build()
    together = model.predict(x_test)
    for i, row in enumerate(x_test):
        assert np.allclose(model.predict(row[None])[0], together[i], atol=1e-5)


def surface(model, grids):
    # Each turn predicts a dataset of its own.
    return [model.predict(tf.data.Dataset.from_tensor_slices(grid).batch(8)) for grid in grids]


def first(model):
    # The loop is left in its first turn.
    for row in x_test:
        print(model.predict(row[None]))
        break


def tiles(model, images):
    # Each turn predicts a part of all the pictures.
    return [model.predict(images[:, left : left + 64]) for left in range(0, images.shape[1], 64)]


def once(model, row):
    # One item, but no loop calls this.
    return model.predict(row[None])


if __name__ == "__main__":
    network = build()
    progress(network), plot(network), whole(network), on_batches(network)
    show(network, tf.data.Dataset.from_tensor_slices((x, y)).batch(8))
    print(once(network, x[0]), first(network), surface(network, np.load("grids.npy")), tiles(network, x), ensemble([network, build()]), cross_validate(), forest(), baseline())
