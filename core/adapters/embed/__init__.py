"""Text to vectors: the bundled model, any ONNX model of `fastembed`, or an HTTP endpoint.

Each adapter states `floor` and `ceiling`: cosines of one model say nothing about another's.
"""
