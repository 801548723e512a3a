package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// How long a scheduler may take to see what was created.
const watchLag = 300 * time.Millisecond

// applier creates objects in a cluster, with the status that their manifests
// give them. Objects get new uids; references to pods are mapped to them.
type applier struct {
	cluster *cluster
	podUIDs map[types.NamespacedName]types.UID
}

func apply(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("apply", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "whose cluster to write to")
	schedulerName := flags.String("scheduler-name", "", "written into the spec of each pod")
	pin := flags.String("pin", "", "a file with the output of placements: each pod may go only where it is there")
	settle := flags.Duration("settle", 0, "wait so long for the scheduler's verdict on a pod before the next pod is created, "+
		"so that pods are taken in the order of priority and input")
	var files paths
	flags.Var(&files, "f", "manifest: a file, a folder, or - (may be repeated)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *kubeconfig == "" || len(files) == 0 {
		return errors.New("apply needs --kubeconfig and -f")
	}

	objects, err := readManifests(files)
	if err != nil {
		return err
	}
	nodes, err := readPins(*pin)
	if err != nil {
		return err
	}
	cluster, err := connect(*kubeconfig)
	if err != nil {
		return err
	}
	a := &applier{cluster: cluster, podUIDs: map[types.NamespacedName]types.UID{}}
	inOrder(objects)
	seen := *settle == 0
	for _, object := range objects {
		if err := prepare(object, *schedulerName, nodes); err != nil {
			return err
		}
		if !seen && isPod(object) && !isAssigned(object) {
			// Each kind is watched by itself: what the pods need must have been seen.
			time.Sleep(watchLag)
			seen = true
		}
		if err := a.apply(ctx, object); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), nameOf(object), err)
		}
		if *settle > 0 && isPod(object) && !isAssigned(object) {
			a.cluster.awaitVerdict(ctx, nameOf(object), *settle)
		}
	}
	return nil
}

// inOrder sorts so that what is referred to exists first: namespaces, all
// that has no place below, pods that run, claims (which may be reserved for
// these pods), and last what is to be scheduled, by priority and age.
func inOrder(objects []*unstructured.Unstructured) {
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		if d := priority(b) - priority(a); d != 0 {
			return int(d)
		}
		return strings.Compare(created(a), created(b))
	})
}

func rank(object *unstructured.Unstructured) int {
	switch object.GetKind() {
	case "Namespace":
		return 0
	case "Pod":
		if isAssigned(object) {
			return 2
		}
		return 4
	case "ResourceClaim":
		return 3
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job":
		return 5
	default:
		return 1
	}
}

func isPod(object *unstructured.Unstructured) bool { return object.GetKind() == "Pod" }

func isAssigned(pod *unstructured.Unstructured) bool {
	node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	return node != ""
}

func priority(object *unstructured.Unstructured) int64 {
	value, _, _ := unstructured.NestedInt64(object.Object, "spec", "priority")
	return value
}

// created is a time that sorts as text; what has none is the youngest.
func created(object *unstructured.Unstructured) string {
	text, found, _ := unstructured.NestedString(object.Object, "metadata", "creationTimestamp")
	if !found {
		return "~"
	}
	return text
}

func nameOf(object *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// apply creates one object, or replaces the one that is there already, and
// then writes its status.
func (a *applier) apply(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := a.cluster.resource(object)
	if err != nil {
		return err
	}
	status, hasStatus := object.Object["status"].(map[string]any)
	delete(object.Object, "status")
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	a.mapOwners(object)

	client := a.cluster.client(resource, object.GetNamespace())
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	created, err := client.Create(ctx, object, strict)
	if apierrors.IsAlreadyExists(err) {
		created, err = a.replace(ctx, client, object)
	}
	if err != nil {
		return err
	}
	if isPod(created) {
		a.podUIDs[nameOf(created)] = created.GetUID()
	}
	// What a pod that is still to be scheduled reports is not for us to claim.
	pending := isPod(created) && !isAssigned(created)
	if !hasStatus || len(status) == 0 || !resource.hasStatus || pending {
		return nil
	}
	a.mapReservations(created.GetNamespace(), status)
	return a.writeStatus(ctx, client, created, status)
}

func (a *applier) replace(ctx context.Context, client resourceClient, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	var replaced *unstructured.Unstructured
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := client.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.SetResourceVersion(current.GetResourceVersion())
		replaced, err = client.Update(ctx, object, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	})
	return replaced, err
}

func (a *applier) writeStatus(ctx context.Context, client resourceClient, object *unstructured.Unstructured, status map[string]any) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		current, err := client.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		current.Object["status"] = status
		_, err = client.UpdateStatus(ctx, current, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	})
}

// mapOwners gives references to pods of the input the uids of the created pods.
func (a *applier) mapOwners(object *unstructured.Unstructured) {
	owners := object.GetOwnerReferences()
	for i, owner := range owners {
		name := types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}
		if uid, known := a.podUIDs[name]; known && owner.Kind == "Pod" {
			owners[i].UID = uid
		}
	}
	if len(owners) > 0 {
		object.SetOwnerReferences(owners)
	}
}

// mapReservations does the same for the pods that a claim is reserved for.
func (a *applier) mapReservations(namespace string, status map[string]any) {
	consumers, _ := status["reservedFor"].([]any)
	for _, consumer := range consumers {
		reference, ok := consumer.(map[string]any)
		if !ok || reference["resource"] != "pods" {
			continue
		}
		name, _ := reference["name"].(string)
		if uid, known := a.podUIDs[types.NamespacedName{Namespace: namespace, Name: name}]; known {
			reference["uid"] = string(uid)
		}
	}
}

// prepare sets the scheduler's name, also of pods that are made from a
// template, and the only node that a pod may go to.
func prepare(object *unstructured.Unstructured, schedulerName string, nodes map[string]string) error {
	if _, isTemplate, _ := unstructured.NestedMap(object.Object, "spec", "template", "spec"); isTemplate && schedulerName != "" {
		return unstructured.SetNestedField(object.Object, schedulerName, "spec", "template", "spec", "schedulerName")
	}
	if !isPod(object) || isAssigned(object) {
		return nil
	}
	if schedulerName != "" {
		if err := unstructured.SetNestedField(object.Object, schedulerName, "spec", "schedulerName"); err != nil {
			return err
		}
	}
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	if node := nodes[namespace+"/"+object.GetName()]; node != "" {
		return pinToNode(object, node)
	}
	return nil
}

// pinToNode adds the node's name to each term of the pod's required node
// affinity (terms are alternatives), or makes the one term that says it.
func pinToNode(pod *unstructured.Unstructured, node string) error {
	path := []string{"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"}
	terms, _, err := unstructured.NestedSlice(pod.Object, path...)
	if err != nil {
		return err
	}
	if len(terms) == 0 {
		terms = []any{map[string]any{}}
	}
	for _, term := range terms {
		fields, ok := term.(map[string]any)
		if !ok {
			return fmt.Errorf("pod %s: a node selector term is no object", pod.GetName())
		}
		matchFields, _ := fields["matchFields"].([]any)
		fields["matchFields"] = append(matchFields,
			map[string]any{"key": "metadata.name", "operator": "In", "values": []any{node}})
	}
	return unstructured.SetNestedSlice(pod.Object, terms, path...)
}

// awaitVerdict waits until the pod is bound or a scheduler said why it is not.
func (c *cluster) awaitVerdict(ctx context.Context, pod types.NamespacedName, timeout time.Duration) {
	deadline := time.Now().Add(timeout)
	for ctx.Err() == nil {
		current, err := c.pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil && hasVerdict(current) {
			return
		}
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "controlplane: no scheduler said anything about pod %s within %s\n", pod, timeout)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
