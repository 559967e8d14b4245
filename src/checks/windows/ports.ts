import { eachWindowsHost } from '../each-host.ts';

/** Programs of Kubernetes' own; HNS listens at VXLAN's port for whoever made the network, as the system itself. */
const OURS: ReadonlySet<string> = new Set(['kubelet', 'kube-proxy', 'flanneld', 'system', 'svchost']);

/** What a node listens at is free. */
export const windowsPorts = eachWindowsHost(
  {
    name: 'windows-ports',
    title: 'nobody else listens at the ports of a Windows node',
    why: 'The kubelet (10250), kube-proxy (10256) and VXLAN (UDP 4789) need theirs. VMware NSX inside the machine, for one, takes the last.',
    severities: ['error'],
  },
  ({ facts }) =>
    facts.listeners
      .filter(({ program }) => !OURS.has(program.toLowerCase()))
      .map(({ protocol, port, program }) => ({
        severity: 'error',
        message: `${protocol.toUpperCase()} port ${String(port)} is taken by ${program === '' ? 'another program' : program}`,
        remedy: 'stop that program, or take it off this host',
      })),
);
