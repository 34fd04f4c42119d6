"""Writes the small graphs beside this file, which the engine's tests run. They are in git; run this to change them."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent


def save(name, nodes, inputs, outputs, constants=(), **kind):
    opset, external = kind.get("opset", 17), kind.get("external", False)
    graph = helper.make_graph(list(nodes), name, list(inputs), list(outputs), list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, producer_name="gimbal")
    path = HERE / f"{name}.onnx"
    if external:
        (HERE / f"{name}.weights").unlink(missing_ok=True)
        onnx.save(model, path, save_as_external_data=True, location=f"{name}.weights", size_threshold=0)
    else:
        onnx.save(model, path)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def weights(name, values):
    return numpy_helper.from_array(np.asarray(values, dtype=np.float32), name)


# z = (x + y) * scale; x and y share "rows", their width is fixed.
SUM_NODES = [helper.make_node("Add", ["x", "y"], ["sum"]), helper.make_node("Mul", ["sum", "scale"], ["z"])]
SUM_INPUTS = [value("x", ["rows", 4]), value("y", ["rows", 4])]
SUM_OUTPUTS = [value("z", ["rows", 4])]
SCALE = weights("scale", [1, 10, 100, 1000])
save("sum", SUM_NODES, SUM_INPUTS, SUM_OUTPUTS, [SCALE])
save("sum_external", SUM_NODES, SUM_INPUTS, SUM_OUTPUTS, [SCALE], external=True)

# An operator set that no release knows.
save("opset_99", [helper.make_node("Relu", ["x"], ["z"])], [value("x", ["n"])], [value("z", ["n"])], opset=99)

# Fails while it runs, for any n but 4.
square = numpy_helper.from_array(np.array([2, 2], dtype=np.int64), "shape")
save("reshape", [helper.make_node("Reshape", ["x", "shape"], ["z"])], [value("x", ["n"])], [value("z", [2, 2])], [square])

# Weights of 256 KiB, of which the file only has the recipe.
size = numpy_helper.from_array(np.array([256, 256], dtype=np.int64), "size")
half = helper.make_tensor("half", TensorProto.FLOAT, [1], [0.5])
fill = helper.make_node("ConstantOfShape", ["size"], ["w"], value=half)
save("matmul", [fill, helper.make_node("MatMul", ["x", "w"], ["z"])], [value("x", ["n", 256])], [value("z", ["n", 256])], [size])

# A quantising operator inside the branch of an If.
quantize = helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "q_scale", "q_zero"])
restore = helper.make_node("DequantizeLinear", ["q", "q_scale", "q_zero"], ["a"])
yes = helper.make_graph([quantize, restore], "yes", [], [value("a", ["n"])])
no = helper.make_graph([helper.make_node("Identity", ["x"], ["b"])], "no", [], [value("b", ["n"])])
branch = helper.make_node("If", ["rough"], ["z"], then_branch=yes, else_branch=no)
save("branch", [branch], [value("x", ["n"]), value("rough", [], TensorProto.BOOL)], [value("z", ["n"])])
