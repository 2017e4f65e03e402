"""The folder is served as it is: by MLflow's own server, and by MLServer in Open Inference V2.

MLServer is that of this environment, or of the Python that RATEKEEPER_MLSERVER_PYTHON names.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from mlflow_cases import (
    HELD_OUT,
    MODEL,
    NEEDS,
    NEW,
    QUIET,
    REGION,
    SCORES,
    X,
    Y,
)

import ratekeeper as rk

pytestmark = QUIET
SOURCES = str(Path(rk.__file__).parents[1])
PATIENCE = 240  # seconds, on a busy machine
ROWS = X.assign(region=REGION)[NEW][:40]
CALIBRATION = rk.calibrate(SCORES[HELD_OUT], Y[HELD_OUT], groups=REGION[HELD_OUT])
TEST = CALIBRATION.control_both(0.1, 0.1)
# Scored alone, as a request is: other company may change the last bit of a score.
EXPECTED = TEST.decide(MODEL.predict_proba(ROWS[list(X)])[:, 1], ROWS["region"].to_numpy())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Save a model with groups and a test that abstains."""
    place = tmp_path_factory.mktemp("served") / "m"
    options = {"input_example": X.assign(region=REGION)[:3], "pip_requirements": NEEDS}
    rk.mlflow.save_model(TEST, place, model=MODEL, group="region", undecided=-1, **options)
    return place


def free_ports(n):
    """Return port numbers that nobody listens on."""
    holders = [socket.socket() for _ in range(n)]
    for one in holders:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in holders]
    for one in holders:
        one.close()
    return ports


def asked(address, body=None):
    """Ask a server on this machine; return its status and answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310 - of this machine
        address, data, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@contextmanager
def running(command, ready, log, **environment):
    """Start a server, wait until it is ready, and end it."""
    env = {**os.environ, "PYTHONPATH": SOURCES, "PYTHONUNBUFFERED": "1", **environment}
    with (
        log.open("wb") as stream,
        subprocess.Popen(command, stdout=stream, stderr=stream, env=env) as server,
    ):
        try:
            end = time.monotonic() + PATIENCE
            while True:
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                try:
                    if asked(ready)[0] == 200:
                        break
                except OSError:
                    pass
                time.sleep(0.2)
            yield
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def test_mlflow_serves_it(folder, tmp_path):
    """Decisions and p-values come over the wire to the last bit; what is wrong is told."""
    [port] = free_ports(1)
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(folder)]
    command += ["--env-manager", "local", "--host", "127.0.0.1", "-p", str(port)]
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # it starts uvicorn
    with running(command, f"{address}/ping", tmp_path / "log", PATH=beside):
        table = {"columns": list(ROWS), "data": ROWS.to_numpy().tolist()}
        sent = {"dataframe_split": table}
        status, answer = asked(f"{address}/invocations", sent)
        assert status == 200, answer
        found = json.loads(answer)["predictions"]
        assert [row["decision"] for row in found] == EXPECTED.labels_or(-1).tolist()
        assert [row["p0"] for row in found] == EXPECTED.p_values.p0.tolist()
        assert [row["abstained"] for row in found] == EXPECTED.abstained.tolist()
        asked_less = {**sent, "params": {"p_values": False}}
        status, answer = asked(f"{address}/invocations", asked_less)
        assert set(json.loads(answer)["predictions"][0]) == {"decision", "abstained"}
        row = {**ROWS[:1].to_dict("records")[0], "region": "east"}
        status, answer = asked(f"{address}/invocations", {"dataframe_records": [row]})
        assert status == 400
        assert "'east', which the calibration does not know" in json.loads(answer)["message"]
        row["age"] = None
        row["region"] = "north"
        status, answer = asked(f"{address}/invocations", {"dataframe_records": [row]})
        assert status == 400


def mlserver_python():
    """Return the Python that has MLServer, None if there is none."""
    named = os.environ.get("RATEKEEPER_MLSERVER_PYTHON")
    if named:
        return named
    return sys.executable if find_spec("mlserver") and find_spec("mlserver_mlflow") else None


@pytest.mark.skipif(mlserver_python() is None, reason="there is no MLServer")
def test_mlserver_serves_it(folder, tmp_path):
    """Inputs and outputs have their names, by the protocol that KServe and Seldon speak."""
    http, grpc, metrics = free_ports(3)
    address = f"http://127.0.0.1:{http}/v2/models/screening"
    settings = {"host": "127.0.0.1", "http_port": http, "grpc_port": grpc, "parallel_workers": 0}
    model = {
        "name": "screening",
        "implementation": "mlserver_mlflow.MLflowRuntime",
        "parameters": {"uri": str(folder)},
    }
    (tmp_path / "settings.json").write_text(json.dumps({**settings, "metrics_port": metrics}))
    (tmp_path / "model-settings.json").write_text(json.dumps(model))
    program = "from mlserver.cli import main; main()"
    command = [mlserver_python(), "-c", program, "start", str(tmp_path)]
    with running(command, f"{address}/ready", tmp_path / "log"):
        status, answer = asked(address)
        assert status == 200
        told = json.loads(answer)
        assert [one["name"] for one in told["inputs"]] == ["age", "dose", "rest", "region"]
        names = ["decision", "p0", "p1", "abstained", "score"]
        assert [one["name"] for one in told["outputs"]] == names
        shape = [len(ROWS), 1]
        inputs = [
            {"name": name, "datatype": "FP64", "shape": shape, "data": ROWS[name].tolist()}
            for name in X
        ]
        regions = {"datatype": "BYTES", "shape": shape, "data": ROWS["region"].tolist()}
        inputs.append({"name": "region", **regions})
        status, answer = asked(f"{address}/infer", {"inputs": inputs})
        assert status == 200, answer
        found = {one["name"]: one for one in json.loads(answer)["outputs"]}
        assert list(found) == ["decision", "p0", "p1", "abstained"]
        assert found["decision"]["data"] == EXPECTED.labels_or(-1).tolist()
        assert found["decision"]["datatype"] == "INT64"
        assert found["p1"]["data"] == EXPECTED.p_values.p1.tolist()
        assert found["abstained"]["data"] == EXPECTED.abstained.tolist()
        params = {"p_values": False, "scores": True}
        status, answer = asked(f"{address}/infer", {"inputs": inputs, "parameters": params})
        outputs = {one["name"]: one["data"] for one in json.loads(answer)["outputs"]}
        assert list(outputs) == ["decision", "abstained", "score"]
        assert np.allclose(outputs["score"], SCORES[NEW][:40], rtol=0, atol=1e-12)
        inputs[-1]["data"] = ["east"] * len(ROWS)
        status, answer = asked(f"{address}/infer", {"inputs": inputs})
        assert status >= 400
