import { eachHost } from './each-host.ts';

/** kubeadm's ControlPlaneNumCPU. */
const NEEDED = 2;

export const cpus = eachHost(
  {
    name: 'cpus',
    title: 'a control plane has two CPUs or more',
    why: 'kubeadm refuses to go on with one.',
    severities: ['error'],
  },
  ({ host, facts }) =>
    host.role !== 'control-plane' || facts.cpus >= NEEDED
      ? []
      : [{ severity: 'error', message: `has ${String(facts.cpus)} CPU, and a control plane needs ${String(NEEDED)}` }],
);
