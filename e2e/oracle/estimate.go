package main

import (
	"fmt"
	"log"

	"github.com/google/cel-go/checker"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/dynamic-resource-allocation/cel"
)

// celEstimate is what an expression may cost on any device.
type celEstimate struct {
	Min uint64 `json:"min"`
	Max uint64 `json:"max"`
}

// estimate asks cel-go. The compiler keeps the most only, so the least is estimated once more with
// the sizes that it declares; that the most is the same shows that they are.
func estimate(compiled *cel.CompilationResult) celEstimate {
	ast, issues := compiled.Environment.Compile(compiled.Expression)
	if issues.Err() != nil {
		panic(fmt.Errorf("compiled before, but now: %w", issues.Err()))
	}
	cost, err := compiled.Environment.EstimateCost(ast, &library.CostEstimator{SizeEstimator: deviceSizes{}})
	if err != nil {
		panic(fmt.Errorf("estimate the cost: %w", err))
	}
	if cost.Max != compiled.MaxCost {
		// No panic of upstream's, which would be an answer.
		log.Fatalf("%s: at most %d, but the compiler says %d", compiled.Expression, cost.Max, compiled.MaxCost)
	}
	return celEstimate(cost)
}

// deviceSizes knows how big the parts of a device can be.
type deviceSizes struct{}

func (deviceSizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

func (deviceSizes) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 || path[0] != "device" {
		return nil
	}
	at := &devicePart
	for _, step := range path[1:] {
		next := at.parts[step]
		if next == nil {
			next = at.others
		}
		if next == nil {
			return nil
		}
		at = next
	}
	return &checker.SizeEstimate{Max: at.size}
}

// part is a part of a device: its size and what it consists of.
type part struct {
	size   uint64
	parts  map[string]*part
	others *part
}

var devicePart = part{parts: map[string]*part{
	"driver":                   {size: resourceapi.DriverNameMaxLength},
	"allowMultipleAllocations": {size: 1},
	"attributes":               domains(byName(&part{size: resourceapi.DeviceAttributeMaxValueLength}, true)),
	"capacity":                 domains(byName(&part{}, false)),
}}

func domains(entries *part) *part {
	domain := &part{size: resourceapi.DeviceMaxDomainLength}
	return mapOf(domain, entries)
}

// byName is a map by identifier. What is taken for a field of attributes is an attribute.
func byName(value *part, fields bool) *part {
	entries := mapOf(&part{size: resourceapi.DeviceMaxIDLength}, value)
	if fields {
		entries.others = value
	}
	return entries
}

func mapOf(key, value *part) *part {
	return &part{
		size:  resourceapi.ResourceSliceMaxAttributesAndCapacitiesPerDevice,
		parts: map[string]*part{"@keys": key, "@values": value, "@items": value},
	}
}
