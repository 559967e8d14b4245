import { CONTAINER_RUNTIMES } from '../../components/runtimes/index.ts';
import { lines, probe } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';

const SOCKETS = [...CONTAINER_RUNTIMES.map(({ socket }) => socket), '/run/cri-dockerd.sock'];

/** CRI sockets on the host. kubeadm refuses to guess between two, so kbuild always names one. */
export const criSockets = probe(
  sh`for socket in ${SOCKETS}; do if [ -S "$socket" ]; then echo "$socket"; fi; done`,
  (out) => lines(out),
);
