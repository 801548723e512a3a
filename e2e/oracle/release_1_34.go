//go:build v1_34

package main

import (
	"errors"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// What 1.34 lacks; release.go is its counterpart.

func celFeatures(consumable, _ bool) cel.Features {
	return cel.Features{EnableConsumableCapacity: consumable}
}

func allocatorCELFeatures(features structured.Features) cel.Features {
	return celFeatures(features.ConsumableCapacity, false)
}

// taintRule is not applied: 1.34 has rules of another version of the API.
type taintRule struct{}

func patched(slices []*resourceapi.ResourceSlice, _ []*taintRule) ([]*resourceapi.ResourceSlice, error) {
	return slices, nil
}

// isNodeLocal is false: every error ends the attempt.
func isNodeLocal(error) bool { return false }

func celOptions(bool) cel.Options { return cel.Options{} }

func derive(*cel.CompilationResult, cel.Device) (*resourceapi.DeviceAttribute, *uint64, error) {
	return nil, nil, errors.New("1.34 has no derived attributes")
}
