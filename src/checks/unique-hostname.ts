import { uniqueValue } from './unique-value.ts';

export const uniqueHostname = uniqueValue(
  {
    name: 'unique-hostname',
    title: 'every host has a hostname of its own',
    why: 'In logs, two machines of one name cannot be told apart, and programs that register by hostname replace each other. Set `setHostname: true`, or rename one with `hostnamectl`.',
    severities: ['error', 'due'],
  },
  ({ hostname }) => [hostname],
  {
    message: (value, others) => `calls itself ${value}, and so does ${others}`,
    remedy: 'hostnamectl set-hostname NAME on one of them, or setHostname: true in the inventory',
    // `up` renames the hosts then.
    severity: (hosts) => (hosts.every(({ host }) => host.setHostname) ? 'due' : 'error'),
  },
);
