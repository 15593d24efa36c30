"""Images that are read in a loop, and nothing to change."""

import cv2
import keras
import numpy as np
import tensorflow as tf
from PIL import Image
from somewhere import labels, paths

model = keras.Sequential([keras.Input((32, 32, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile("adam", "mse")

# A few: a slice and a range with literals.
few = np.array([cv2.imread(path) for path in paths[:200]])
model.fit(few, labels[:200])
counted = []
for number in range(100):
    counted.append(cv2.imread(f"{number}.png"))
model.fit(np.array(counted), labels[:100])

# One image, in no loop.
template = np.array([cv2.imread("template.png")])
model.fit(template, labels[:1])

# For prediction, for a picture, to save.
unseen = np.array([cv2.imread(path) for path in paths])
print(model.predict(unseen))
model.evaluate(unseen, labels)
converted = [np.asarray(Image.open(path).convert("L")) for path in paths]
np.save("converted.npy", np.stack(converted))
model.fit(np.zeros((1000, 32, 32, 3)), labels, validation_data=(unseen, labels))


# Read batch by batch.
class Photographs(keras.utils.PyDataset):
    def __getitem__(self, index):
        batch = []
        for path in paths[index]:
            batch.append(cv2.imread(path))
        return np.array(batch), labels[index]


model.fit(Photographs(workers=4))


def batches():
    for start in range(0, len(paths), 32):
        yield np.array([cv2.imread(path) for path in paths[start : start + 32]]), labels[start : start + 32]


model.fit(batches(), steps_per_epoch=100)
model.fit(tf.data.Dataset.from_generator(batches, output_types=("float32", "float32")))

for start in range(0, len(paths), 32):
    images = []
    for path in paths[start : start + 32]:
        images.append(cv2.imread(path))
    model.train_on_batch(np.array(images), labels[start : start + 32])
