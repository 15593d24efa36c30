"""Python prepares the images one by one: the step waits for them, however fast it is."""

import keras
from tensorflow.keras.preprocessing.image import ImageDataGenerator

images = ImageDataGenerator(rotation_range=20, horizontal_flip=True).flow_from_directory("flowers", target_size=(224, 224))
model = keras.applications.ResNet50(weights=None, classes=5)
model.compile("adam", "categorical_crossentropy")
model.fit(images, epochs=10)  # KC111
