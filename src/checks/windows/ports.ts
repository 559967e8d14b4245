import { windowsServices } from '../../components/network-plugins/index.ts';
import { eachWindowsHost } from '../each-host.ts';

/** Programs of Kubernetes and its network. HNS listens at the VXLAN port as `system` or `svchost`. */
const ALLOWED_PROGRAMS: ReadonlySet<string> = new Set([
  'kubelet',
  'kube-proxy',
  ...windowsServices,
  'system',
  'svchost',
]);

export const windowsPorts = eachWindowsHost(
  {
    name: 'windows-ports',
    title: 'no other program listens at the ports of a Windows node',
    why: 'The kubelet (10250), kube-proxy (10256) and VXLAN (UDP 4789) need theirs. VMware NSX inside the machine, for one, takes the last.',
    severities: ['error'],
  },
  ({ facts }) =>
    facts.listeners
      .filter(({ program }) => !ALLOWED_PROGRAMS.has(program.toLowerCase()))
      .map(({ protocol, port, program }) => ({
        severity: 'error',
        message: `${protocol.toUpperCase()} port ${String(port)} is taken by ${program === '' ? 'another program' : program}`,
        remedy: 'stop that program, or take it off this host',
      })),
);
