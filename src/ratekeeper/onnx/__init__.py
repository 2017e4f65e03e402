"""The decision of a test inside an ONNX graph, for models that are served by an ONNX runtime.

The graph gets three more outputs, each with one value for each object:

======================= ======= ==================================================================
``ratekeeper_decision`` int64   1 for positive, 0 for negative, -1 where the test abstains, -2 where
                                the score is NaN
``ratekeeper_p0``       double  p-value of "it is negative"; NaN where the score is NaN
``ratekeeper_p1``       double  p-value of "it is positive"; likewise
======================= ======= ==================================================================

What is promised stands in the model's metadata, under the keys that begin with ``ratekeeper.``.

`_graph` writes the nodes, `_model` puts them into a model. Imports `ratekeeper.control` and what is
below it; the package onnx itself is imported when `append` is called.
"""

from ratekeeper.onnx._model import append

__all__ = ["append"]
