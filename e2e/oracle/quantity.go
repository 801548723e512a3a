package main

import "k8s.io/apimachinery/pkg/api/resource"

// quantityQuestion asks about two quantities.
type quantityQuestion struct {
	A string `json:"a"`
	B string `json:"b"`
}

type quantityAnswer struct {
	Error string `json:"error,omitempty"`
	// Canonical is A's canonical form.
	Canonical string `json:"canonical,omitempty"`
	Value     int64  `json:"value"`
	Milli     int64  `json:"milli"`
	// Compare, Sum and Difference are of A and B, if B is a quantity.
	Compare    *int   `json:"compare,omitempty"`
	Sum        string `json:"sum,omitempty"`
	Difference string `json:"difference,omitempty"`
}

func (q *quantityQuestion) answer() any {
	a, err := resource.ParseQuantity(q.A)
	if err != nil {
		return quantityAnswer{Error: err.Error()}
	}
	out := quantityAnswer{Canonical: a.String(), Value: a.Value(), Milli: a.MilliValue()}
	if b, err := resource.ParseQuantity(q.B); err == nil {
		order := a.Cmp(b)
		out.Compare = &order
		sum, difference := a.DeepCopy(), a.DeepCopy()
		sum.Add(b)
		difference.Sub(b)
		out.Sum, out.Difference = sum.String(), difference.String()
	}
	return out
}
