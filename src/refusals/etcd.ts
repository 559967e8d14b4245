/** Backups, and clusters that come back from them. */
export const backupPages = {
  'backup-of-other-cluster': {
    title: 'the backup is of another cluster',
    why: [
      'Two clusters with the same keys would trust the users and nodes of each other. Use the inventory, or the',
      'backup, of the same cluster.',
    ],
  },
  'backup-unusable': {
    title: 'the backup is damaged, cut off, or its parts do not belong together',
    why: 'Nothing was changed. Take another backup of the same cluster.',
  },
  'backup-setting': {
    title: 'a setting of the inventory is not that of the cluster in the backup',
    why: 'Workers and data know the old value only. Set it back as the message says.',
  },
  'backup-topology': {
    title: 'the etcd of the backup does not run on the control planes',
    why: [
      'kbuild brings only clusters with stacked etcd back. If the etcd lives, no data is lost: put the keys back',
      'by hand ([docs/operations.md](operations.md)).',
    ],
  },
  'backup-version': {
    title: 'kubernetes.version is not that of the backup',
    why: 'Restore with the version of the backup, and upgrade afterwards.',
  },
  'backup-authority': {
    title: 'the inventory names another authority than the backup has',
    why: 'Workers trust the authority of the backup. Name that one, or take the setting out.',
  },
  'backup-authority-key': {
    title: 'the backup and the inventory disagree on where an authority signs',
    why: 'Either the key is in the backup, or a command signs (`sign`). Correct `certificates` as the message says.',
  },
  'backup-encryption-key': {
    title: 'Secrets in the backup are encrypted with a key that the inventory does not distribute',
    why: 'API servers could not read them. Distribute the file with that key.',
  },
  'control-plane-lives': {
    title: 'a control plane lives where the command takes all of them for lost',
    why: 'Two control planes would each take writes. Switch it off for good, or name it in the inventory and use it.',
  },
  'inventory-from-stdin': {
    title: 'the inventory came from standard input, and a backup holds its file',
    why: 'Name the file: `-i FILE`.',
  },
} as const;

/** etcd: quorum, members, and data. */
export const etcdPages = {
  quorum: {
    title: 'etcd would lose its quorum, or might, because members are down or unknown',
    why: [
      'Without quorum etcd takes no writes, and the cluster stands still. `kbuild status` shows the members:',
      'heal them, or remove those that are gone for good.',
    ],
  },
  'quorum-lost': {
    title: 'etcd has lost its quorum',
    why: [
      'No command can change the cluster until etcd has it again. Start the members that can start, or see',
      '`kbuild etcd recover` and `kbuild etcd snapshot restore`.',
    ],
  },
  'etcd-alarm': {
    title: 'etcd has an alarm',
    why: [
      'It is out of space, or the data of a member differs from the others. Heal the cause',
      '([docs/operations.md](operations.md)), then clear it with `etcdctl alarm disarm`.',
    ],
  },
  'no-etcd': {
    title: 'no host runs etcd yet',
    why: 'Build the cluster with `kbuild up`.',
  },
  'no-healthy-member': {
    title: 'no member of etcd is healthy that could serve the command',
    why: '`kbuild status` shows the members. Bring one back first.',
  },
  'member-address': {
    title: "a member of etcd has a host's address, or the host has another address than its member",
    why: [
      'Two members cannot share an address. Correct `internalAddress` in the inventory, or remove the host and',
      'join it again.',
    ],
  },
  'unnamed-member': {
    title: 'a member of etcd is on no host that kbuild reached',
    why: 'kbuild works on every member. Name the host in the inventory, or remove the member with `kbuild remove`.',
  },
  'member-left-out': {
    title: 'a member or a control plane that a restore leaves out may still live',
    why: [
      'It would go on with other data behind the same endpoint. Make it reachable, so that it is restored too,',
      'or switch it off for good.',
    ],
  },
  'host-not-observed': {
    title: 'a host of role etcd was not observed, and may hold what is needed',
    why: [
      'Something that another host has already would be made a second time. Bring the host back, then run the',
      'same command again.',
    ],
  },
  'etcd-data-missing': {
    title: 'there is a cluster, and no host of role etcd holds its data',
    why: 'A new etcd in its place would be an empty cluster. Bring one of the hosts with the data back.',
  },
  'foreign-etcd-data': {
    title: 'the external etcd holds data of a Kubernetes cluster that is not this one',
    why: 'kbuild does not know whose the keys are, and deletes none. Name an etcd without keys below `/registry/`.',
  },
  'other-etcd': {
    title: 'the inventory names other endpoints of etcd than the API servers use',
    why: 'A cluster cannot be put onto another etcd. Replace members one by one, so that one endpoint always stays.',
  },
  'external-etcd': {
    title: 'the command works on etcd or its CA, which is external or on hosts of its own',
    why: [
      'kbuild does not change the members, snapshots or CA of an etcd of yours. Use its own tools; the message',
      'names them.',
    ],
  },
  'nothing-lost': {
    title: 'the cluster lives, and there is nothing to recover',
    why: 'Recovery replaces the data of a cluster that is lost. `kbuild status` shows what is wrong.',
  },
  'several-members-left': {
    title: 'more than one member of etcd is left to recover from',
    why: [
      'A new etcd is made of one member only. Start the others, so that etcd has quorum, or switch off all but',
      'one and name them with `--dead`.',
    ],
  },
  'no-restore-host': {
    title: '`--dead` leaves no host to restore into',
    why: 'Name fewer hosts.',
  },
  'restore-unfinished': {
    title: 'a restore was cut off',
    why: 'Some hosts have the old data, others the new. Finish it with the same command and the same file.',
  },
  'snapshot-of-other-cluster': {
    title: 'a snapshot is not of the cluster whose authorities are there',
    why: "The cluster's own certificates and tokens would not fit the restored data. Take a snapshot of this cluster.",
  },
} as const;
