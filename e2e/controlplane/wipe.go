package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// How long objects may take to vanish.
const wipeTimeout = 30 * time.Second

// What tests create, users before what they use.
var wiped = []schema.GroupVersionResource{
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
	{Group: "batch", Version: "v1", Resource: "jobs"},
	{Version: "v1", Resource: "pods"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaimtemplates"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceslices"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "deviceclasses"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "devicetaintrules"},
	{Version: "v1", Resource: "nodes"},
}

// There is no kubelet that would end a pod.
var atOnce = metav1.DeleteOptions{GracePeriodSeconds: new(int64)}

// wipe deletes everything that tests create, finalizers or not.
func wipe(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("wipe", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "whose cluster to wipe")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *kubeconfig == "" {
		return errors.New("wipe needs --kubeconfig")
	}
	cluster, err := connect(*kubeconfig)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wipeTimeout)
	defer cancel()
	for _, resource := range wiped {
		if err := wipeResource(ctx, cluster.dynamic, resource); err != nil {
			return fmt.Errorf("wipe %s: %w", resource.Resource, err)
		}
	}
	return nil
}

// wipeResource deletes until nothing is left: controllers may add objects, and
// write finalizers, in between.
func wipeResource(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource) error {
	for {
		list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) == 0 {
			return err
		}
		for _, item := range list.Items {
			if err := wipeObject(ctx, objects(client, resource, item.GetNamespace()), &item); err != nil {
				return err
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func wipeObject(ctx context.Context, client resourceClient, object *unstructured.Unstructured) error {
	if len(object.GetFinalizers()) > 0 {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		_, err := client.Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	err := client.Delete(ctx, object.GetName(), atOnce)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func objects(client dynamic.Interface, resource schema.GroupVersionResource, namespace string) resourceClient {
	if namespace == "" {
		return client.Resource(resource)
	}
	return client.Resource(resource).Namespace(namespace)
}

// deletePods deletes pods, given as namespace/name, at once.
func deletePods(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("delete-pods", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "whose cluster to write to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *kubeconfig == "" {
		return errors.New("delete-pods needs --kubeconfig")
	}
	cluster, err := connect(*kubeconfig)
	if err != nil {
		return err
	}
	for _, pod := range flags.Args() {
		namespace, name, found := strings.Cut(pod, "/")
		if !found {
			return fmt.Errorf("%q is not of the form namespace/name", pod)
		}
		if err := cluster.pods(namespace).Delete(ctx, name, atOnce); err != nil {
			return err
		}
	}
	return nil
}
