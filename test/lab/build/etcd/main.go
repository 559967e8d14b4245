// Command etcd is etcd and etcdctl in one file, picked by its own name.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case "etcdctl":
		ctlv3.MustStart()
	case "etcd":
		etcdmain.Main(os.Args)
	default:
		fmt.Fprintln(os.Stderr, "etcd: no program named", os.Args[0])
		os.Exit(2)
	}
}
