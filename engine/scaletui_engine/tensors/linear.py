"""A linear map as one or two tensors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scaletui_engine.model import Role, Tensor, TpRule


@dataclass(frozen=True, slots=True)
class Linear:
    """Where a linear map lives and how it is split."""

    name: str
    role: Role
    tp: TpRule
    layers: range | None = None
    experts: int = 1

    def tensors(self, out_features: int, in_features: int, bias: bool = False) -> tuple[Tensor, ...]:
        """Weight (out, in) and, with `bias`, a bias (out,): whole on every rank when the input is split."""
        weight = Tensor(self.name, (out_features, in_features), self.role, self.tp, self.layers, self.experts)
        if not bias:
            return (weight,)
        rule = TpRule.REPLICATED if self.tp is TpRule.ROW else self.tp
        return (weight, replace(weight, name=f"{self.name}.bias", shape=(out_features,), tp=rule))
