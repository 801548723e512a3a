// Command controlplane is a real Kubernetes control plane for tests, in one
// multi-call binary made of ordinary module dependencies: etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler (the peer to compare with), each
// a process of its own with the flags that its documentation lists, and the few
// verbs that tests need around them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = `usage: controlplane VERB ARG...

parts (flags as documented upstream):
  etcd | apiserver | controller-manager | scheduler ARG...

verbs:
  up          start all parts on loopback, say where in one JSON line, stop them on SIGTERM
  apply       create the objects of manifests, statuses included
  placements  print which pod sits where, with which devices
  delete-pods delete pods, given as namespace/name, without a grace period
  wipe        delete all that tests create
`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	verb, args := os.Args[1], os.Args[2:]
	switch verb {
	case "etcd":
		etcdmain.Main(append([]string{"etcd"}, args...))
	case "apiserver":
		runPart(apiserver.NewAPIServerCommand(), args)
	case "controller-manager":
		runPart(controllermanager.NewControllerManagerCommand(), args)
	case "scheduler":
		runPart(scheduler.NewSchedulerCommand(), args)
	case "up":
		runVerb(up, args)
	case "apply":
		runVerb(apply, args)
	case "placements":
		runVerb(placements, args)
	case "delete-pods":
		runVerb(deletePods, args)
	case "wipe":
		runVerb(wipe, args)
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
}

func runPart(command *cobra.Command, args []string) {
	command.SetArgs(args)
	os.Exit(cli.Run(command))
}

// runVerb gives the verb a context that ends on SIGTERM or SIGINT.
func runVerb(verb func(context.Context, []string) error, args []string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := verb(ctx, args); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}
