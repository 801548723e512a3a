//go:build !v1_34

package main

import (
	"context"
	"sort"

	resourceapi "k8s.io/api/resource/v1"
	resourceinformers "k8s.io/client-go/informers/resource/v1"
	resourcelisters "k8s.io/client-go/listers/resource/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

// patched applies taint rules to slices with the tracker of a scheduler. The slices come in the
// order of their names: a lister has none.
func patched(slices []*resourceapi.ResourceSlice, rules []*resourceapi.DeviceTaintRule) ([]*resourceapi.ResourceSlice, error) {
	if len(rules) == 0 {
		return slices, nil
	}
	tracked, err := tracker.StartTracker(context.Background(), tracker.Options{
		EnableDeviceTaintRules: true,
		SliceInformer:          sliceInformer{fixed: newFixed(slices)},
		TaintInformer:          ruleInformer{fixed: newFixed(rules)},
	})
	if err != nil {
		return nil, err
	}
	defer tracked.Stop()
	out, err := tracked.ListPatchedResourceSlices()
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, err
}

// fixed is an informer of objects that never change, known from the start.
type fixed struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
}

func newFixed[T any](objects []T) fixed {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, object := range objects {
		_ = indexer.Add(object)
	}
	return fixed{indexer: indexer}
}

func (f fixed) AddIndexers(indexers cache.Indexers) error { return f.indexer.AddIndexers(indexers) }

func (f fixed) GetIndexer() cache.Indexer { return f.indexer }

func (f fixed) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	for _, object := range f.indexer.List() {
		handler.OnAdd(object, true)
	}
	return delivered{}, nil
}

func (f fixed) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error { return nil }

// delivered says that a handler has seen everything.
type delivered struct{}

func (delivered) HasSynced() bool { return true }

func (delivered) HasSyncedChecker() cache.DoneChecker { return delivered{} }

func (delivered) Name() string { return "fixed" }

func (delivered) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

type sliceInformer struct{ fixed }

func (s sliceInformer) Informer() cache.SharedIndexInformer { return s.fixed }

func (s sliceInformer) TypedInformer() resourceinformers.ResourceSliceIndexInformer {
	return cache.NewTypedSharedIndexInformer[*resourceapi.ResourceSlice](s.fixed)
}

func (s sliceInformer) Lister() resourcelisters.ResourceSliceLister {
	return resourcelisters.NewResourceSliceLister(s.indexer)
}

type ruleInformer struct{ fixed }

func (r ruleInformer) Informer() cache.SharedIndexInformer { return r.fixed }

func (r ruleInformer) TypedInformer() resourceinformers.DeviceTaintRuleIndexInformer {
	return cache.NewTypedSharedIndexInformer[*resourceapi.DeviceTaintRule](r.fixed)
}

func (r ruleInformer) Lister() resourcelisters.DeviceTaintRuleLister {
	return resourcelisters.NewDeviceTaintRuleLister(r.indexer)
}
