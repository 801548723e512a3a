package main

import (
	"context"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

// celQuestion asks whether an expression compiles, and what it says of devices.
type celQuestion struct {
	Expression string `json:"expression"`
	// Consumable and Lists are the gates DRAConsumableCapacity and DRAListTypeAttributes.
	Consumable bool        `json:"consumable"`
	Lists      bool        `json:"lists"`
	Devices    []celDevice `json:"devices"`
}

type celDevice struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations,omitempty"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes,omitempty"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity,omitempty"`
}

type celAnswer struct {
	// Compile is the compile error.
	Compile string `json:"compile,omitempty"`
	// MaxCost is the static estimate.
	MaxCost uint64 `json:"maxCost"`
	// Devices has one entry a device.
	Devices []celVerdict `json:"devices,omitempty"`
}

type celVerdict struct {
	Matches bool    `json:"matches"`
	Error   string  `json:"error,omitempty"`
	Cost    *uint64 `json:"cost,omitempty"`
}

func (q *celQuestion) answer() any {
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: q.Consumable, EnableListTypeAttributes: q.Lists})
	compiled := compiler.CompileCELExpression(q.Expression, cel.Options{})
	if compiled.Error != nil {
		return celAnswer{Compile: compiled.Error.Error()}
	}
	out := celAnswer{MaxCost: compiled.MaxCost}
	for _, device := range q.Devices {
		matches, details, err := compiled.DeviceMatches(context.Background(), cel.Device{
			Driver:                   device.Driver,
			AllowMultipleAllocations: device.AllowMultipleAllocations,
			Attributes:               device.Attributes,
			Capacity:                 device.Capacity,
		})
		verdict := celVerdict{Matches: matches}
		if err != nil {
			verdict.Error = err.Error()
		}
		if details != nil {
			verdict.Cost = details.ActualCost()
		}
		out.Devices = append(out.Devices, verdict)
	}
	return out
}
