import { eachHost } from './each-host.ts';

const SUPPORTED: readonly string[] = ['x86_64', 'aarch64'];

export const architecture = eachHost(
  {
    name: 'architecture',
    title: 'the machine is x86_64 or aarch64',
    why: 'Packages of Kubernetes and the runtime, and the images of the network plugin, are taken for amd64 and arm64 only.',
    severities: ['error'],
  },
  ({ facts }) =>
    SUPPORTED.includes(facts.arch)
      ? []
      : [
          {
            severity: 'error',
            message: `is a ${facts.arch} machine, and only ${SUPPORTED.join(' and ')} are supported`,
          },
        ],
);
