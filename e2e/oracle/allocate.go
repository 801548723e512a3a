package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// allocateQuestion asks for an allocation of some claims on one node after another.
type allocateQuestion struct {
	// Features are gates by the allocator's names; absent ones are off.
	Features structured.Features `json:"features"`
	// Nodes are tried in this order.
	Nodes []*corev1.Node `json:"nodes"`
	// Slices are given to the allocator in this order.
	Slices []*resourceapi.ResourceSlice `json:"slices"`
	// TaintRules are applied to the slices.
	TaintRules []*taintRule `json:"taintRules,omitempty"`
	// Classes are looked up by name.
	Classes []*resourceapi.DeviceClass `json:"classes"`
	// Claims are to be allocated together.
	Claims []*resourceapi.ResourceClaim `json:"claims"`
	// Allocated are claims that hold devices already.
	Allocated []*resourceapi.ResourceClaim `json:"allocated"`
	// Afresh gives each node an allocator of its own, as no scheduler does.
	Afresh bool `json:"afresh,omitempty"`
	// TimeoutMillis bounds one node; 0 means 10 s.
	TimeoutMillis int64 `json:"timeoutMillis,omitempty"`
}

// nodeAnswer is the outcome on one node.
type nodeAnswer struct {
	// Results has one entry a claim; null: it does not fit, or an error.
	Results []resourceapi.AllocationResult `json:"results"`
	// Error is upstream's text.
	Error string `json:"error,omitempty"`
	// NodeLocal says that the error concerns this node only.
	NodeLocal bool `json:"nodeLocal,omitempty"`
	// TimedOut says that the search was cut off.
	TimedOut bool `json:"timedOut,omitempty"`
	// Panic is what upstream's code panicked with.
	Panic string `json:"panic,omitempty"`
	// Nanos is the time of the call.
	Nanos int64 `json:"nanos"`
}

type classes []*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) { return c, nil }

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, fmt.Errorf("deviceclass.resource.k8s.io %q not found", name)
}

// caches keeps compiled expressions between questions; a scheduler keeps them between pods.
var caches = map[cel.Features]*cel.Cache{}

func cacheFor(features structured.Features) *cel.Cache {
	key := allocatorCELFeatures(features)
	if caches[key] == nil {
		caches[key] = cel.NewCache(256, key)
	}
	return caches[key]
}

func (q *allocateQuestion) answer() any {
	// Which of the three allocators answers, the features decide as in a scheduler.
	ctx := context.Background()
	slices, err := patched(q.Slices, q.TaintRules)
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	var allocator structured.Allocator
	answers := make([]nodeAnswer, 0, len(q.Nodes))
	for _, node := range q.Nodes {
		// A scheduler keeps one allocator for all nodes of a pod.
		if allocator == nil || q.Afresh {
			allocator, err = structured.NewAllocator(ctx, q.Features, q.state(), classes(q.Classes), slices, cacheFor(q.Features))
			if err != nil {
				return map[string]string{"error": err.Error()}
			}
		}
		answers = append(answers, q.allocate(ctx, allocator, node))
	}
	return map[string]any{"nodes": answers}
}

func (q *allocateQuestion) allocate(ctx context.Context, allocator structured.Allocator, node *corev1.Node) (out nodeAnswer) {
	limit := 10 * time.Second
	if q.TimeoutMillis > 0 {
		limit = time.Duration(q.TimeoutMillis) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			out = nodeAnswer{Panic: fmt.Sprint(cause)}
		}
	}()
	start := time.Now()
	results, err := allocator.Allocate(ctx, node, q.Claims)
	out.Nanos = time.Since(start).Nanoseconds()
	if err != nil {
		out.Error = err.Error()
		out.NodeLocal = isNodeLocal(err)
		out.TimedOut = errors.Is(err, context.DeadlineExceeded)
		return out
	}
	out.Results = results
	return out
}

// state is what the scheduler plugin derives from allocated claims.
func (q *allocateQuestion) state() structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range q.Allocated {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			if result.AdminAccess != nil && *result.AdminAccess {
				continue
			}
			device := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			if !q.Features.ConsumableCapacity || result.ShareID == nil {
				state.AllocatedDevices.Insert(device)
				continue
			}
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(device, result.ShareID))
			if result.ConsumedCapacity != nil {
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device, result.ConsumedCapacity))
			}
		}
	}
	return state
}
