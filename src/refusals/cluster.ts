/** Whose cluster and whose host it is, and whether the cluster is there and answers. */
export const clusterPages = {
  'other-cluster': {
    title: 'a host, or the cluster that answers, belongs to another cluster than the inventory describes',
    why: [
      'A change would damage a cluster that is in use. Use the inventory of that cluster, correct the address of',
      'the host, or take the cluster over with `kubernetes.adopt`.',
    ],
  },
  'several-clusters': {
    title: 'hosts of the inventory belong to more than one cluster, by the keys of their CAs',
    why: 'kbuild cannot tell which of the clusters is meant. Take the hosts of the other cluster out of the inventory.',
  },
  'adopted-ca': {
    title: 'kubernetes.adopt names another CA than the cluster has, or the CA that a rotation removes',
    why: [
      '`kubernetes.adopt` allows changes to one cluster only, which its CA proves. Set it to the fingerprint',
      'that the message shows, or take it out.',
    ],
  },
  'foreign-leftovers': {
    title: 'a host holds files of a cluster that kbuild does not know',
    why: [
      'The files may be the only copy of keys or data. Find out whose they are; the message has the command that',
      'cleans the host.',
    ],
  },
  'wrong-machine': {
    title: 'another machine answers at the address of a host',
    why: [
      'kbuild compares what identifies the machine with what the cluster knows about the host. A change would',
      'reach the wrong machine. Correct the address in the inventory.',
    ],
  },
  'node-elsewhere': {
    title: 'the node of a host is Ready at another address',
    why: [
      'The node runs on another machine. To join this host, or to remove it, would take the node away from that',
      'machine. Correct the address, or give the host another name.',
    ],
  },
  'host-renamed': {
    title: 'the cluster knows the machine by another name',
    why: [
      'Kubernetes cannot rename a node. Use the name that the cluster knows, or remove the node first and join',
      'the host with its new name.',
    ],
  },
  'role-changed': {
    title: 'a host that has joined has another role in the inventory',
    why: [
      'kbuild does not make a worker of a control plane, nor the other way round. Set the role back, or remove',
      'the host and join it again.',
    ],
  },
  'address-changed': {
    title: 'a host that has joined has another internal address in the inventory',
    why: [
      'Certificates, etcd and the node object hold the address. Set it back, or remove the host and join it',
      'again with the new address.',
    ],
  },
  'host-returned': {
    title: 'a host was removed from the cluster while it was away, and has come back',
    why: [
      'Its node and its etcd member are gone, so its files are of no use and could disturb the cluster. Reset',
      'the host, then join it.',
    ],
  },
  'no-cluster': {
    title: 'there is no cluster yet',
    why: 'The command works on a cluster that stands. Build it with `kbuild up`.',
  },
  'not-joined': {
    title: 'the host has not joined the cluster yet',
    why: [
      'The command works on hosts that are part of the cluster. Join the host with `kbuild up`, or take it out',
      'of the inventory.',
    ],
  },
  'cluster-down': {
    title: 'the API, or etcd behind it, does not answer and the command needs it',
    why: [
      'What kbuild cannot observe it does not change. `kbuild status` shows what is down. Bring it back, then',
      'run the same command again.',
    ],
  },
  'no-other-api-server': {
    title: 'no other API server is ready while this one restarts',
    why: 'Clients would lose the API. Bring another control plane back first.',
  },
  'no-ready-node': {
    title: 'no node of the kind that the selftest needs is Ready and takes pods',
    why: 'The selftest runs pods there. `kbuild status` shows the nodes.',
  },
  'cannot-create': {
    title: 'no control plane of the inventory can create the cluster',
    why: [
      'kbuild creates a cluster only when every control plane answers and shows that it has none: otherwise a',
      'second cluster could be made beside the first one. Bring the hosts back, or take those that are gone out',
      'of the inventory.',
    ],
  },
  'founder-left-out': {
    title: '`--hosts` leaves out the control plane that would create the cluster',
    why: 'The other hosts have nothing to join. Name that control plane too.',
  },
  'control-planes-lost': {
    title: 'workers belong to a cluster, and no control plane of the inventory has one',
    why: [
      'A new cluster would shut the workers out for good. If the control planes are lost, restore them from a',
      'backup (`kbuild restore`); otherwise correct the inventory.',
    ],
  },
  'last-control-plane': {
    title: 'the hosts to be removed are all control planes of the cluster',
    why: [
      'The cluster would be gone. Join another control plane first, or destroy the whole cluster with `kbuild',
      'reset`.',
    ],
  },
  'unnamed-control-plane': {
    title: 'the inventory does not name a control plane of the cluster',
    why: [
      'kbuild cannot tell whether that control plane is healthy, and cannot change it with the others. Name it',
      'in the inventory, or take it out with `kbuild remove`.',
    ],
  },
  'unnamed-node': {
    title: 'the inventory does not name a node that the change would cut off',
    why: 'kbuild changes the hosts of the inventory only. Name the node, or take it out with `kbuild remove`.',
  },
  'control-plane-away': {
    title: 'a control plane is declared dead while authorities change',
    why: 'It would come back with other authorities than the rest. Take it out of the cluster first.',
  },
  'dead-host-lives': {
    title: '`--dead` names a host that answers, or whose node or etcd member is healthy',
    why: [
      'kbuild treats a dead host as gone for good. One that lives would go on beside the cluster. Run the',
      'command without it, or make it reachable by SSH.',
    ],
  },
  'fixed-setting': {
    title: 'a setting was edited that Kubernetes, or kbuild, cannot change on a live cluster',
    why: 'Set it back to what the cluster was made with. Another value needs a new cluster.',
  },
  'network-plugin-changed': {
    title: 'the inventory names another network plugin than the live cluster has',
    why: [
      'Pods that run would lose their network, and no project documents a way that keeps what kbuild promises: see',
      '[another network plugin](changing-a-cluster.md#another-network-plugin). Set `network.plugin` back, or build a',
      'new cluster.',
    ],
  },
  'windows-network': {
    title: 'Windows hosts need another network than the live cluster has',
    why: [
      'The change would cut pods of different hosts off from each other until all hosts have changed. The',
      'message says how to make it in a maintenance window.',
    ],
  },
  'changed-meanwhile': {
    title: 'another run has changed the cluster since this run observed it',
    why: 'Run the same command again: it goes on from what is there.',
  },
} as const;

/** Versions and upgrades. */
export const versionPages = {
  downgrade: {
    title: 'kubernetes.version is older than what the cluster runs',
    why: 'Kubernetes has no downgrade, not even to an older patch. Set the version to what runs, or to a newer one.',
  },
  'unknown-version': {
    title: 'this kbuild does not know a minor of Kubernetes on the way',
    why: 'Name a minor that it knows, or use a newer kbuild.',
  },
  'version-unpublished': {
    title: 'the repository has no packages of a minor on the way, or cannot list them',
    why: 'An upgrade takes every minor. Name the version with `kubernetes.via`, or mirror the packages.',
  },
  'minors-apart': {
    title: 'components would be, or are, further apart than Kubernetes supports',
    why: [
      'API servers may be one minor apart, and kubelets three minors older and never newer. Upgrade the oldest',
      'first, and all control planes in one run.',
    ],
  },
  'upgrade-unfinished': {
    title: 'an upgrade is half done',
    why: 'The change would be mixed with it. Finish it with `kbuild upgrade` and the version that the message names.',
  },
  'etcd-copy-space': {
    title: 'there is too little space for the copy of etcd that kubeadm makes before it exchanges etcd',
    why: 'The upgrade would stop in the middle. Make room on the volume that the message names.',
  },
  'etcd-too-old': {
    title: 'etcd is older than the next Kubernetes needs',
    why: 'Upgrade etcd first, one member at a time, or take the tag that keeps it old out of the inventory.',
  },
  'runtime-misfit': {
    title: 'the container runtime does not fit a version of Kubernetes on the way',
    why: 'The kubelet would not start. Change `runtime.version`.',
  },
  'cgroup-v1': {
    title: 'a host runs on cgroup v1, with which the next kubelet does not start',
    why: 'Boot it with cgroup v2, or accept v1 in the inventory.',
  },
  'cgroup-driver-unfinished': {
    title: 'pods of a host still run by another cgroup driver',
    why: 'Finish the change with `kbuild up`, or set `runtime.cgroupDriver` back.',
  },
  'removed-api': {
    title: 'the next Kubernetes cannot read objects of an API',
    why: [
      'They would stay in etcd where nothing can read or delete them. Delete them when you know what they are',
      'for ([docs/upgrade-removed.md](upgrade-removed.md)).',
    ],
  },
  'removed-setting': {
    title: 'a setting is in use that the next Kubernetes does not know',
    why: [
      'The component would not start. The message says where it stands and what takes its place',
      '([docs/upgrade-removed.md](upgrade-removed.md)).',
    ],
  },
} as const;
