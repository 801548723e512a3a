package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// awaitCertificate waits for the certificate that the API server makes itself.
func (p *plane) awaitCertificate(ctx context.Context) error {
	return p.await(ctx, "the API server's certificate", func() bool {
		_, err := os.Stat(certFile(p.dir))
		return err == nil
	})
}

// awaitAPI waits until the API server is ready and namespace `default` exists.
func (p *plane) awaitAPI(ctx context.Context) error {
	client, err := clientset(adminKubeconfig(p.dir))
	if err != nil {
		return err
	}
	return p.await(ctx, "the API server", func() bool {
		ready := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		if ready != nil {
			return false
		}
		_, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
}

// awaitReadyz polls a health endpoint that needs no credentials. The parts make
// their serving certificates themselves and nothing is sent to them.
func (p *plane) awaitReadyz(ctx context.Context, name string, port int, path string) error {
	client := &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	url := fmt.Sprintf("https://127.0.0.1:%d%s", port, path)
	return p.await(ctx, name, func() bool {
		response, err := client.Get(url)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// await polls until the condition holds, a part dies, or the time is over.
func (p *plane) await(ctx context.Context, what string, holds func() bool) error {
	for !holds() {
		if err := p.died(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; logs are in %s", what, ctx.Err(), p.dir)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

func clientset(kubeconfig string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

func serverVersion(kubeconfig string) (string, error) {
	client, err := clientset(kubeconfig)
	if err != nil {
		return "", err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return "", err
	}
	return version.GitVersion, nil
}
