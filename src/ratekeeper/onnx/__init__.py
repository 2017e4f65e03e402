"""The decision of a test inside an ONNX graph, for models that are served by an ONNX runtime.

The graph gets three more outputs: a decision and two p-values for each object. What is promised is
in the model's metadata, under the keys that begin with ``ratekeeper.``. `_graph` writes the nodes,
`_append` puts them into a model. Imports `ratekeeper.control` and what is below it; the package
onnx itself is imported when `append` is called. Start with `_append`.
"""

from ratekeeper.onnx._append import append

__all__ = ["append"]
