package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is a dynamic client that knows which kinds the server has.
type cluster struct {
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
	// statuses has the resources with a status subresource.
	statuses map[schema.GroupVersionResource]bool
}

type resourceClient = dynamic.ResourceInterface

// resource is where objects of one kind are written.
type resource struct {
	gvr        schema.GroupVersionResource
	namespaced bool
	hasStatus  bool
}

func connect(kubeconfig string) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 5000, 5000
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(discoveryClient)
	if err != nil {
		return nil, err
	}
	return &cluster{
		dynamic:  client,
		mapper:   restmapper.NewDiscoveryRESTMapper(groups),
		statuses: statusSubresources(groups),
	}, nil
}

func statusSubresources(groups []*restmapper.APIGroupResources) map[schema.GroupVersionResource]bool {
	found := map[schema.GroupVersionResource]bool{}
	for _, group := range groups {
		for version, resources := range group.VersionedResources {
			for _, resource := range resources {
				const suffix = "/status"
				if name := resource.Name; len(name) > len(suffix) && name[len(name)-len(suffix):] == suffix {
					found[schema.GroupVersionResource{
						Group: group.Group.Name, Version: version, Resource: name[:len(name)-len(suffix)],
					}] = true
				}
			}
		}
	}
	return found
}

// resource finds where an object belongs, and gives an object of a namespaced
// kind the default namespace where it names none.
func (c *cluster) resource(object *unstructured.Unstructured) (resource, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return resource{}, fmt.Errorf("the server has no such kind: %w", err)
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	if namespaced && object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	return resource{gvr: mapping.Resource, namespaced: namespaced, hasStatus: c.statuses[mapping.Resource]}, nil
}

func (c *cluster) client(r resource, namespace string) resourceClient {
	if r.namespaced {
		return c.dynamic.Resource(r.gvr).Namespace(namespace)
	}
	return c.dynamic.Resource(r.gvr)
}

func (c *cluster) pods(namespace string) resourceClient {
	return c.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(namespace)
}

func (c *cluster) claims(namespace string) resourceClient {
	return c.dynamic.Resource(schema.GroupVersionResource{
		Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims",
	}).Namespace(namespace)
}
