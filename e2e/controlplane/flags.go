package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// choose asks the kernel for free ports; all are held until all are known.
func (p *ports) choose() error {
	for _, port := range []*int{&p.etcdClient, &p.etcdPeer, &p.apiserver, &p.controllerManager, &p.scheduler} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer listener.Close()
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return nil
}

func (p *plane) server() string { return fmt.Sprintf("https://127.0.0.1:%d", p.ports.apiserver) }

func (p *plane) etcdArgs() []string {
	client := fmt.Sprintf("http://127.0.0.1:%d", p.ports.etcdClient)
	peer := fmt.Sprintf("http://127.0.0.1:%d", p.ports.etcdPeer)
	return []string{
		"--data-dir", filepath.Join(p.dir, "etcd"),
		"--unsafe-no-fsync", // the data live no longer than the test
		"--listen-client-urls", client,
		"--advertise-client-urls", client,
		"--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default=" + peer,
		"--log-level", "warn",
	}
}

func (p *plane) apiserverArgs(featureGates, runtimeConfig string) []string {
	return withGates(featureGates,
		"--runtime-config", runtimeConfig,
		"--etcd-servers", fmt.Sprintf("http://127.0.0.1:%d", p.ports.etcdClient),
		"--secure-port", strconv.Itoa(p.ports.apiserver),
		"--bind-address", "127.0.0.1",
		"--advertise-address", "127.0.0.1",
		"--endpoint-reconciler-type", "none",
		"--cert-dir", certDir(p.dir),
		"--token-auth-file", filepath.Join(p.dir, tokenFile),
		"--authorization-mode", "RBAC",
		"--service-account-key-file", filepath.Join(p.dir, publicKeyFile),
		"--service-account-signing-key-file", filepath.Join(p.dir, privateKeyFile),
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-cluster-ip-range", "10.0.0.0/24",
		// There is no service account controller, nodes are reported by no
		// kubelet, and spec.priority is taken as the manifest gives it.
		"--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition,Priority",
		"--audit-policy-file", filepath.Join(p.dir, auditPolicyFile),
		"--audit-log-path", filepath.Join(p.dir, "audit.jsonl"),
	)
}

const auditPolicyFile = "audit-policy.yaml"

// writeAuditPolicy has noted what stowplan asks for, so that tests can compare
// it with what its manifest grants.
func writeAuditPolicy(dir string) error {
	const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["system:serviceaccount:kube-system:stowplan"]
- level: None
`
	return os.WriteFile(filepath.Join(dir, auditPolicyFile), []byte(policy), 0o600)
}

// The controllers act as a member of system:masters. Without the rights of its
// controllers the process runs, makes no claim, and says so in its log only.
func (p *plane) controllerManagerArgs(featureGates string) []string {
	return withGates(featureGates,
		"--kubeconfig", adminKubeconfig(p.dir),
		"--leader-elect=false",
		"--secure-port", strconv.Itoa(p.ports.controllerManager),
		"--bind-address", "127.0.0.1",
		"--cert-dir", filepath.Join(p.dir, "controller-manager-pki"),
		"--controllers", controllers,
		"--kube-api-qps", "5000",
		"--kube-api-burst", "5000",
	)
}

func (p *plane) schedulerArgs(featureGates string) []string {
	return withGates(featureGates,
		"--config", filepath.Join(p.dir, schedulerConfigFile),
		"--secure-port", strconv.Itoa(p.ports.scheduler),
		"--bind-address", "127.0.0.1",
		"--cert-dir", filepath.Join(p.dir, "scheduler-pki"),
	)
}

func withGates(featureGates string, args ...string) []string {
	if featureGates != "" {
		args = append(args, "--feature-gates", featureGates)
	}
	return args
}

const schedulerConfigFile = "scheduler.yaml"

// writeSchedulerConfig raises the client's limits: the defaults of 50 requests
// a second hide what the scheduler itself can do.
func writeSchedulerConfig(dir string) error {
	config := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: %q
  qps: 5000
  burst: 5000
profiles:
- schedulerName: default-scheduler
`, adminKubeconfig(dir))
	return os.WriteFile(filepath.Join(dir, schedulerConfigFile), []byte(config), 0o600)
}
