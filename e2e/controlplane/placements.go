package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// placementReport has the `pods` of Stowplan's SimulationReport, as found in a
// live cluster.
type placementReport struct {
	Pods []podPlacement `json:"pods"`
}

type podPlacement struct {
	Pod     string           `json:"pod"`
	Node    *string          `json:"node"`
	Claims  []claimPlacement `json:"claims"`
	Message *string          `json:"message"`
}

type claimPlacement struct {
	// PodClaim is null for the claim that serves extended resources.
	PodClaim *string           `json:"podClaim"`
	Claim    string            `json:"claim"`
	Devices  []devicePlacement `json:"devices"`
	// Reserved says whether the claim is reserved for this very pod.
	Reserved bool `json:"reserved"`
}

type devicePlacement struct {
	Request          string            `json:"request"`
	Driver           string            `json:"driver"`
	Pool             string            `json:"pool"`
	Device           string            `json:"device"`
	ShareID          *string           `json:"shareID"`
	ConsumedCapacity map[string]string `json:"consumedCapacity"`
	AdminAccess      bool              `json:"adminAccess"`
}

func placements(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("placements", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "whose cluster to read")
	output := flags.String("o", "table", "table or json")
	wait := flags.Duration("wait", 0, "wait so long until each pod is bound or found unschedulable")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *kubeconfig == "" {
		return errors.New("placements needs --kubeconfig")
	}
	cluster, err := connect(*kubeconfig)
	if err != nil {
		return err
	}
	report, err := cluster.settledReport(ctx, *wait)
	if err != nil {
		return err
	}
	switch *output {
	case "json":
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	case "table":
		return report.print(os.Stdout)
	default:
		return fmt.Errorf("-o is table or json, not %q", *output)
	}
}

// settledReport reads until every pod has a verdict and two looks agree, or
// the time is over.
func (c *cluster) settledReport(ctx context.Context, wait time.Duration) (placementReport, error) {
	deadline := time.Now().Add(wait)
	var previous placementReport
	for {
		report, settled, err := c.report(ctx)
		over := time.Now().After(deadline)
		if err != nil || over || (settled && reflect.DeepEqual(previous, report)) {
			return report, err
		}
		previous = report
		select {
		case <-ctx.Done():
			return report, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// report reads the pods, by namespace and name, and says whether each has a
// verdict.
func (c *cluster) report(ctx context.Context) (placementReport, bool, error) {
	report, settled := placementReport{Pods: []podPlacement{}}, true
	claimList, err := c.claims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return report, false, err
	}
	claims := map[string]*resourcev1.ResourceClaim{}
	for _, item := range claimList.Items {
		claim, err := typed[resourcev1.ResourceClaim](&item)
		if err != nil {
			return report, false, err
		}
		claims[claim.Namespace+"/"+claim.Name] = claim
	}
	podList, err := c.pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return report, false, err
	}
	for _, item := range podList.Items {
		pod, err := typed[corev1.Pod](&item)
		if err != nil {
			return report, false, err
		}
		settled = settled && hasVerdict(&item)
		report.Pods = append(report.Pods, placementOf(pod, claims))
	}
	slices.SortFunc(report.Pods, func(a, b podPlacement) int { return strings.Compare(a.Pod, b.Pod) })
	return report, settled, nil
}

func typed[T any](object *unstructured.Unstructured) (*T, error) {
	var value T
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &value)
	return &value, err
}

// hasVerdict: bound, or a scheduler (or the API server, of a gated pod) said why not.
func hasVerdict(object *unstructured.Unstructured) bool {
	pod, err := typed[corev1.Pod](object)
	return err == nil && (pod.Spec.NodeName != "" || unscheduledCondition(pod) != nil)
}

func unscheduledCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func placementOf(pod *corev1.Pod, claims map[string]*resourcev1.ResourceClaim) podPlacement {
	placement := podPlacement{Pod: pod.Namespace + "/" + pod.Name, Claims: []claimPlacement{}}
	if pod.Spec.NodeName != "" {
		placement.Node = &pod.Spec.NodeName
	} else if condition := unscheduledCondition(pod); condition != nil {
		placement.Message = &condition.Message
	}
	for _, podClaim := range pod.Spec.ResourceClaims {
		if claim := claims[pod.Namespace+"/"+claimName(pod, podClaim)]; claim != nil {
			placement.Claims = append(placement.Claims, claimPlacementOf(pod, &podClaim.Name, claim))
		}
	}
	if special := pod.Status.ExtendedResourceClaimStatus; special != nil {
		if claim := claims[pod.Namespace+"/"+special.ResourceClaimName]; claim != nil {
			placement.Claims = append(placement.Claims, claimPlacementOf(pod, nil, claim))
		}
	}
	return placement
}

func claimName(pod *corev1.Pod, podClaim corev1.PodResourceClaim) string {
	if podClaim.ResourceClaimName != nil {
		return *podClaim.ResourceClaimName
	}
	for _, status := range pod.Status.ResourceClaimStatuses {
		if status.Name == podClaim.Name && status.ResourceClaimName != nil {
			return *status.ResourceClaimName
		}
	}
	return ""
}

func claimPlacementOf(pod *corev1.Pod, podClaim *string, claim *resourcev1.ResourceClaim) claimPlacement {
	placement := claimPlacement{PodClaim: podClaim, Claim: claim.Namespace + "/" + claim.Name, Devices: []devicePlacement{}}
	for _, consumer := range claim.Status.ReservedFor {
		placement.Reserved = placement.Reserved || consumer.UID == pod.UID
	}
	if claim.Status.Allocation == nil {
		return placement
	}
	for _, result := range claim.Status.Allocation.Devices.Results {
		device := devicePlacement{
			Request: result.Request, Driver: result.Driver, Pool: result.Pool, Device: result.Device,
			ConsumedCapacity: map[string]string{},
			AdminAccess:      result.AdminAccess != nil && *result.AdminAccess,
		}
		if result.ShareID != nil {
			share := string(*result.ShareID)
			device.ShareID = &share
		}
		for name, quantity := range result.ConsumedCapacity {
			device.ConsumedCapacity[string(name)] = quantity.String()
		}
		placement.Devices = append(placement.Devices, device)
	}
	return placement
}

// print writes one line per device, the pod and its node on the first.
func (r placementReport) print(output io.Writer) error {
	table := tabwriter.NewWriter(output, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "POD\tNODE\tCLAIM\tREQUEST\tDEVICE")
	for _, pod := range r.Pods {
		node := "-"
		if pod.Node != nil {
			node = *pod.Node
		}
		lines := 0
		for _, claim := range pod.Claims {
			name := "(extended resources)"
			if claim.PodClaim != nil {
				name = *claim.PodClaim
			}
			for _, device := range claim.Devices {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s/%s/%s\n", pod.Pod, node, name, device.Request, device.Driver, device.Pool, device.Device)
				lines++
			}
		}
		if lines == 0 {
			fmt.Fprintf(table, "%s\t%s\t\t\t\n", pod.Pod, node)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, pod := range r.Pods {
		if pod.Message != nil {
			fmt.Fprintf(output, "%s: %s\n", pod.Pod, *pod.Message)
		}
	}
	return nil
}

// readPins reads which pod goes to which node from the output of `placements`.
func readPins(file string) (map[string]string, error) {
	nodes := map[string]string{}
	if file == "" {
		return nodes, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var report placementReport
	if err := json.Unmarshal(content, &report); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, pod := range report.Pods {
		if pod.Node != nil {
			nodes[pod.Pod] = *pod.Node
		}
	}
	return nodes, nil
}
