package main

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantityQuestion asks about pairs of quantities.
type quantityQuestion struct {
	Pairs [][2]string `json:"pairs"`
}

// quantityAnswer is about one pair.
type quantityAnswer struct {
	// Error says why A is no quantity; nothing else is set then.
	Error string `json:"error,omitempty"`
	// A is what is to be known of the first.
	A *quantityView `json:"a,omitempty"`
	// The rest is of A and B, if B is a quantity.
	Compare    *int          `json:"compare,omitempty"`
	Sum        *quantityView `json:"sum,omitempty"`
	Difference *quantityView `json:"difference,omitempty"`
}

// quantityView is a number from all sides.
type quantityView struct {
	Canonical string `json:"canonical"`
	Format    string `json:"format"`
	Sign      int    `json:"sign"`
	// Scaled is the value in units of 10^-9, 10^-6, … 10^9.
	Scaled []int64 `json:"scaled"`
	// Integer is null if upstream does not convert it.
	Integer *int64 `json:"integer"`
	// Float is the bits of AsApproximateFloat64.
	Float    uint64 `json:"float"`
	Negative string `json:"negative"`
}

func (q *quantityQuestion) answer() any {
	answers := make([]quantityAnswer, 0, len(q.Pairs))
	for _, pair := range q.Pairs {
		answers = append(answers, aboutQuantities(pair[0], pair[1]))
	}
	return map[string]any{"pairs": answers}
}

func aboutQuantities(textA, textB string) quantityAnswer {
	a, err := resource.ParseQuantity(textA)
	if err != nil {
		return quantityAnswer{Error: err.Error()}
	}
	out := quantityAnswer{A: view(a)}
	b, err := resource.ParseQuantity(textB)
	if err != nil {
		return out
	}
	order := a.Cmp(b)
	sum, difference := a.DeepCopy(), a.DeepCopy()
	sum.Add(b)
	difference.Sub(b)
	out.Compare, out.Sum, out.Difference = &order, view(sum), view(difference)
	return out
}

func view(number resource.Quantity) *quantityView {
	out := quantityView{
		Format: string(number.Format),
		Sign:   number.Sign(),
		Float:  math.Float64bits(number.AsApproximateFloat64()),
	}
	for scale := resource.Nano; scale <= resource.Giga; scale += 3 {
		out.Scaled = append(out.Scaled, number.ScaledValue(scale))
	}
	if integer, ok := number.AsInt64(); ok {
		out.Integer = &integer
	}
	negative := number.DeepCopy()
	negative.Neg()
	out.Negative = negative.String()
	out.Canonical = number.String()
	return &out
}
