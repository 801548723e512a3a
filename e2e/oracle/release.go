//go:build !v1_34

package main

import (
	"context"
	"errors"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// What the current release has and 1.34 has not; release_1_34.go is its counterpart.

type taintRule = resourceapi.DeviceTaintRule

func celFeatures(consumable, lists bool) cel.Features {
	return cel.Features{EnableConsumableCapacity: consumable, EnableListTypeAttributes: lists}
}

func allocatorCELFeatures(features structured.Features) cel.Features {
	return celFeatures(features.ConsumableCapacity, features.ListTypeAttributes)
}

func isNodeLocal(err error) bool { return errors.Is(err, structured.ErrFailedAllocationOnNode) }

func celOptions(derived bool) cel.Options { return cel.Options{DerivedAttribute: derived} }

func derive(compiled *cel.CompilationResult, device cel.Device) (*resourceapi.DeviceAttribute, *uint64, error) {
	attribute, details, err := compiled.EvaluateDerivedAttribute(context.Background(), device)
	if details == nil {
		return attribute, nil, err
	}
	return attribute, details.ActualCost(), err
}
