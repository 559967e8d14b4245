// Stands in for kubeadm, kubelet and kubectl where they are too large to be compiled: it says its version and architecture.
package main

import (
	"fmt"
	"path/filepath"
	"os"
	"runtime"
)

var version string

func main() {
	fmt.Printf("Kubernetes %s, a stand-in for %s on %s\n", version, filepath.Base(os.Args[0]), runtime.GOARCH)
}
