/* pause: holds a pod's namespaces. `pause -v` must print and end: kubeadm upgrade's health check runs that as a Job. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void down(int s) { (void)s; exit(0); }
static void reap(int s) { (void)s; while (waitpid(-1, 0, WNOHANG) > 0); }

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], "-v")) { puts("pause.c (lab)"); return 0; }
  struct sigaction a = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
  signal(SIGINT, down);
  signal(SIGTERM, down);
  sigaction(SIGCHLD, &a, 0);
  for (;;) pause();
}
