package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	tokenFile      = "tokens.csv"
	privateKeyFile = "service-account.key"
	publicKeyFile  = "service-account.pub"
)

func certDir(dir string) string            { return filepath.Join(dir, "apiserver-pki") }
func certFile(dir string) string           { return filepath.Join(certDir(dir), "apiserver.crt") }
func adminKubeconfig(dir string) string    { return filepath.Join(dir, "admin.kubeconfig") }
func stowplanKubeconfig(dir string) string { return filepath.Join(dir, "stowplan.kubeconfig") }

// tokens are made anew at each start.
type tokens struct{ admin, stowplan string }

// writeCredentials writes the token file and the service account keys that the
// API server reads. Stowplan's identity is in the groups of a service account
// and in no other, so that it may do exactly what the manifests grant.
func writeCredentials(dir string) (tokens, error) {
	t := tokens{admin: randomToken(), stowplan: randomToken()}
	lines := fmt.Sprintf("%s,admin,1,\"system:masters\"\n", t.admin) +
		fmt.Sprintf("%s,system:serviceaccount:kube-system:stowplan,2,"+
			"\"system:serviceaccounts,system:serviceaccounts:kube-system,system:authenticated\"\n", t.stowplan)
	if err := os.WriteFile(filepath.Join(dir, tokenFile), []byte(lines), 0o600); err != nil {
		return tokens{}, err
	}
	return t, writeServiceAccountKeys(dir)
}

func randomToken() string {
	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails since Go 1.24
	return hex.EncodeToString(token)
}

func writeServiceAccountKeys(dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	private := x509.MarshalPKCS1PrivateKey(key)
	if err := writePEM(filepath.Join(dir, privateKeyFile), "RSA PRIVATE KEY", private); err != nil {
		return err
	}
	return writePEM(filepath.Join(dir, publicKeyFile), "PUBLIC KEY", public)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// writeKubeconfigs needs the certificate that the API server makes for itself.
func writeKubeconfigs(dir, server string, t tokens) error {
	certificate, err := os.ReadFile(certFile(dir))
	if err != nil {
		return err
	}
	for path, token := range map[string]string{
		adminKubeconfig(dir):    t.admin,
		stowplanKubeconfig(dir): t.stowplan,
	} {
		config := clientcmdapi.NewConfig()
		config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: certificate}
		config.AuthInfos["e2e"] = &clientcmdapi.AuthInfo{Token: token}
		config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "e2e"}
		config.CurrentContext = "e2e"
		if err := clientcmd.WriteToFile(*config, path); err != nil {
			return err
		}
	}
	return nil
}
