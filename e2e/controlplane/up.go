package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// How long the whole control plane may take to become ready.
const readyTimeout = 90 * time.Second

// Controllers that fill in what the scheduler relies on: claims from templates
// and their clean-up, the removal of evicted and orphaned pods, and the pods of
// the workload kinds.
const controllers = "resourceclaim-controller,garbage-collector-controller,pod-garbage-collector-controller," +
	"namespace-controller,device-taint-eviction-controller," +
	"deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller"

// plane is a running control plane.
type plane struct {
	dir   string
	ports ports
	parts []*part
}

type ports struct {
	etcdClient, etcdPeer, apiserver, controllerManager, scheduler int
}

// started is what `up` prints, on one line, once everything is ready.
type started struct {
	Dir                string         `json:"dir"`
	Server             string         `json:"server"`
	Version            string         `json:"version"`
	AdminKubeconfig    string         `json:"adminKubeconfig"`
	StowplanKubeconfig string         `json:"stowplanKubeconfig"`
	Pids               map[string]int `json:"pids"`
}

func up(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	dir := flags.String("dir", "", "folder for state, logs and kubeconfigs (made when missing)")
	withScheduler := flags.Bool("with-scheduler", false, "run upstream's kube-scheduler too, for schedulerName default-scheduler")
	featureGates := flags.String("feature-gates", "", "given to the API server, the controller manager and the scheduler alike")
	runtimeConfig := flags.String("runtime-config", "", "given to the API server: versions to serve besides the default ones, such as resource.k8s.io/v1beta1=true")
	stdinCloses := flags.Bool("stop-on-stdin-close", false, "stop when standard input is closed, as it is when the process that started this one ends")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		return errors.New("up needs --dir")
	}
	absolute, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	if *stdinCloses {
		ctx = untilClosed(ctx, os.Stdin)
	}

	p := &plane{dir: absolute}
	defer p.stop()
	if err := p.start(ctx, *withScheduler, *featureGates, *runtimeConfig); err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop while starting
		}
		return err
	}
	if err := p.report(); err != nil {
		return err
	}
	return p.wait(ctx)
}

func (p *plane) start(ctx context.Context, withScheduler bool, featureGates, runtimeConfig string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	if err := p.ports.choose(); err != nil {
		return err
	}
	tokens, err := writeCredentials(p.dir)
	if err != nil {
		return err
	}
	if err := writeAuditPolicy(p.dir); err != nil {
		return err
	}

	if err := p.run("etcd", p.etcdArgs()...); err != nil {
		return err
	}
	if err := p.run("apiserver", p.apiserverArgs(featureGates, runtimeConfig)...); err != nil {
		return err
	}
	if err := p.awaitCertificate(ctx); err != nil {
		return err
	}
	if err := writeKubeconfigs(p.dir, p.server(), tokens); err != nil {
		return err
	}
	if err := p.awaitAPI(ctx); err != nil {
		return err
	}
	if err := p.run("controller-manager", p.controllerManagerArgs(featureGates)...); err != nil {
		return err
	}
	if err := p.awaitReadyz(ctx, "controller-manager", p.ports.controllerManager, "/healthz"); err != nil {
		return err
	}
	if !withScheduler {
		return nil
	}
	if err := writeSchedulerConfig(p.dir); err != nil {
		return err
	}
	if err := p.run("scheduler", p.schedulerArgs(featureGates)...); err != nil {
		return err
	}
	return p.awaitReadyz(ctx, "scheduler", p.ports.scheduler, "/readyz")
}

func (p *plane) run(name string, args ...string) error {
	part, err := startPart(p.dir, name, args...)
	if err != nil {
		return err
	}
	p.parts = append(p.parts, part)
	return nil
}

// stop ends the parts in reverse order of their start: clients before servers.
func (p *plane) stop() {
	for i := len(p.parts) - 1; i >= 0; i-- {
		p.parts[i].stop()
	}
}

// wait returns when asked to stop, or with an error when a part ends by itself.
func (p *plane) wait(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
			if err := p.died(); err != nil {
				return err
			}
		}
	}
}

// died names a part that ended by itself.
func (p *plane) died() error {
	for _, part := range p.parts {
		if part.hasExited() {
			return fmt.Errorf("%s ended: %s; see %s",
				part.name, part.command.ProcessState, filepath.Join(p.dir, part.name+".log"))
		}
	}
	return nil
}

func (p *plane) report() error {
	version, err := serverVersion(adminKubeconfig(p.dir))
	if err != nil {
		return err
	}
	line := started{
		Dir:                p.dir,
		Server:             p.server(),
		Version:            version,
		AdminKubeconfig:    adminKubeconfig(p.dir),
		StowplanKubeconfig: stowplanKubeconfig(p.dir),
		Pids:               map[string]int{},
	}
	for _, part := range p.parts {
		line.Pids[part.name] = part.pid()
	}
	return json.NewEncoder(os.Stdout).Encode(line)
}

// untilClosed ends the context once nothing more can be read.
func untilClosed(ctx context.Context, input io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, input)
		cancel()
	}()
	return ctx
}
