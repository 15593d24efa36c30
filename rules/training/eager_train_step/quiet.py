"""Gradient tapes that are compiled already, or that should not be."""

import functools

import gymnasium
import keras
import numpy as np
import tensorflow as tf
import tensorflow_hub as hub

from project import accelerated

model = keras.applications.MobileNetV2(weights=None, classes=10)
optimizer = keras.optimizers.Adam(1e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy()
dataset = keras.utils.image_dataset_from_directory("images", image_size=(224, 224))


# Compiled: the decorator stands on the step.
@tf.function
def decorated_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


# Compiled: the decorator takes arguments.
@tf.function(jit_compile=True, reduce_retracing=True)
def decorated_with_arguments(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


# Compiled: a decorator that is a partial of tf.function.
compiled = functools.partial(tf.function, autograph=False)


@compiled
def decorated_by_partial(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


# Compiled: the plain function goes through tf.function by name, and the loop calls the result.
def plain_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


fast_step = tf.function(plain_step)


# Compiled: only called by a decorated function, so it is traced as a part of that one.
def inner_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


@tf.function
def whole_epoch(batches):
    for x, y in batches:
        inner_step(x, y)


# Compiled: a replica's step run by a strategy inside a tf.function.
strategy = tf.distribute.MirroredStrategy()


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


@tf.function
def distributed_step(x, y):
    return strategy.run(replica_step, args=(x, y))


# Compiled: the inline tape stands in a loop that AutoGraph turns into graph operations.
@tf.function
def train_inside_the_graph(batches):
    for x, y in batches:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))


# Compiled: fit() wraps train_step in tf.function.
class Distiller(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        )
        return {"loss": loss}


# Nothing is trained: a saliency map, one gradient for each picture that is shown.
def saliency(picture):
    picture = tf.convert_to_tensor(picture[None])
    with tf.GradientTape() as tape:
        tape.watch(picture)
        score = tf.reduce_max(model(picture, training=False), axis=-1)
    return tf.reduce_max(tf.abs(tape.gradient(score, picture)), axis=-1)[0]


# Nothing is trained: Grad-CAM.
def grad_cam(picture, label):
    head = keras.Model(model.inputs, [model.get_layer("out_relu").output, model.output])
    with tf.GradientTape() as tape:
        features, prediction = head(picture[None])
        score = prediction[:, label]
    weights = tf.reduce_mean(tape.gradient(score, features), axis=(1, 2))
    return tf.nn.relu(tf.einsum("bhwc,bc->bhw", features, weights))


# Nothing is trained: a few steps on the pixels of one picture.
def dream(picture, steps=10):
    picture = tf.Variable(picture)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            score = tf.reduce_mean(model(picture, training=False))
        picture.assign_add(0.01 * tape.gradient(score, picture))
    return picture


# An architecture is drawn, tried out in Python and rewarded: what is under the tape cannot be traced.
def search(controller, space, env, searcher):
    for _step in range(1000):
        with tf.GradientTape() as tape:
            chosen, chances = controller(tf.zeros((1, 20)))
            reward = env.get_rewards(chosen.numpy())
            loss = -reward * tf.reduce_sum(chances)
        searcher.apply_gradients(zip(tape.gradient(loss, controller.trainable_variables), controller.trainable_variables))
    for _step in range(1000):
        with tf.GradientTape() as tape:
            chosen, chances = controller(tf.zeros((1, 20)))
            reward = score(space.decode(chosen.numpy()))
            loss = -reward * tf.reduce_sum(chances)
        searcher.apply_gradients(zip(tape.gradient(loss, controller.trainable_variables), controller.trainable_variables))
    for _step in range(1000):
        accuracy = env.accuracy_of(chosen)
        with tf.GradientTape() as tape:
            loss = (accuracy - controller(chosen)) ** 2
        searcher.apply_gradients(zip(tape.gradient(loss, controller.trainable_variables), controller.trainable_variables))


def score(actions):
    return float(len(actions))


# The environment is Python: what is under the tape cannot be traced.
def play(policy, episodes):
    environment = gymnasium.make("CartPole-v1")
    for _ in range(episodes):
        state, _info = environment.reset()
        finished, rewards, terms = False, [], []
        with tf.GradientTape() as tape:
            while not finished:
                chances = policy(np.expand_dims(state, 0))
                action = int(np.random.choice(2, p=chances[0].numpy()))
                state, reward, finished, _cut, _info = environment.step(action)
                rewards.append(reward)
                terms.append(tf.math.log(chances[0, action]))
            loss = -tf.add_n([term * reward for term, reward in zip(terms, rewards)])
        optimizer.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))


# One step, no loop: tracing would cost more than it saves.
def smoke_test():
    x, y = next(iter(dataset))
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return float(loss)


# Ten steps in all: they take no time.
def warm_up(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


# Compiled already: what a SavedModel brings along.
backbone = hub.load("https://tfhub.dev/google/imagenet/mobilenet_v2_100_224/feature_vector/5")
scale = tf.Variable(1.0)


def tune_scale(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, scale * backbone(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, [scale]), [scale]))
    return loss


# Perhaps compiled: what the decorator does cannot be seen.
@accelerated
def step_of_the_project(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


# A test that compares the eager step with the compiled one.
def test_compiled_step_equals_eager_step():
    for x, y in dataset.take(2):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        assert np.isclose(loss, decorated_step(x, y), atol=1e-2)


def main():
    smoke_test()
    for _ in range(5):
        for x, y in dataset:
            decorated_step(x, y)
            decorated_with_arguments(x, y)
            decorated_by_partial(x, y)
            fast_step(x, y)
        for x, y in strategy.experimental_distribute_dataset(dataset):
            distributed_step(x, y)
        whole_epoch(dataset)
        train_inside_the_graph(dataset)
    for pictures, labels in dataset.take(1):
        for picture, label in zip(pictures, labels):
            saliency(picture), grad_cam(picture, label), dream(picture[None])
    for _ in range(2):
        for x, y in dataset.take(5):
            warm_up(x, y)
    for x, y in dataset:
        tune_scale(x, y)
        step_of_the_project(x, y)
    play(keras.Sequential([keras.layers.Dense(2, activation="softmax")]), episodes=100)


def compared(dataset):
    # The same step with and without tf.function, to see what that is worth.
    def timed_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

    for x, y in dataset:
        timed_step(x, y)

    @tf.function
    def timed_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

    for x, y in dataset:
        timed_step(x, y)


if __name__ == "__main__":
    main()
