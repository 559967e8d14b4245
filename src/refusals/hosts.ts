/** The endpoint, load balancers, and cluster DNS. */
export const endpointPages = {
  'endpoint-changed': {
    title: 'the inventory names another endpoint than the cluster has',
    why: 'Every kubelet and kubeconfig names the endpoint. `kbuild move-endpoint` leads them to another one.',
  },
  'endpoint-of-host': {
    title: "the cluster's endpoint is the address of one host, which cannot be removed or get company",
    why: [
      'The other control planes would not be used, and without that host the endpoint is gone. Lead the cluster',
      'to an endpoint of its own first: `kbuild move-endpoint`.',
    ],
  },
  'endpoint-in-use': {
    title: 'something still uses the old endpoint',
    why: 'It would be cut off. The message names what must be led to the new endpoint first.',
  },
  'endpoint-not-serving': {
    title: 'the new endpoint does not serve the cluster to a host yet',
    why: [
      'What is led there would be cut off. Mend the way there (a firewall, a route, the name), then run the same',
      'command again.',
    ],
  },
  'endpoint-of-other-cluster': {
    title: 'the new endpoint serves another cluster',
    why: 'Its certificate is of another CA. Name an endpoint that leads to the control planes of this cluster only.',
  },
  'address-taken': {
    title: 'another machine has the virtual address',
    why: [
      'Two machines with one address take packets from each other. Choose a free address for',
      '`loadBalancer.address`.',
    ],
  },
  'host-name-taken': {
    title: '/etc/hosts leads the old endpoint to another address than the new one needs',
    why: 'One name cannot have both addresses. Give the new endpoint another name.',
  },
  'balancer-in-use': {
    title: 'a load balancer of kbuild may still be in use',
    why: [
      'Its clients would lose the API. Lead them to another endpoint first, or build the new balancer on other',
      'hosts.',
    ],
  },
  'haproxy-taken': {
    title: 'haproxy of a node serves something of yours',
    why: [
      'With `loadBalancer.kind: local` kbuild writes the configuration of haproxy on every node. What haproxy serves',
      'there now would end: move it to another host or program, or choose another load balancer.',
    ],
  },
  'balancer-configuration': {
    title: 'kbuild cannot take API servers out of a load balancer',
    why: 'Its HAProxy has the configuration of an older kbuild, or socat is missing. Run `kbuild up` first.',
  },
  corefile: {
    title: 'the Corefile has blocks that kbuild would break or write twice',
    why: [
      'CoreDNS does not start with two blocks for one zone. Delete what the message names, or take the zone out',
      'of `dns.blocks`.',
    ],
  },
  'coredns-missing': {
    title: "kubeadm's CoreDNS is not there, whose pods would try `dns.blocks`",
    why: 'kbuild does not apply blocks that nothing has tried. Bring the Deployment back, or take `dns.blocks` out.',
  },
} as const;

/** One host: its system, its files, its programs and its container runtime. */
export const hostPages = {
  'unsupported-system': {
    title: 'kbuild does not support the system of a host, or this setting on it',
    why: 'kbuild has neither the packages nor the tests for it. [docs/hosts.md](hosts.md) lists the systems.',
  },
  'unsafe-path': {
    title: 'another user than root could lead a path elsewhere that kbuild reads or writes as root',
    why: [
      'That user could read secrets, or have files of the system overwritten. Name a path whose folders and',
      'links belong to root, and to which no other user can write.',
    ],
  },
  'not-a-file': {
    title: 'there is something else than a file where kbuild writes one',
    why: 'kbuild does not delete a folder or device that it did not make. Find out what it is for, and move it away.',
  },
  'foreign-file': {
    title: 'a file is there that kbuild must write, and did not write',
    why: 'It has another owner. Move it away as the message says.',
  },
  'unreadable-settings': {
    title: 'a file with settings of another owner, into which kbuild puts its own, cannot be read',
    why: [
      'To overwrite it would lose the settings of its owner. Correct the file: the program itself does not start',
      'with it either.',
    ],
  },
  'download-unproven': {
    title: 'nothing proves that a download is what its project published',
    why: [
      'kbuild runs programs as root only if a checksum that came over https, or the inventory, proves them. Use',
      'https, or name the SHA-256 in the inventory.',
    ],
  },
  'signing-key': {
    title: 'the signing key of a repository cannot be read, has ended, or is not the one that the inventory pins',
    why: [
      'The key guards what root installs. Compare its fingerprint with the one that the vendor publishes, then',
      'correct `repository.key` or `repository.fingerprint`.',
    ],
  },
  'no-packages': {
    title: 'the system of a host has no packages of a program',
    why: 'Use `installFrom: binaries`, another program, or another system.',
  },
  'no-binaries': {
    title: 'a program is published as a package only, and the host gets binaries',
    why: 'Use another runtime there, or packages on a system that has them.',
  },
  'built-in-missing': {
    title: 'the system brings a program itself, and this host has switched it off',
    why: 'Switch the part of the system that brings it on again.',
  },
  'installation-changed': {
    title: 'a program was installed from a package and the inventory wants binaries, or the other way round',
    why: [
      'Both would be there, and each could start the program. Remove the host and join it again, or remove the',
      'package.',
    ],
  },
  'no-chrony': {
    title: '`timeSync: chrony` is not possible on a host',
    why: 'The message says what is in the way and what to do.',
  },
  'other-time-service': {
    title: 'another service keeps the clock of a host, and chrony would take its place',
    why: 'kbuild does not replace a service of yours. Switch it off yourself, or take `timeSync` out.',
  },
  'no-interface-address': {
    title: 'no interface of a host has its internal address',
    why: [
      'The virtual address, or the pod network, has no place without it. Set `internalAddress` to an address of',
      'the host.',
    ],
  },
  'runtime-changed': {
    title: 'the kubelet of a joined host uses another container runtime than the inventory asks for',
    why: [
      'Only `kbuild up` changes the runtime, node by node, and not between all runtimes. Run it first, or set',
      '`runtime.name` back.',
    ],
  },
  'handler-in-use': {
    title: 'the inventory no longer has a runtime handler by which pods run',
    why: 'The pods could not start again. Name the handler again, or end these pods first.',
  },
  'windows-reboot': {
    title: 'a Windows host is to be rebooted',
    why: 'kbuild does not reboot Windows hosts. Drain the node and restart the host yourself.',
  },
  'windows-node-cut-off': {
    title: 'the change would cut a Windows node off',
    why: [
      'kbuild cannot give a Windows node another CA or another endpoint. Take the node out, and join it again',
      'afterwards.',
    ],
  },
  'no-windows-server': {
    title: 'a Windows host is no Windows Server',
    why: 'Only Windows Server has the features that containers need.',
  },
} as const;

/** Runs: locks, actions that were cut off, and changes that are in no confirmed plan. */
export const runPages = {
  locked: {
    title: 'another run holds the lock of a host or of the cluster',
    why: [
      'Two runs would undo each other. Wait until the other run has ended. If it runs nowhere any more, `kbuild',
      'unlock --force` frees the lock.',
    ],
  },
  'lock-freed': {
    title: 'the lock of this run was freed by force',
    why: 'Another run may change the hosts now. Look who freed it, then run the same command again.',
  },
  'unplanned-change': {
    title: 'a change is due that was not in the confirmed plan',
    why: 'The host has changed since the plan was confirmed. Run the same command again, and confirm the new plan.',
  },
  'unfinished-action': {
    title: 'an action that was cut off lies on a host, and this command does not finish it',
    why: [
      'A half-finished join, removal or restore must end before something else begins. Run the command that the',
      'message names, then this one again.',
    ],
  },
  'unreadable-marker': {
    title: 'the marker of an unfinished action cannot be read',
    why: [
      'It is corrupt, or a newer kbuild wrote it. Finish the action with the kbuild that began it; if none is',
      'under way, delete the file that the message names.',
    ],
  },
  'settings-not-applied': {
    title: 'settings were edited and not applied yet',
    why: 'kubeadm would mix them with this change. Apply them with `kbuild up`, then run this command again.',
  },
} as const;
