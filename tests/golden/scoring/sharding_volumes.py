"""The engine's answers to the cases about bytes and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scaletui_engine.collectives.wire import SHORT, Collective, sent_bytes, wire_factor
from scaletui_engine.sharding.traffic import data_volume, model_volume
from scaletui_engine.sharding.traffic.call import total_sent
from scaletui_engine.sharding.traffic.data_volume import Volume

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scaletui_engine.sharding.traffic.call import Call

Case = dict[str, Any]
EXAMPLE: Final = {"b": 1, "s": 4096, "h": 4096, "bytes": 2}
"""The running example of the volumes: one sequence of 4,096 tokens, hidden size 4,096, bf16."""
_AR, _AG, _RS, _A2A = (
    Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER, Collective.ALL_TO_ALL,
)  # fmt: skip
_STEPS: Final = ("k", "micro", "accumulation", "gradient_accumulation", "grad_accum", "gas")


def wire(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    sizes = given["n"] if isinstance(given["n"], list) else [given["n"]]
    answer = {
        SHORT[op]: [_whole(wire_factor(op, n) * given["S"]) for n in sizes] for op in (_AR, _AG, _RS, _A2A)
    }
    return answer if isinstance(given["n"], list) else {name: values[0] for name, values in answer.items()}


def _whole(value: Any) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def comm_volume(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    for key, answer in _BY_FIELD.items():
        if key in given:
            return answer(case)
    raise KeyError("params, rows, cp, ep, pp or layers")


def _data(case: Case) -> Any:
    given = case["input"]
    params = given.get("param_bytes", given.get("bytes", 2))
    shards = given.get("shard", given.get("dp"))
    if shards is None:
        raise KeyError("dp")
    volume = Volume(
        given["params"], params, given.get("reduce_bytes", given.get("grad_bytes", params)), shards,
        given.get("replicate", 1), next((given[key] for key in _STEPS if key in given), 1),
    )  # fmt: skip
    if "replicate" in given:
        return {"intra": _parts(data_volume.zero3(volume)), "inter": _parts(data_volume.replicated(volume))}
    return _strategies(volume, case.get("expected") or {})


def _strategies(volume: Volume, asked: Iterable[str]) -> Case:
    """Every strategy's volume, and under any other name that the case asks by."""
    answer = {
        "ddp": _parts(data_volume.ddp(volume)),
        "zero1": _parts(data_volume.zero1(volume)),
        "zero2": _parts(data_volume.zero2(volume)),
        "zero3": _parts(data_volume.zero3(volume)),
        "fsdp": _parts(data_volume.zero3(volume)),
        "fsdp2": _parts(data_volume.zero3(volume)),
        "deepspeed_zero1": _parts(data_volume.deepspeed_zero(volume, 1)),
        "deepspeed_zero2": _parts(data_volume.deepspeed_zero(volume, 2)),
    }
    return answer | {key: answer[_strategy(key)] for key in asked if key not in answer}


def _strategy(key: str) -> str:
    """The strategy that a name means: "zero1_ideal", "deepspeed_default", "zero3/fsdp"."""
    word = key.lower().replace("-", "").replace("_", "")
    if "ddp" in word:
        return "ddp"
    if "zero3" in word or "stage3" in word or "fsdp" in word:
        return "zero3"
    stage = "2" if ("zero2" in word or "stage2" in word) and "12" not in word else "1"
    implemented = any(part in word for part in ("deepspeed", "default", "implemented", "actual"))
    return f"deepspeed_zero{stage}" if implemented else f"zero{stage}"


def _parts(calls: tuple[Call, ...]) -> Case:
    return {"total": total_sent(calls), "parts": [call.sent for call in calls]}


def _tensor(case: Case) -> Any:
    given = EXAMPLE | case["input"]
    payload = model_volume.stream_bytes(given["b"], given["s"], given["h"], given["bytes"])
    tp, layers = given["tp"], given["layers"]
    answer: Case = {"payload": payload}
    for name, sp, megatron in (("no_sp", False, False), ("textbook", True, False), ("megatron", True, True)):
        counts = model_volume.tp_counts(sequence_parallel=sp, megatron=megatron)
        each = {SHORT[op]: counts.of(op) for op in (_AR, _AG, _RS) if counts.of(op)}
        sent = sum(counts.of(op) * sent_bytes(op, payload, tp) for op in (_AR, _AG, _RS))
        answer[name] = {**each, "per_layer": sent, "total": sent * layers}
    own = answer["no_sp" if not given.get("sp") else "megatron"]
    return answer | {"allreduces_per_layer": answer["no_sp"]["AR"]} | own


def _pipeline(case: Case) -> Any:
    given = EXAMPLE | case["input"]
    message = given.get("msg")
    if message is None:
        message = model_volume.stream_bytes(given["b"], given["s"], given["h"], given["bytes"])
        message //= given.get("tp", 1) if given.get("sp") else 1
    pp, chunks = given["pp"], given.get("v", 1)
    places = {"first": 0, "middle": min(1, pp - 1), "last": pp - 1}
    return {
        name: model_volume.pipeline_sends(pp, given["m"], chunks, rank).total * message
        for name, rank in places.items()
        if name != "middle" or pp > 2
    }


def _context(case: Case) -> Any:
    given = case["input"]
    whole = 2 * given.get("b", 1) * given["s"] * given["kv_heads"] * given["d"] * given["bytes"]
    local = whole // given["cp"]
    forward, backward, gradients = model_volume.ring_attention(local, given["cp"])
    return {
        "kv_total": whole,
        "kv_local": local,
        "forward": forward.sent,
        "backward_kv": backward.sent,
        "backward_dkv_torch": gradients.sent,
    }


def _experts(case: Case) -> Any:
    given = case["input"]
    call = model_volume.expert_exchange(given["tokens"], given["k"], given["h"] * given["bytes"], given["ep"])
    return {"payload": call.payload, "per_a2a": call.sent // call.count, "fwd_bwd": call.sent}


def _tied(case: Case) -> Any:
    given = case["input"]
    payload = given["rows"] * given["h"] * given["bytes"]
    return {"payload": payload, "wire": sent_bytes(_AR, payload, given.get("group", 2))}


_BY_FIELD: Final = {
    "params": _data,
    "rows": _tied,
    "cp": _context,
    "ep": _experts,
    "pp": _pipeline,
    "layers": _tensor,
}
"""The field that tells a case's subject."""


def comm_count(case: Case, _: dict[str, Case]) -> Any:
    given = case["input"]
    steps = next((given[key] for key in _STEPS if key in given), None)
    if steps is not None:
        return _reductions(case, steps)
    if "layers" not in given:
        counts = model_volume.dtensor_tp_counts()
        parts = {"forward": counts.forward[_AR], "backward": counts.backward[_AR]}
        return {"all_reduce": counts.of(_AR), **parts}
    block = model_volume.tp_counts(sequence_parallel=True, megatron=False)
    gathers = block.of(_AG) * given["layers"] + 2
    scatters = block.of(_RS) * given["layers"] + 2
    elements = given["b"] * given["s"] * given["h"] // given["tp"]
    return {
        "AG": gathers, "RS": scatters, "total": gathers + scatters,
        "nccl_count_elems": elements, "loss_all_reduces": 3,
    }  # fmt: skip


def _reductions(case: Case, steps: int) -> Case:
    """Gradient reductions of a step under every strategy, and under the names that the case asks by."""
    volume = Volume(1, 1, 1, 2, 1, steps)
    zero2, zero3 = data_volume.zero2(volume)[0].count, data_volume.zero3(volume)[-1].count
    answer: Case = {"ddp": 1, "zero1": 1, "zero2": zero2, "zero3": zero3, "fsdp": zero3}
    answer |= {f"stage{stage}": answer[f"zero{stage}"] for stage in (1, 2, 3)}
    own = answer[f"zero{case['input'].get('stage', 2)}"]
    for key in case.get("expected") or {}:
        if key not in answer:
            word = key.lower().replace("_", "").replace("-", "")
            named = next((name for name in answer if name in word), None)
            answer[key] = own if named is None else answer[named]
    return answer


VOLUMES: dict[str, Callable[[Case, dict[str, Case]], Any]] = {
    "wire_factor": wire,
    "comm_volume": comm_volume,
    "comm_count": comm_count,
}
