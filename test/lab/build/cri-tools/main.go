// The commands and flags of crictl that kbuild uses, over the real CRI; everything else is refused.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "FATA[0000]", err)
		os.Exit(1)
	}
}

func main() {
	all := flag.NewFlagSet("crictl", flag.ExitOnError)
	socket := "unix:///run/containerd/containerd.sock"
	all.StringVar(&socket, "r", socket, "")
	all.StringVar(&socket, "runtime-endpoint", socket, "")
	patience := all.Duration("t", 2*time.Second, "")
	check(all.Parse(os.Args[1:]))
	connection, err := grpc.NewClient(socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	runtime, images := cri.NewRuntimeServiceClient(connection), cri.NewImageServiceClient(connection)
	// As crictl: the runtime must answer in time before it is asked anything.
	limited, done := context.WithTimeout(context.Background(), *patience)
	_, err = runtime.Version(limited, &cri.VersionRequest{})
	done()
	check(err)

	// As crictl: options first, then what they are about.
	options := flag.NewFlagSet(all.Arg(0), flag.ExitOnError)
	synchronous := options.Bool("s", false, "")
	every := options.Bool("a", false, "")
	quiet := options.Bool("q", false, "")
	name := options.String("name", "", "")
	state := options.String("state", "", "")
	tail := options.String("tail", "-1", "")
	labels := map[string]string{}
	options.Func("label", "", func(text string) error {
		key, value, found := strings.Cut(text, "=")
		if !found {
			return fmt.Errorf("incorrectly specified label: %v", text)
		}
		labels[key] = value
		return nil
	})
	if all.NArg() > 0 {
		check(options.Parse(all.Args()[1:]))
	}
	arguments := options.Args()

	switch all.Arg(0) {
	case "exec":
		if !*synchronous {
			check(fmt.Errorf("the stand-in knows only exec -s"))
		}
		answer, err := runtime.ExecSync(context.Background(), &cri.ExecSyncRequest{ContainerId: arguments[0], Cmd: arguments[1:]})
		check(err)
		os.Stdout.Write(answer.Stdout)
		os.Stderr.Write(answer.Stderr)
		if answer.ExitCode != 0 {
			check(fmt.Errorf("execing command in container synchronously: command exited with status %d", answer.ExitCode))
		}
	case "ps":
		ps(runtime, *every || *state != "", *quiet, *name, *state, labels)
	case "logs":
		answer, err := runtime.ContainerStatus(context.Background(), &cri.ContainerStatusRequest{ContainerId: arguments[0]})
		check(err)
		// Lines of the CRI's log begin with time, stream and tag.
		log := exec.Command("sh", "-c", `tail -n "$1" -- "$2" | cut -d" " -f4-`, "sh", strings.Replace(*tail, "-1", "+1", 1), answer.Status.LogPath)
		log.Stdout, log.Stderr = os.Stdout, os.Stderr
		check(log.Run())
	case "pull":
		answer, err := images.PullImage(context.Background(), &cri.PullImageRequest{Image: &cri.ImageSpec{Image: arguments[0]}})
		check(err)
		fmt.Println("Image is up to date for", answer.ImageRef)
	default:
		check(fmt.Errorf("the stand-in does not know %q", all.Arg(0)))
	}
}

// ps lists containers, the youngest first.
func ps(runtime cri.RuntimeServiceClient, every, quiet bool, name, state string, labels map[string]string) {
	filter := &cri.ContainerFilter{LabelSelector: labels}
	answer, err := runtime.ListContainers(context.Background(), &cri.ListContainersRequest{Filter: filter})
	check(err)
	pattern, err := regexp.Compile(name)
	check(err)
	for _, container := range answer.Containers {
		is := strings.TrimPrefix(container.State.String(), "CONTAINER_")
		wanted := every || is == "RUNNING"
		if !wanted || !pattern.MatchString(container.Metadata.Name) || (state != "" && !strings.EqualFold(state, is)) {
			continue
		}
		if quiet {
			fmt.Println(container.Id)
		} else {
			fmt.Println(container.Id[:13], time.Unix(0, container.CreatedAt).Format(time.RFC3339), is, container.Metadata.Name, container.Metadata.Attempt)
		}
	}
}
