import type { Check } from './check.ts';

export const unnamed: Check = {
  name: 'unnamed',
  title: 'every node of the cluster, and every member of an etcd beside it, is a host of the inventory',
  why: '`up` does not remove a node that the inventory no longer names. Run `kbuild remove NAME`, or name the host again.',
  severities: ['warning'],
  test: ({ inventory, fleet: { cluster } }) => {
    const named = new Set(inventory.hosts.map(({ name }) => name));
    const nodes =
      cluster.state === 'up' ? cluster.nodes.map(({ name }) => ({ name, what: 'a node of the cluster' })) : [];
    const members =
      cluster.etcd?.state === 'up'
        ? cluster.etcd.members.map(({ name }) => ({ name, what: 'a member of its etcd' }))
        : [];
    return [...nodes, ...members]
      .filter(({ name }) => name !== '' && !named.has(name))
      .map(({ name, what }) => ({
        severity: 'warning' as const,
        host: name,
        message: `is ${what}, and the inventory does not name it`,
        remedy: `kbuild remove ${name}, or name it in the inventory again`,
      }));
  },
};
