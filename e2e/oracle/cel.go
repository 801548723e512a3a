package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

// celQuestion asks whether expressions compile, and what they say of devices.
type celQuestion struct {
	Expressions []string `json:"expressions"`
	// Derived: the expressions are those of derived attributes, not selectors.
	Derived bool `json:"derived,omitempty"`
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

// celAnswer is about one expression.
type celAnswer struct {
	// Compile is the compile error.
	Compile string `json:"compile,omitempty"`
	// Estimate is the static estimate.
	Estimate *celEstimate `json:"estimate,omitempty"`
	// Devices has one entry a device.
	Devices []celVerdict `json:"devices,omitempty"`
	// Panic is what upstream's code panicked with.
	Panic string `json:"panic,omitempty"`
}

type celVerdict struct {
	Matches bool `json:"matches"`
	// Attribute is the value of a derived attribute.
	Attribute *resourceapi.DeviceAttribute `json:"attribute,omitempty"`
	Error     string                       `json:"error,omitempty"`
	// Cost is null if the evaluation never began.
	Cost *uint64 `json:"cost,omitempty"`
	// TimedOut says that the evaluation was cut off.
	TimedOut bool `json:"timedOut,omitempty"`
}

// evaluationMax bounds one evaluation. Upstream charges nothing for some work.
const evaluationMax = 5 * time.Second

func (q *celQuestion) answer() any {
	answers := make([]celAnswer, 0, len(q.Expressions))
	for _, expression := range q.Expressions {
		answers = append(answers, q.about(expression))
	}
	return map[string]any{"expressions": answers}
}

func (q *celQuestion) about(expression string) (out celAnswer) {
	defer func() {
		if cause := recover(); cause != nil {
			out = celAnswer{Panic: fmt.Sprint(cause)}
		}
	}()
	compiler := cel.GetCompiler(celFeatures(q.Consumable, q.Lists))
	compiled := compiler.CompileCELExpression(expression, celOptions(q.Derived))
	if compiled.Error != nil {
		return celAnswer{Compile: compiled.Error.Error()}
	}
	cost := estimate(&compiled)
	out = celAnswer{Estimate: &cost}
	for _, device := range q.Devices {
		out.Devices = append(out.Devices, q.evaluate(&compiled, cel.Device(device)))
	}
	return out
}

func (q *celQuestion) evaluate(compiled *cel.CompilationResult, device cel.Device) (out celVerdict) {
	var err error
	if q.Derived {
		out.Attribute, out.Cost, err = derive(compiled, device)
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), evaluationMax)
		defer cancel()
		matches, details, failure := compiled.DeviceMatches(ctx, device)
		out.Matches, err = matches, failure
		if details != nil {
			out.Cost = details.ActualCost()
		}
	}
	if err != nil {
		out.Error = err.Error()
		out.TimedOut = strings.Contains(out.Error, "operation interrupted")
	}
	return out
}
