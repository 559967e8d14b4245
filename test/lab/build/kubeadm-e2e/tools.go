//go:build tools

// What the suite imports, for go.mod.
package main

import (
	_ "k8s.io/kubernetes/test/e2e/framework/debug/init"
	_ "k8s.io/kubernetes/test/e2e_kubeadm"
)
