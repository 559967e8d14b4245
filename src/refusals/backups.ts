/** Backups, and clusters that come back from them. */
export const backupPages = {
  'backup-of-other-cluster': {
    title: 'the backup is of another cluster',
    why: 'Two clusters with the same keys would trust the users and nodes of each other. Use the inventory, or the backup, of the same cluster.',
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
    why: 'kbuild brings only clusters with stacked etcd back. If the etcd lives, no data is lost: put the keys back by hand ([docs/operations.md](operations.md)).',
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
